"""The rows set aside, as JSON lines beside the output."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from neardup.atomic import replacing
from neardup.read import Rejected


class RejectedWriter:
    """Writes `NAME.rejected.jsonl` beside the output `NAME.parquet`, if there is any row for it.

    As a context manager: the file appears when the block ends without an error, and one that
    an earlier run left there goes if this run rejects nothing.
    """

    def __init__(self, beside: str | os.PathLike[str]) -> None:
        self._path = Path(beside).with_suffix(".rejected.jsonl")
        self._stack = ExitStack()
        self._file: IO[str] | None = None
        self.count = 0
        self.files = 0  # of these, files that were left out as a whole

    @property
    def path(self) -> str | None:
        """Where the rows are, or None if there are none."""
        return str(self._path) if self.count else None

    def write(self, rows: Iterable[Rejected]) -> None:
        """Add rows to the file."""
        for row in rows:
            if self._file is None:
                unfinished = self._stack.enter_context(replacing(self._path))
                self._file = self._stack.enter_context(unfinished.open("w", encoding="utf-8"))
            self._file.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")
            self.count += 1
            self.files += row.row is None

    def __enter__(self) -> RejectedWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)
        if error[0] is None and not self.count:
            self._path.unlink(missing_ok=True)
