"""Standard streams that are closed, full or of another encoding, and the last words of a run.

`neardup --version` needs this and nothing else, so click and typing are not imported here.
"""

from __future__ import annotations

import io
import os
import sys

from neardup.errors import NeardupError
from neardup.system.streams import is_closed_pipe, speak_utf8

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing and pathlib take time to import
    from pathlib import Path

CLOSED_PIPE = 141  # the exit code that a shell reports for a program ended by SIGPIPE


def flush(last: str = "") -> None:
    """Write the last text and flush standard output while a failure can still be reported."""
    try:
        if last:
            sys.stdout.write(last)
        sys.stdout.flush()
    except OSError as error:
        _discard_printed()
        if is_closed_pipe(error):
            sys.exit(CLOSED_PIPE)
        raise NeardupError(f"cannot write standard output: {error.strerror}") from None


def copy_to_output(path: Path) -> None:
    """Copy a file to standard output, byte by byte."""
    import shutil

    try:
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
    except AttributeError:
        raise NeardupError("standard output is closed; send it to a file or a pipe") from None
    except BrokenPipeError:
        _discard_printed()
        sys.exit(CLOSED_PIPE)
    except OSError as error:
        _discard_printed()
        raise NeardupError(f"cannot write standard output: {error.strerror}") from None
    flush()


def complain(sentence: str) -> None:
    """Print one sentence on standard error."""
    from neardup.visible import visible

    print(f"neardup: {visible(sentence)}", file=sys.stderr)


def spell_out_the_unprintable() -> None:
    """Escape characters that the encoding of standard output lacks, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors != "backslashreplace":
        sys.stdout.reconfigure(errors="backslashreplace")


def replace_closed_streams() -> None:
    """Replace closed standard streams (`>&-`), and open the null device on their descriptors.

    Otherwise the next file that is opened gets the descriptor of a standard stream, and printed
    output goes into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    speak_utf8()
    if sys.stdout is None:
        sys.stdout = _ClosedOutput()
    if sys.stderr is None:  # errors cannot be printed, only the exit code tells
        sys.stderr = open(os.devnull, "w", encoding="utf-8", newline="\n")  # noqa: SIM115


class _ClosedOutput(io.TextIOBase):
    """Replaces a closed standard output; writing to it raises an error."""

    encoding = "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        raise NeardupError(
            "standard output is closed, so nothing can be printed; send it to a file or to "
            "/dev/null"
        )


def _discard_printed() -> None:
    """Redirect to /dev/null, so that Python does not write the rest again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
