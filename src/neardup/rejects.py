"""The rows set aside, as JSON lines beside the output."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from neardup.atomic import replacing
from neardup.read import Rejected

_ROWS_IN_MEMORY = 4 << 20


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
            self._file.write(_line(row))
            self.count += 1

    def __enter__(self) -> RejectedWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)
        if error[0] is None and not self.count:
            self._path.unlink(missing_ok=True)


class RejectedRows:
    """Rows that were set aside, in the order they came: however many, in a bounded memory."""

    def __init__(self) -> None:
        # A temporary file once it is large; it is closed, and gone, with this object.
        self._lines = tempfile.SpooledTemporaryFile(  # noqa: SIM115
            max_size=_ROWS_IN_MEMORY, mode="w+", encoding="utf-8", newline=""
        )
        self._count = 0

    def add(self, rows: Iterable[Rejected]) -> None:
        """Set more rows aside."""
        for row in rows:
            self._lines.write(_line(row))
            self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Rejected]:
        for line in self.lines():
            yield Rejected(**json.loads(line))

    def lines(self) -> Iterator[str]:
        """The rows as lines of JSON."""
        self._lines.seek(0)
        yield from self._lines
        self._lines.seek(0, os.SEEK_END)


def _line(row: Rejected) -> str:
    return json.dumps(asdict(row), ensure_ascii=False) + "\n"
