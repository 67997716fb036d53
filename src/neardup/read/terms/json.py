"""JSON documents given as terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from neardup.errors import InputError
from neardup.read.columns import Wanted
from neardup.read.json.files import json_values, line_values
from neardup.read.json.objects import JSON_TYPES, ObjectJudge, parsed, unlike
from neardup.read.limits import TooLong, too_long
from neardup.read.lines import BLOCK_BYTES
from neardup.read.source import ByteStream
from neardup.read.terms.batch import TermGatherer, TermRows
from neardup.read.terms.types import WEIGHTS

_BYTES_PER_TERM = 64
_STRINGS: set[type] = {str}
_NUMBERS: set[type] = {int, float}


def read_term_lines(
    stream: ByteStream, file: str, wanted: Wanted, batch_terms: int
) -> Iterator[TermRows]:
    """Read one object per line; blank lines are skipped."""
    return _read(line_values(stream, file, wanted, BLOCK_BYTES), stream, file, wanted, batch_terms)


def read_term_json(
    stream: ByteStream, file: str, wanted: Wanted, batch_terms: int
) -> Iterator[TermRows]:
    """Read an array of objects, pretty-printed objects, or JSON lines."""
    return _read(json_values(stream, file, wanted, BLOCK_BYTES), stream, file, wanted, batch_terms)


def _read(
    values: Iterable[tuple[str, bytes | TooLong]],
    stream: ByteStream,
    file: str,
    wanted: Wanted,
    batch_terms: int,
) -> Iterator[TermRows]:
    gathered = TermGatherer(file, batch_terms)
    content = _TermContent(file, wanted)
    judge = ObjectJudge(file, wanted, content.fault)
    for line, value in values:
        if isinstance(value, TooLong):
            if gathered.full(1):
                yield gathered.take(stream.consumed)
            gathered.reject(f"{line}: {too_long(value.size, wanted.max_document)}", size=1)
            continue
        item, broken = parsed(value)
        documents = list(_documents(item, line, wanted))
        for where, document in documents:
            fault = broken or judge.fault(document, where) or content.weights_fault(where)
            count = 0 if fault else len(content.terms)
            # Memory is what is bounded, so rows without terms and very long terms count too.
            size = max(1, count, len(value) // len(documents) // _BYTES_PER_TERM)
            if gathered.full(size):
                yield gathered.take(stream.consumed)
            if fault:
                gathered.reject(f"{where}: {fault}", size=1)
                continue
            if judge.has_id:
                gathered.ids.append(document[wanted.id])
            gathered.add(content.terms, content.weights, size)
    judge.finish()
    if gathered:
        yield gathered.take(stream.consumed)


def _documents(item: Any, where: str, wanted: Wanted) -> Iterator[tuple[str, Any]]:
    """Split an object that maps ids to terms into one document per id."""
    if not _maps_ids(item, wanted):
        yield where, item
        return
    for key, terms in item.items():
        id = {} if wanted.id is None else {wanted.id: key}
        yield where if len(item) == 1 else f"{where}, {key!r}", {**id, wanted.text: terms}


def _maps_ids(item: Any, wanted: Wanted) -> bool:
    if type(item) is not dict or not item or wanted.id_required:
        return False
    if wanted.text in item or "terms" in item:
        return False
    return all(type(value) is dict for value in item.values())


class _TermContent:
    """Extracts the terms and weights of one object at a time, in any supported layout.

    `weights` is None if an object has none.
    """

    def __init__(self, file: str, wanted: Wanted) -> None:
        self._file = file
        self._name = wanted.text
        self._has_beside = WEIGHTS not in (wanted.text, wanted.id)
        self._weighted: tuple[bool, str] | None = None
        self.terms: list[str] = []
        self.weights: list[float] | None = None

    def fault(self, item: dict[str, Any]) -> str | None:
        """Extract the terms of an object; returns the fault if they cannot be used."""
        fault = self._take(item)
        if fault:
            return fault
        if not set(map(type, self.terms)) <= _STRINGS:
            return _odd_one("term", self.terms, _STRINGS, "a string")
        if self.weights is None:
            return None
        if not set(map(type, self.weights)) <= _NUMBERS:
            return _odd_one("weight", self.weights, _NUMBERS, "a number")
        if len(self.weights) != len(self.terms):
            lengths = f"{len(self.terms)} and {len(self.weights)}"
            return f"{self._name!r} and {WEIGHTS!r} differ in length, {lengths}"
        return None

    def weights_fault(self, where: str) -> str | None:
        """The fault if the last document has no weights but the first of the file has."""
        if not self.terms:
            return None
        has = self.weights is not None
        if self._weighted is None:
            self._weighted = (has, where)
        first, first_where = self._weighted
        if has and not first:
            raise InputError(
                f"{self._file} has no weights on {first_where} but some on {where}; "
                "give every document weights, or none"
            )
        return None if has == first else f"no weights, which {first_where} has"

    def _take(self, item: dict[str, Any]) -> str | None:
        value: Any = item.get(self._name)
        if type(value) is dict:
            self.terms, self.weights = list(value), list(value.values())
            return None
        if type(value) is not list:
            return unlike(item, self._name, "an array or an object of terms")
        first = type(value[0]) if value else str
        if first is list:
            return self._take_pairs(value)
        if first is dict:
            return self._take_objects(value)
        self.terms, self.weights = value, None
        if not self._has_beside or WEIGHTS not in item:
            return None
        if type(item[WEIGHTS]) is not list:
            return unlike(item, WEIGHTS, "an array of numbers")
        self.weights = item[WEIGHTS]
        return None

    def _take_pairs(self, pairs: list[Any]) -> str | None:
        for number, pair in enumerate(pairs, 1):
            if type(pair) is not list:
                return f"item {number} is {_other(pair, 'an array of a term and its weight')}"
            if len(pair) != 2:
                return f"item {number} has the length {len(pair)}, not 2 for a term and its weight"
        self.terms, self.weights = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        return None

    def _take_objects(self, objects: list[Any]) -> str | None:
        for number, entry in enumerate(objects, 1):
            if type(entry) is not dict:
                return f"item {number} is {_other(entry, 'an object with term and weight')}"
            for key in ("term", "weight"):
                if key not in entry:
                    return f"item {number} has no {key!r}"
        self.terms = [entry["term"] for entry in objects]
        self.weights = [entry["weight"] for entry in objects]
        return None


def _odd_one(what: str, values: list[Any], right: set[type], name: str) -> str:
    number = next(i for i, value in enumerate(values) if type(value) not in right)
    return f"{what} {number + 1} is {_other(values[number], name)}"


def _other(value: Any, right: str) -> str:
    return "null" if value is None else f"{JSON_TYPES[type(value)]}, not {right}"
