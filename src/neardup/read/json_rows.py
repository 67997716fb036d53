"""JSON objects become rows: one by one, or a block of lines at once where all are sound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from neardup.read.batch import Rows
from neardup.read.columns import Wanted
from neardup.read.gather import Gatherer
from neardup.read.json_columns import carried_columns, field_fault, field_text
from neardup.read.json_objects import ObjectJudge, parsed, unlike
from neardup.read.stream import ByteStream


def read_objects(
    values: Iterable[tuple[str, bytes]],
    stream: ByteStream,
    file: str,
    wanted: Wanted,
    batch_bytes: int,
) -> Iterator[Rows]:
    """Read pieces of JSON, each with the words that say where it stands, as rows."""
    reader = _ObjectReader(stream, file, wanted, batch_bytes)
    for where, value in values:
        yield from reader.take(where, value)
    yield from reader.finish()


def read_line_objects(
    blocks: Iterable[list[bytes]],
    stream: ByteStream,
    file: str,
    wanted: Wanted,
    batch_bytes: int,
) -> Iterator[Rows]:
    """Read JSON lines, block by block; blank lines do not count."""
    reader = _ObjectReader(stream, file, wanted, batch_bytes)
    number = 0
    for lines in blocks:
        yield from reader.take_lines(lines, number)
        number += len(lines)
    yield from reader.finish()


class _ObjectReader:
    """Gathers the rows of one file."""

    def __init__(self, stream: ByteStream, file: str, wanted: Wanted, batch_bytes: int) -> None:
        self._stream, self._file, self._wanted = stream, file, wanted
        self._batch_bytes = batch_bytes
        self._gathered = Gatherer(file, batch_bytes)
        self._judge = ObjectJudge(file, wanted, self._text_fault)
        self._carries = wanted.columns == "all" or bool(wanted.columns)

    def take(self, where: str, value: bytes) -> Iterator[Rows]:
        """Add one object, or set it aside with the reason."""
        if self._gathered.full(len(value)):
            yield self._rows()
        item, fault = parsed(value)
        fault = fault or self._judge.fault(item, where)
        if fault:
            self._gathered.reject(f"{where}: {fault}")
            return
        name = self._wanted.text
        text = field_text(item, name) if self._wanted.fields else item[name]
        self._gathered.add(text, len(value))
        if self._judge.has_id:
            self._gathered.ids.append(item[self._wanted.id])
        if self._carries:
            self._gathered.extras.append(item)

    def take_lines(self, lines: list[bytes], before: int) -> Iterator[Rows]:
        """Add a block of lines, `before` of which the file had already."""
        size = sum(map(len, lines))
        # A large document goes alone.
        items = self._sound(lines) if size <= self._batch_bytes else None
        if items is None:
            for number, line in enumerate(lines, before + 1):
                if line and not line.isspace():
                    yield from self.take(f"line {number}", line)
            return
        if self._gathered.full(size):
            yield self._rows()
        name, id_name = self._wanted.text, self._wanted.id
        self._gathered.add_many([item[name] for item in items], size)
        if self._judge.has_id and id_name is not None:
            self._gathered.ids += [item[id_name] for item in items]
        if self._carries:
            self._gathered.extras += items

    def finish(self) -> Iterator[Rows]:
        """Hand over the last rows; refuse the file if a column was nowhere."""
        self._judge.finish()
        if self._gathered:
            yield self._rows()

    def _sound(self, lines: list[bytes]) -> list[dict[str, Any]] | None:
        """The objects of a block of lines, if every line is one and has what it needs."""
        if self._wanted.fields:
            return None
        try:
            items = list(map(orjson.loads, lines))
        except orjson.JSONDecodeError:
            return None
        if set(map(type, items)) != {dict} or not self._judge.alike(items):
            return None
        texts = {type(item.get(self._wanted.text)) for item in items}
        return items if texts == {str} else None

    def _rows(self) -> Rows:
        def carry(objects: list[dict[str, Any]]) -> dict[str, Any]:
            return carried_columns(self._file, objects, self._wanted)

        return self._gathered.take(carry, self._stream.consumed)

    def _text_fault(self, item: dict[str, Any]) -> str | None:
        wanted = self._wanted
        if wanted.fields:
            return field_fault(item, wanted.fields)
        return None if type(item.get(wanted.text)) is str else unlike(item, wanted.text, "a string")
