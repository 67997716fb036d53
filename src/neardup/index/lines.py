"""Documents that arrive line by line, each answered at once, as a co-process has to."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal, TypeVar, cast

import orjson

from neardup.errors import InputError
from neardup.fingerprints import Scheme
from neardup.index import Index
from neardup.index.disk.damage import DamagedIndexError
from neardup.index.entries import Id, checked_id
from neardup.index.intake import metadata_json
from neardup.index.match import Match, Verdict
from neardup.read.file_kinds import UTF8_MARK
from neardup.read.limits import (
    MAX_DOCUMENT,
    TOO_DEEP,
    TooLong,
    invalid_utf8,
    printable,
    too_deep,
    too_long,
)
from neardup.read.lines import whole_lines
from neardup.read.source import STANDARD_INPUT
from neardup.system.files import enlarge_pipe

# What has arrived is answered together, up to this size: one commit takes milliseconds.
_BYTES_AT_ONCE = 1 << 18
# A text may begin with a brace; only what begins like an object must be one.
_OBJECT = re.compile(rb'\s*\{\s*(["}]|$)')
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Checked:
    """The answer to one document: a verdict, or why there is none."""

    id: Id | None
    verdict: Verdict | None
    error: str | None = None


@dataclass(frozen=True)
class Queried:
    """The answer to one line: matches, or why there are none. `query` is the id, if it has one."""

    line: int
    query: Id | None
    matches: list[Match]
    error: str | None = None


@dataclass(frozen=True)
class Asked:
    """The document of a line; `fault` says what is wrong with the line."""

    number: int
    id: Id | None
    document: Any = None
    metadata: Any = None
    fault: str | None = None


@dataclass(frozen=True)
class LineFormat:
    """How a line is read: as a JSON object with these keys, or as a text.

    `text` and `id` default to the keys `text` (or `terms`) and `id`. `metadata` names keys to
    store; without it, the value of the key `metadata` is stored. With `objects_only`, a line that
    is no object is an error, not a text.
    """

    scheme: Scheme
    text: str | None = None
    id: str | None = None
    metadata: Sequence[str] | Literal["all"] = ()
    max_document: int = MAX_DOCUMENT
    objects_only: bool = False

    def arriving(self, stream: BinaryIO) -> Iterator[list[Asked]]:
        """The documents of a stream; those that have arrived together come together."""
        number = 0
        try:
            for block in whole_lines(
                cast(BinaryIO, _Arriving(stream)), _BYTES_AT_ONCE, self.max_document
            ):
                asked = self.asked_of(block, number + 1)
                yield asked
                number += len(asked)
        except OSError as error:
            raise InputError(f"{STANDARD_INPUT} cannot be read: {error.strerror}") from None

    def asked_of(self, block: bytes | TooLong, first: int) -> list[Asked]:
        """The documents of a block of lines; `first` is the number of its first line, from 1."""
        lines: list[bytes | TooLong] = (
            [block] if isinstance(block, TooLong) else [*block.split(b"\n")]
        )
        return [self._asked(line, number) for number, line in enumerate(lines, first)]

    def _asked(self, line: bytes | TooLong, number: int) -> Asked:
        id: Id | None = None
        try:
            if isinstance(line, TooLong):
                raise InputError(f"it is {too_long(line.size, self.max_document)}")
            if number == 1:
                line = line.removeprefix(UTF8_MARK)
            if not _OBJECT.match(line):
                return Asked(number, None, self._text(line))
            found = _object(line)
            id = self._id(found)
            return Asked(number, id, *self._content(found))
        except InputError as error:
            return Asked(number, id, fault=f"line {number}: {error}")

    def read(self, found: Mapping[str, Any]) -> tuple[Id | None, Any, Any]:
        """The id, the document and the metadata of an object; an InputError says what is wrong."""
        return self._id(found), *self._content(found)

    def _content(self, found: Mapping[str, Any]) -> tuple[Any, Any]:
        about = self._metadata(found)
        metadata_json(about)
        return self._document(found), about

    def _id(self, found: Mapping[str, Any]) -> Id | None:
        given = found.get(self.id or "id")
        if given is None and self.id not in (None, "row"):
            raise InputError(f"it has no key {self.id!r}; its keys are {list(found)!r:.200}")
        return None if given is None else checked_id(given)

    def _text(self, line: bytes) -> str:
        line = line.removesuffix(b"\r")
        if not line.strip():
            raise InputError("it is empty; write a text or a JSON object")
        if self.objects_only:
            raise InputError("it is not a JSON object; write one on each line")
        if self.scheme.fields is not None or self.scheme.features.are_given:
            raise InputError(f"it is not a JSON object, which {self.scheme} needs")
        fault = invalid_utf8(line)
        if fault:
            raise InputError(f"{fault}; convert the text to UTF-8")
        return line.decode()

    def _document(self, found: Mapping[str, Any]) -> Any:
        if self.scheme.fields is not None:
            names = self.scheme.fields.names
            if not any(name in found for name in names):
                raise InputError(f"it has none of the fields {', '.join(names)}")
            return {name: found.get(name) for name in names}
        are_terms = self.scheme.features.are_given
        key = self.text or ("terms" if are_terms else "text")
        if key not in found:
            raise InputError(f"it has no key {key!r}; its keys are {list(found)!r:.200}")
        value = found[key]
        if are_terms:
            weights = found.get("weights")
            if isinstance(value, list) and isinstance(weights, list):
                if len(weights) != len(value):
                    raise InputError(f"it has {len(value)} terms, but {len(weights)} weights")
                return list(zip(value, weights, strict=True))
        elif not isinstance(value, str):
            raise InputError(f"the value of {key!r} is of type {type(value).__name__}, not a text")
        return value

    def _metadata(self, found: Mapping[str, Any]) -> Any:
        if not self.metadata:
            return found.get("metadata")
        if self.metadata == "all":
            own = {self.id or "id", self.text or "text", "terms", "weights"}
            own |= set(self.scheme.fields.names if self.scheme.fields is not None else ())
            return {name: value for name, value in found.items() if name not in own}
        return {name: found.get(name) for name in self.metadata}


def check_text(text: str, index: Index, id: Id | None, **rules: Any) -> Checked:
    """Check one document; without an id it gets one that is never used again."""
    if id is None:
        if not text.strip():
            raise InputError("the text is empty; an empty document needs an id")
        id = new_ids()(1)
    return Checked(id, index.check(id, text, **rules))


def check_lines(
    stream: BinaryIO, index: Index, line_format: LineFormat, **rules: Any
) -> Iterator[list[Checked]]:
    """Check the documents of a stream as they arrive, one answer for each line.

    `rules` are the arguments of `Index.check`. Lines that have arrived together are checked in
    order in one transaction. A document without an id gets one that is never used again.
    """
    index.check_many([], **rules)  # wrong rules, and an index that cannot be written, raise now
    made = new_ids()

    def check(asked: Sequence[Asked]) -> list[Checked]:
        documents = [
            (made(one.number) if one.id is None else one.id, one.document, one.metadata)
            for one in asked
        ]
        if len(documents) == 1:  # the fast path
            verdicts = [index.check(*documents[0], **rules)]
        else:
            verdicts = index.check_many(documents, **rules)
        return [Checked(id, verdict) for (id, *_), verdict in zip(documents, verdicts, strict=True)]

    for asked in line_format.arriving(stream):
        yield _answered(asked, check, lambda one, error: Checked(one.id, None, error))


def query_lines(
    stream: BinaryIO, index: Index, line_format: LineFormat, **options: Any
) -> Iterator[list[Queried]]:
    """Query the documents of a stream as they arrive, one answer for each line.

    `options` are the arguments of `Index.query`.
    """
    index.query_many([], **options)  # wrong options raise now

    def query(asked: Sequence[Asked]) -> list[Queried]:
        if len(asked) == 1:  # the fast path
            return [
                Queried(asked[0].number, asked[0].id, index.query(asked[0].document, **options))
            ]
        found = index.query_many([one.document for one in asked], **options)
        return [
            Queried(one.number, one.id, matches) for one, matches in zip(asked, found, strict=True)
        ]

    for asked in line_format.arriving(stream):
        yield _answered(asked, query, lambda one, error: Queried(one.number, one.id, [], error))


def new_ids() -> Callable[[int], Id]:
    """A function that makes the id of a line, such as 20250131T235959-1f2e3d4c5b6a7980:17.

    Ids are new in every run: a document with a known id is no match of itself, so that an id made
    of the content would make every copy a new document.
    """
    run = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{secrets.token_hex(8)}"
    return lambda number: f"{run}:{number}"


def _answered(
    asked: Sequence[Asked],
    work: Callable[[Sequence[Asked]], list[Answer]],
    refused: Callable[[Asked, str], Answer],
) -> list[Answer]:
    """The answers to lines, in order; if the good ones fail together, each is tried alone."""
    good = [one for one in asked if one.fault is None]
    try:
        answers = iter(work(good) if good else [])
    except InputError as error:
        if isinstance(error, DamagedIndexError):
            raise
        if len(asked) == 1:
            return [refused(asked[0], f"line {asked[0].number}: {error}")]
        return [answer for one in asked for answer in _answered([one], work, refused)]
    return [next(answers) if one.fault is None else refused(one, one.fault) for one in asked]


def _object(line: bytes) -> dict[str, Any]:
    fault = invalid_utf8(line)
    if fault:
        raise InputError(f"{fault}; convert the text to UTF-8")
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InputError(
            f"it begins like a JSON object, but is not one: {printable(str(error))}"
        ) from None
    if too_deep(found):
        raise InputError(f"it is {TOO_DEEP}")
    assert isinstance(found, dict)
    return found


class _Arriving:
    """A stream whose `read` returns what has arrived, and waits only if nothing has."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        try:
            descriptor = stream.fileno()
        except (AttributeError, OSError, ValueError):  # a stream in memory
            return
        enlarge_pipe(descriptor, _BYTES_AT_ONCE)

    def read(self, size: int) -> bytes:
        return bytes(self._stream.read1(size))  # type: ignore[attr-defined]
