"""How to repeat a run: the lines of Python that ask for the same result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup.settings import SETTINGS, bytes_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neardup.deduplication.result import Result

# The result does not depend on it, and it belongs to a machine.
_LEFT_OUT = ("memory",)


def repeat_code(result: Result, folder: str = "out", format: str = "parquet") -> str:
    """Python code for a run that was not asked for on the command line.

    What has no known name is a variable: documents in memory are `documents`, and `others` in the
    collection they are compared with; an index that the run created is `index`.
    """
    # The names in the summary: a result that was loaded from a folder is read from there.
    names = [one["name"] for one in result.summary["inputs"]]
    arguments = [_collection(names, "documents"), *_compared_with(result)]
    decisions = result.summary.get("decisions")
    if decisions:
        arguments.append(f"decisions={_literal(decisions['file'])}")
    chosen = chosen_settings(result.settings.as_dict())
    arguments += [f"{name}={_literal(value)}" for name, value in chosen]
    lines = "".join(f"    {argument},\n" for argument in arguments)
    saved = _literal(folder) + ("" if format == "parquet" else f', format="{format}"')
    imports = "import neardup as nd\n"
    if any("Path(" in argument for argument in arguments[:2]):
        imports = "from pathlib import Path\n\n" + imports
    return f"{imports}\nresult = nd.dedup(\n{lines})\nresult.save({saved})"


def _compared_with(result: Result) -> list[str]:
    """The arguments about the other collection, if there is one."""
    if result.both.right is None and result.origins is None:
        return []
    names = [one["name"] for one in result.summary["against"]]
    unnamed = "others" if result.origins is None else "index"
    against = f"against={_collection(names, unnamed)}"
    if result.delivery is not None and result.origins is not None:
        return [against, "update=True"]
    return [against, "within=True"] if result.both.within else [against]


def _collection(names: Sequence[str], memory: str) -> str:
    """Files as an argument: a string is one, a list of strings would be texts."""
    if not names:
        return memory
    if len(names) == 1:
        return _literal(names[0])
    return "[" + ", ".join(f"Path({_literal(name)})" for name in names) + "]"


def chosen_settings(settings: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The settings that decide on the result and are not the default."""
    return [
        (name, value)
        for name, value in settings.items()
        if value is not None and name not in _LEFT_OUT and value != _default(name)
    ]


def _default(name: str) -> Any:
    default = SETTINGS[name].default
    return bytes_of(default, name) if name == "max_document" else default


def _literal(value: Any) -> str:
    """The value as code; texts in double quotes if they need no escapes."""
    plain = isinstance(value, str) and repr(value) == f"'{value}'" and '"' not in value
    return f'"{value}"' if plain else repr(value)
