"""`neardup`: the commands, and how errors reach the user."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from typing import Any

import click

from neardup import __version__
from neardup.cli import stopping
from neardup.cli.command import Group
from neardup.cli.failures import sentence_and_code
from neardup.cli.streams import (
    CLOSED_PIPE,
    complain,
    flush,
    replace_closed_streams,
    spell_out_the_unprintable,
)

# Each is a module of `cli.commands` with a command of the same name.
COMMANDS = (
    *("dedup", "passages", "contamination", "explore", "explain", "review", "decisions"),
    *("rethreshold", "evaluate", "compare", "index", "serve", "keys", "tune", "sweep"),
    *("fingerprint", "pairs", "plan", "curve", "idf", "hashes", "sphere", "presets"),
    *("reproduce", "benchmark", "sample", "completion"),
)


class _Commands(Group):
    """Imports only the module of the command that is called; `--help` imports all, cheaply."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def load(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        found: click.Command = getattr(import_module(f"neardup.cli.commands.{name}"), name)
        return found


@click.group(
    "neardup",
    cls=_Commands,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "show_default": True,
        "max_content_width": 100,
    },
)
@click.version_option(
    __version__, message="%(prog)s %(version)s", help="Print the version and exit."
)
def app() -> None:
    """Find near-duplicates in a collection of texts, verify each pair, and say which to keep."""


def main() -> None:
    """Run a command; an error is one sentence on standard error and exit code 2 (usage) or 1."""
    # NumPy's linear algebra starts a busy-waiting thread per core; nothing here needs it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    replace_closed_streams()
    warnings.showwarning = _say_warning
    spell_out_the_unprintable()  # file names need not be valid text
    try:
        _run()
    except Exception as error:
        sentence, code = sentence_and_code(error)
        stopping.end()
        complain(sentence)
        sys.exit(code)


def _run() -> None:
    try:
        code = app(prog_name="neardup", standalone_mode=False)
    except SystemExit as ended:
        # Errors are still exceptions here; click and rich exit with 1 if the reader of standard
        # output has gone.
        if ended.code == 1:
            sys.exit(CLOSED_PIPE)
        raise
    flush()
    sys.exit(code or 0)


def _say_warning(message: Warning | str, *_where: Any, **_more: Any) -> None:
    complain(str(message))
