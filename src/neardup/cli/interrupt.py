"""Ending a run on Ctrl-C."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

INTERRUPTED = 130


def stop(message: str) -> NoReturn:
    """Say what was left undone and end the process at once.

    An ordinary exit would wait for, or crash on, a thread that is still reading a pipe; by the
    time this is called every unfinished output has been removed.
    """
    print(f"neardup: stopped; {message}", file=sys.stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
