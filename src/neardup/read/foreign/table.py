"""A table of another program, open for reading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from neardup.errors import UnreadableError
from neardup.frozen import dataclass
from neardup.read.limits import quoted

_LISTED = 20


@dataclass(frozen=True, eq=False)
class ForeignTable:
    """The columns of a table and its rows, which can be read once, in batches of bounded size."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


def chosen_table(name: str, wanted: str, found: Sequence[str], what: str, address: str) -> str:
    """The table to read: the wanted one in any letter case, or the only one.

    `what` is the plural of what is chosen, and `address` how one is named, with `{}` in its place.
    """
    if not found:
        raise UnreadableError(f"{name} has no {what}, so there is nothing to read")
    if wanted:
        same = [each for each in found if each.lower() == wanted.lower()]
        if wanted in found or same:
            return wanted if wanted in found else same[0]
        raise UnreadableError(
            f"{name} has no {what.removesuffix('s')} {quoted(wanted)}; its {what} are "
            f"{listed(found)}"
        )
    if len(found) == 1:
        return found[0]
    raise UnreadableError(
        f"{name} has {len(found)} {what}, {listed(found)}; name one, for example "
        f"{address.format(found[0])}"
    )


def listed(names: Sequence[str]) -> str:
    """Names for a message."""
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(quoted(name) for name in names[:_LISTED]) + more


def plain_name(name: str) -> str:
    """A column name as valid text."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
