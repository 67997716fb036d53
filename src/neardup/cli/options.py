"""The options that several commands share; most are made from the table of settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from neardup.cli.command import Argument, Option
from neardup.cli.progress import BAR, WAYS
from neardup.settings import RECIPE, SETTINGS, Setting

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    Parser = click.ParamType[Any, Any]
else:
    Parser = click.ParamType  # generic only from click 8.5 on

F = TypeVar("F", bound=Callable[..., Any])


INPUT = "Input"
FINGERPRINTS = "Features and fingerprints"
SEARCH = "Search"
RESOURCES = "Resources"
ENGINE = "Engine"
_SECTIONS = {
    **dict.fromkeys(("text", "id", "read_as", "suffix", "max_document"), INPUT),
    **dict.fromkeys(RECIPE, FINGERPRINTS),
    **dict.fromkeys(("candidates", "recall"), SEARCH),
    **dict.fromkeys(("memory", "threads"), RESOURCES),
}
_NUMBERS = (click.types.IntParamType, click.types.FloatParamType)


class Decorator(Protocol):
    """A decorator that adds arguments or options to a command."""

    def __call__(self, function: F, /) -> F:
        """Decorate a command."""


class UrlPath(type(Path())):  # type: ignore[misc]  # the class of paths on this system
    """A URL where a command takes a path, which would lose slashes; `url` is what was given."""

    url = ""


class PathName(Parser):
    """The name of a file or folder that neardup writes or has written; it must be UTF-8."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Refuse an empty name and one that is not UTF-8."""
        if isinstance(value, Path):
            return value
        if not value:
            self.fail("the name is empty; give the name of a file or folder", param, ctx)
        try:
            value.encode()
        except UnicodeEncodeError:
            self.fail(f"the name {value!r} is not UTF-8; choose another", param, ctx)
        if value.startswith("file://"):
            return Path(value.removeprefix("file://"))
        if "://" in value:
            found = UrlPath(value)
            found.url = value
            return found
        return Path(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Let the shell complete file names."""
        return _files(ctx, param, incomplete)


PATH = PathName()


def option(*names: str, note: str | None = None, **more: Any) -> Decorator:
    """An option; `note` describes the default in words."""
    if note is not None:
        more["show_default"] = note
    if isinstance(more.get("type"), (type, *_NUMBERS)) and more.get("metavar") is None:
        more["metavar"] = "N"
    if not (more.get("required") or more.get("multiple")):
        more.setdefault("default", False if more.get("is_flag") else None)
    return click.option(*names, cls=Option, **more)


def flag(*names: str, help: str) -> Decorator:
    """An option without a value."""
    return option(*names, is_flag=True, help=help)


def path(*names: str, help: str, **more: Any) -> Decorator:
    """An option that names a file or folder, as a `Path`."""
    return option(*names, type=PATH, metavar="PATH", help=help, **more)


def argument(name: str, about: str, **more: Any) -> Decorator:
    """An argument with its help."""
    return click.argument(name, cls=Argument, about=about, **more)


def path_argument(name: str, metavar: str, about: str, *, required: bool = True) -> Decorator:
    """An argument that names a file or folder, as a `Path`."""
    return argument(name, about, type=PATH, metavar=metavar, required=required)


def setting(
    name: str,
    *,
    help: str | None = None,
    default: Any = None,
    note: str | None = None,
    section: str | None = None,
) -> Decorator:
    """The option of one setting; what is given here overrides the table."""
    known = SETTINGS[name]
    value = known.default if default is None and note is None else default
    said = known.default_note if note is None and default is None else note
    return option(
        known.option,
        name,
        type=_type(known),
        default=value,
        note=said,
        metavar=known.metavar,
        help=help or known.help,
        section=section or _SECTIONS.get(name, "Options"),
        shell_complete=one_of(known.choices),
    )


def settings(*names: str) -> Decorator:
    """The options of several settings, as the table has them."""

    def decorate(function: F, /) -> F:
        for name in reversed(names):
            function = setting(name)(function)
        return function

    return decorate


def given_settings(context: click.Context) -> dict[str, Any]:
    """The settings on the command line; they override a config file and a preset."""
    return {
        name: value
        for name, value in context.params.items()
        if name in SETTINGS and _is_given(context, name)
    }


def one_of(words: Sequence[str]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Let the shell complete one of these words."""

    def complete(_context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
        return [word for word in words if word.startswith(begun)]

    return complete


def _preset_names(_context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
    from neardup.presets import PRESETS

    return [name for name in PRESETS if name.startswith(begun)]


def _files(_context: click.Context, _option: click.Parameter, begun: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(begun, type="file")]


def _is_given(context: click.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _type(setting: Setting) -> Any:
    if str in setting.types:
        return click.STRING
    return click.FLOAT if float in setting.types else click.INT


inputs: Decorator = argument(
    "inputs",
    "Files, folders, globs, URLs, or - for standard input.",
    metavar="INPUT...",
    nargs=-1,
    required=True,
    shell_complete=_files,
)
output_file: Decorator = path("--output", "-o", required=True, help="Parquet file to write.")
overwrite: Decorator = flag(
    "--overwrite", help="Replace the output folder of an earlier run; other folders are refused."
)
preset: Decorator = option(
    "--preset",
    metavar="NAME",
    shell_complete=_preset_names,
    help="Use the settings of a known system; `neardup presets` lists them.",
)
idf: Decorator = path(
    "--idf",
    section=FINGERPRINTS,
    note="counted from the input",
    help="Document frequencies for weights by rarity, a table written by `neardup idf`.",
)
ENGINES = ("local", "spark")
_ENGINE_OPTIONS = (
    option(
        "--engine",
        type=click.Choice(ENGINES),
        default="local",
        section=ENGINE,
        help="Where to run: in this process, or on a Spark cluster, with the same result.",
    ),
    option(
        "--master",
        metavar="URL",
        section=ENGINE,
        note="that of the Spark configuration",
        help="Spark master: spark://HOST:7077, yarn, k8s://…, or 'local[2]' for this machine.",
    ),
    option(
        "--work",
        metavar="DIR",
        section=ENGINE,
        note="a folder beside the output",
        help="Folder or URL for what stages of a Spark run find; driver and executors share it. "
        "With --resume, a run goes on after the stages that are complete there.",
    ),
    option(
        "--conf",
        metavar="K=V",
        multiple=True,
        section=ENGINE,
        help="Setting of Spark, such as spark.executor.memory=8g. Repeatable.",
    ),
)


def engine(function: F, /) -> F:
    """The options of the engine that runs a command."""
    for decorate in reversed(_ENGINE_OPTIONS):
        function = decorate(function)
    return function


FORMATS = ("parquet", "jsonl", "csv")


def row_format(rows: str, note: str | None = None) -> Decorator:
    """The option for the format of rows; with a `note` about its default, None if not given."""
    return option(
        "--format",
        default=FORMATS[0] if note is None else None,
        note=note,
        metavar="NAME",
        shell_complete=one_of(FORMATS),
        help=f"Format of {rows}: {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.",
    )


quiet: Decorator = flag("--quiet", "-q", help="Print nothing but errors.")
as_json: Decorator = flag("--json", help="Print one JSON object instead of text.")
context: Decorator = option(
    "--context",
    type=click.IntRange(min=0),
    default=10,
    help="Unchanged words to show on each side of a change.",
)
full: Decorator = flag("--full", help="Show the whole diff.")
progress: Decorator = option(
    "--progress",
    type=click.Choice(WAYS),
    default=BAR,
    help="How to report progress on standard error: bar (on a terminal; elsewhere a line for each "
    "stage), json (a JSON object per line, also with --json and --quiet), or none.",
)
