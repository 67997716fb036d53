"""`neardup`: the commands, and how errors reach the user."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from neardup import __version__
from neardup.cli import stopping
from neardup.cli.compare import compare
from neardup.cli.curve import curve
from neardup.cli.dedup import dedup
from neardup.cli.fingerprint import fingerprint
from neardup.cli.hashes import hashes
from neardup.cli.idf import idf
from neardup.cli.index import index
from neardup.cli.pairs import pairs
from neardup.cli.plan import plan
from neardup.cli.presets import presets
from neardup.cli.reproduce import reproduce
from neardup.cli.sphere import sphere
from neardup.cli.streams import replace_closed_streams
from neardup.cli.sweep import sweep
from neardup.cli.tune import tune
from neardup.cli.unexpected import sentence_about
from neardup.cli.usage import CommandGroup
from neardup.errors import NeardupError, SettingError
from neardup.visible import visible

_CLOSED_PIPE = 141  # what a shell reports of a program that SIGPIPE ended

app = typer.Typer(
    name="neardup",
    cls=CommandGroup,
    help="Find every near-duplicate in a collection of texts, and prove each one.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(dedup)
app.command()(fingerprint)
app.command()(pairs)
app.command()(plan)
app.command()(sweep)
app.command()(curve)
app.command()(tune)
app.command()(compare)
app.add_typer(index)
app.command()(idf)
app.command()(presets)
app.command()(hashes)
app.command()(sphere)
app.command()(reproduce)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"neardup {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Find every near-duplicate in a collection of texts, and prove each one."""


def main() -> None:
    """Run a command; an error is one sentence on standard error and a code: 2 usage, else 1."""
    # NumPy's linear algebra starts a thread per core that waits busily; nothing here needs it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    replace_closed_streams()
    warnings.showwarning = _say_warning
    if isinstance(sys.stdout, TextIOWrapper):  # names of files need not be text
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        _run()
    except SettingError as error:
        _fail(error, 2)
    except NeardupError as error:
        _fail(error, 1)
    except OSError as error:
        _fail(_explained(error), 1)
    except Exception as error:
        _fail(sentence_about(error), 1)


def _run() -> None:
    try:
        app()
    except SystemExit as ended:
        # Errors have not become exits yet; this is how typer and rich end where nobody reads
        # standard output any more.
        if ended.code == 1:
            sys.exit(_CLOSED_PIPE)
        if not ended.code:
            _flush()
        raise


def _flush() -> None:
    """Have everything printed while a failure can still be told."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_printed()
        sys.exit(_CLOSED_PIPE)
    except OSError as error:
        _discard_printed()
        raise NeardupError(f"cannot write standard output: {error.strerror}") from None


def _explained(error: OSError) -> NeardupError:
    """A sentence for what no part of the program foresaw."""
    if error.filename is not None:
        return NeardupError(f"{error.filename}: {error.strerror}")
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):  # all other outputs have names
        return NeardupError(f"cannot write standard output or a temporary file: {error.strerror}")
    return NeardupError(error.strerror or str(error))


def _discard_printed() -> None:
    """Let Python not try again what failed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_warning(message: Warning | str, *_where: Any, **_more: Any) -> None:
    print(f"neardup: {visible(str(message))}", file=sys.stderr)


def _fail(error: Exception | str, code: int) -> None:
    stopping.end()
    print(f"neardup: {visible(str(error))}", file=sys.stderr)
    sys.exit(code)
