"""How a command fails: one sentence on standard error and an exit code, 2 for wrong usage."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import click

from neardup.errors import NeardupError, SettingError

SHOW = "NEARDUP_TRACEBACK"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LONGEST = 1000  # characters of a usage error, which quotes the arguments


class Failed(Exception):  # noqa: N818 - it holds the error
    """An error of a command whose exit code 1 is an answer; the exit code is 2."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


@contextmanager
def failing_with_2() -> Iterator[None]:
    """Let all errors exit with 2, as `grep` does, where 1 is an answer."""
    try:
        yield
    except (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError):
        raise
    except Exception as error:
        raise Failed(error) from error


def sentence_and_code(error: Exception) -> tuple[str, int]:
    """The message for an error, and the exit code of the program."""
    if isinstance(error, Failed):
        return sentence_and_code(error.error)[0], 2
    if isinstance(error, click.UsageError):
        return _about_usage(error), 2
    if isinstance(error, click.Abort):
        return "stopped", 130
    if isinstance(error, SettingError):
        return str(error), 2
    if isinstance(error, NeardupError):
        return str(error), 1
    if isinstance(error, OSError):
        return _about_system(error), 1
    return _about_fault(error), 1


def _about_usage(error: click.UsageError) -> str:
    said = error.format_message()
    if len(said) > _LONGEST:
        said = f"{said[: _LONGEST - 200]}…{said[-200:]}"
    if error.ctx is None:
        return said
    return f"{said} Try '{error.ctx.command_path} --help' for help."


def _about_system(error: OSError) -> str:
    """The message for a system error that nothing else handled."""
    if error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    if error.errno in _FULL:  # all other outputs have names
        return f"cannot write standard output or a temporary file: {error.strerror}"
    return error.strerror or str(error)


def _about_fault(error: Exception) -> str:
    """The message for a bug, with the place of its traceback; `NEARDUP_TRACEBACK=1` prints it."""
    if isinstance(error, MemoryError):
        return (
            "out of memory; give a smaller --memory if the command has it, read fewer or "
            "smaller documents at a time, or use a machine with more memory"
        )
    return (
        f"unexpected error, a bug in neardup: {type(error).__name__}: {error}; please report "
        f"it with {_traceback_of(error)}"
    )


def _traceback_of(error: Exception) -> str:
    import tempfile
    import traceback
    from pathlib import Path

    if os.environ.get(SHOW):
        traceback.print_exception(error)
        return "the traceback above"
    text = "".join(traceback.format_exception(error))
    try:
        number, name = tempfile.mkstemp(prefix="neardup-traceback-", suffix=".txt")
        os.close(number)
        Path(name).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError:
        return f"the traceback that {SHOW}=1 shows"
    return f"the traceback in {name}"
