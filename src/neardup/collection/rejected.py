"""Rejected rows, as JSON lines beside the output."""

from __future__ import annotations

import json
import os
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, fields
from pathlib import Path
from typing import IO, Any

from neardup.atomic import replacing, require_apart
from neardup.errors import NeardupError
from neardup.read import Rejected
from neardup.read.counted import short_reason

_ROWS_IN_MEMORY = 4 << 20
_FILES_LISTED = 20
_KEYS = {field.name for field in fields(Rejected)}


class RejectedWriter:
    """Writes `NAME.rejected.jsonl` beside the output `NAME.parquet`, if any row is rejected.

    As a context manager: the file appears when the block ends without an error, and one that
    an earlier run left there goes if this run rejects nothing. A file of that name that is one of
    the `inputs`, or that no run left there, is refused. Beside a pipe or a device there is no
    place for a file; its rows are only counted.
    """

    def __init__(
        self,
        beside: str | os.PathLike[str],
        inputs: Sequence[str | os.PathLike[str]],
    ) -> None:
        place = Path(beside)
        if place.name in ("", ".."):
            place = place.resolve()
        has_place = not place.exists() or place.is_file() or place.is_dir()
        self._path = place.with_suffix(".rejected.jsonl") if has_place else None
        if self._path is not None:
            require_apart(self._path, inputs)
            _require_ours(self._path)
        self._stack = ExitStack()
        self._file: IO[str] | None = None
        self.count = 0
        self.files = 0  # of these, files that were left out as a whole
        self.why: Counter[str] = Counter()  # why they were left out

    @property
    def path(self) -> str | None:
        """Where the rows are, or None if there are none, or no place for them."""
        return str(self._path) if self.count and self._path is not None else None

    def write(self, rows: Iterable[Rejected]) -> None:
        """Add rows to the file."""
        for row in rows:
            self.count += 1
            if row.row is None:
                self.files += 1
                self.why[short_reason(row.reason)] += 1
            if self._path is None:
                continue
            if self._file is None:
                unfinished = self._stack.enter_context(replacing(self._path))
                self._file = self._stack.enter_context(
                    unfinished.open("w", encoding="utf-8", newline="\n")
                )
            self._file.write(_line(row))

    def __enter__(self) -> RejectedWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)
        if error[0] is None and not self.count and self._path is not None and self._path.is_file():
            self._path.unlink()


def _require_ours(path: Path) -> None:
    """Refuse to replace or remove a file that does not begin as ours do."""
    if not path.is_file():
        return
    with path.open("rb") as file:
        first = file.readline(1 << 20)
    try:
        found = json.loads(first)
    except (ValueError, RecursionError):
        found = None
    if first and (not isinstance(found, dict) or found.keys() != _KEYS):
        raise NeardupError(
            f"{path} would take rejected rows, but neardup did not write the file that is there; "
            "move it, or choose another name for the output"
        )


class RejectedRows:
    """Rejected rows in the order of the input, in bounded memory.

    `left_out` counts the whole files among them, `why` the kinds of reasons; `first_left_out` are
    the first of these.
    """

    def __init__(self) -> None:
        # A temporary file once it is large; closed and deleted with this object.
        self._lines = tempfile.SpooledTemporaryFile(  # noqa: SIM115
            max_size=_ROWS_IN_MEMORY, mode="w+", encoding="utf-8", newline=""
        )
        weakref.finalize(self, self._lines.close)
        self._count = 0
        self.left_out = 0
        self.why: Counter[str] = Counter()
        self.first_left_out: list[Rejected] = []

    def add(self, rows: Iterable[Rejected]) -> None:
        """Add rejected rows."""
        for row in rows:
            self._lines.write(_line(row))
            self._count += 1
            if row.row is None:
                self.left_out += 1
                self.why[short_reason(row.reason)] += 1
                if len(self.first_left_out) < _FILES_LISTED:
                    self.first_left_out.append(row)

    def add_lines(self, lines: Iterable[str]) -> None:
        """Add rejected rows that another object gave as lines."""
        self.add(Rejected(**json.loads(line)) for line in lines)

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
