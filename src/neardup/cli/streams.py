"""Standard streams that are closed when the program begins (`<&-`, `>&-`, `2>&-`)."""

from __future__ import annotations

import io
import os
import sys

from neardup.errors import NeardupError


class _ClosedOutput(io.TextIOBase):
    """In place of a standard output that is closed: whoever prints is told so."""

    encoding = "utf-8"

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        raise NeardupError(
            "standard output is closed, so nothing can be printed; send it to a file or to "
            "/dev/null"
        )


def replace_closed_streams() -> None:
    """Give closed streams a stand-in, and their numbers to /dev/null.

    Otherwise the next file that is opened gets the number of a standard stream, and what is
    printed goes into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    if sys.stdout is None:
        sys.stdout = _ClosedOutput()
    if sys.stderr is None:  # nobody can be told, the exit code must do
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as we run
