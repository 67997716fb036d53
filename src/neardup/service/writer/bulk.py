"""Portions of NDJSON to be added: read natively where all lines are ordinary, else one by one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import orjson
import pyarrow as pa

from neardup.errors import InputError
from neardup.features.spec import TextColumn
from neardup.fingerprints import Scheme
from neardup.index import Index
from neardup.index.intake import Documents
from neardup.index.lines import Asked, LineFormat
from neardup.kernels.json_lines import JsonColumn, JsonLines, MustBe
from neardup.service.metrics import Counters
from neardup.service.problems import Problem
from neardup.service.results import lines
from neardup.service.writer.changes import Prepared, add_many

_KINDS_OF_IDS: tuple[MustBe, ...] = ("string", "whole")


class AddedLines:
    """A portion of lines, its features made now; `write` stores it.

    The answer is (bytes, count): a line for each line, and how many documents were stored.
    """

    def __init__(
        self,
        index: Index,
        block: bytes,
        first_line: int,
        *,
        ttl: str | None,
        counters: Counters,
        longest: int,
    ) -> None:
        self._first_line = first_line
        self._counters = counters
        documents = _ordinary(block, index.scheme)
        if documents is not None:
            work = index.adding_many(documents, ttl=ttl, settles=False)
            ids = documents.ids
            self.write = Prepared(lambda index: work, lambda _: self._all_stored(ids))
        else:
            self.write = self._one_by_one(index, block, ttl, longest)

    def _all_stored(self, ids: pa.Array) -> tuple[bytes, int]:
        self._counters.add("documents_added_total", len(ids))
        # Written by hand: a line costs a tenth of what orjson takes for a dictionary.
        spelt = (
            ids.to_pylist()
            if pa.types.is_integer(ids.type)
            else [orjson.dumps(id).decode() for id in ids.to_pylist()]
        )
        rows = [
            f'{{"line":{line},"id":{id},"stored":true}}\n'
            for line, id in enumerate(spelt, self._first_line)
        ]
        return "".join(rows).encode(), len(ids)

    def _one_by_one(self, index: Index, block: bytes, ttl: str | None, longest: int) -> Prepared:
        form = LineFormat(index.scheme, max_document=longest, objects_only=True)
        asked = list(map(_with_id, form.asked_of(block, self._first_line)))
        good = [one for one in asked if one.fault is None]
        inner = add_many(
            [(one.id, one.document, one.metadata) for one in good], ttl, self._counters
        )
        work = inner.prepare(index) if good else None

        def finish(outcome: Any) -> tuple[bytes, int]:
            found = iter(inner.finish(outcome) if good else [])
            rows = [
                next(found)
                if one.fault is None
                else {"id": one.id, "error": Problem("invalid_document", one.fault).row()}
                for one in asked
            ]
            stored = sum("error" not in row for row in rows)
            return lines(rows, self._first_line), stored

        return Prepared(lambda index: work or (lambda change: None), finish)


def _with_id(asked: Asked) -> Asked:
    """Require an id: without one, a repeated request would add the document again."""
    if asked.fault is None and asked.id is None:
        fault = f"line {asked.number}: it has no id; give every document one"
        return Asked(asked.number, None, fault=fault)
    return asked


def _ordinary(block: bytes, scheme: Scheme) -> Documents | None:
    """The documents of a block in which every line is one; None if one needs a closer look."""
    if scheme.fields is not None or scheme.features.are_given:
        return None
    for kind in _KINDS_OF_IDS:
        reader = JsonLines({"id": kind, "text": "string", "metadata": "any"}, every=False)
        count = reader.add(block)
        if count and count == len(reader):
            columns = reader.take()
            try:
                metadata = _metadata(columns["metadata"])
            except InputError:
                return None
            ids = columns["id"].strings().cast(pa.string() if kind == "string" else pa.int64())
            return Documents(ids, [TextColumn(columns["text"].strings())], metadata)
    return None


def _metadata(column: JsonColumn) -> pa.Array | None:
    """Metadata as they are stored: compact JSON, b"" for none."""
    if column.kind == "null":
        return None
    if column.kind != "other":
        raise InputError("values of one kind are kept without JSON's quotes")
    data, offsets = column.data.tobytes(), column.offsets.tolist()
    found = []
    for begin, end in pairwise(offsets):
        value = orjson.loads(data[begin : end - 1])
        found.append(b"" if value is None else orjson.dumps(value))
    return pa.array(found, pa.large_binary())
