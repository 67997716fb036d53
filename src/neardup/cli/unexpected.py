"""The last resort: an error that no part of the program expected, in one sentence."""

from __future__ import annotations

import os
import tempfile
import traceback
from pathlib import Path

SHOW = "NEARDUP_TRACEBACK"


def sentence_about(error: Exception) -> str:
    """Say what happened and where its traceback is; `NEARDUP_TRACEBACK=1` prints that."""
    if isinstance(error, MemoryError):
        return (
            "out of memory; give a smaller --memory where the command has it, read fewer or "
            "smaller documents at a time, or use a machine with more memory"
        )
    return (
        f"unexpected error, a fault in neardup: {type(error).__name__}: {error}; please report "
        f"it with {_where(error)}"
    )


def _where(error: Exception) -> str:
    if os.environ.get(SHOW):
        traceback.print_exception(error)
        return "the traceback above"
    told = "".join(traceback.format_exception(error))
    try:
        number, name = tempfile.mkstemp(prefix="neardup-traceback-", suffix=".txt")
        os.close(number)
        Path(name).write_text(told, encoding="utf-8", errors="backslashreplace")
    except OSError:
        return f"the traceback that {SHOW}=1 shows"
    return f"the traceback in {name}"
