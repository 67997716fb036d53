"""Exact copies: documents with the same features, brought together by a key of their content.

Also found here: ids that occur twice, and how many rows and documents each split has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.source import DocumentBatch
from neardup.distributed.splits import (
    Layout,
    Places,
    by_target,
    index_of,
    place_of,
    split_of,
)
from neardup.engines.exchange import Engine, Message, Tasks, in_order, packed, unpacked
from neardup.errors import InputError
from neardup.frozen import dataclass
from neardup.kernels.terms import ONE_UNIT, Vocabulary, hash_terms
from neardup.read.limits import quoted

_KEYS, _IDS = 0, 1
_SAMPLE = 33
_BLOCK = 1 << 20
_MEMBERS, _FIRSTS, _REPEATED = 0, 1, 2
_KINDS = {"string": "strings", "int64": "whole numbers", "none": "none"}


@dataclass(frozen=True)
class SplitCounts:
    """What was counted in a split; `ids` is the kind of its ids, None if it has no documents."""

    documents: int
    rows: int
    rejected: int
    left_out: int
    empty: int
    bytes: int
    features: int
    ids: str | None
    words: list[int]  # of some documents that are not empty, from the shortest to the longest
    repeated: tuple[int, int] | None = None  # places of two documents whose ids have the same hash


def find_copies(layout: Layout, engine: Engine) -> list[SplitCounts]:
    """Write the copies of each split to the work folder; what was counted in each."""
    count = len(layout.splits)
    sent = engine.run(
        "copies",
        [
            Tasks(partial(_read, layout), count),
            Tasks(partial(_group, layout), layout.shards),
            Tasks(partial(_settle, layout), count),
        ],
    )
    counts = [SplitCounts(**unpacked(message.blob)) for message in in_order(sent)]
    return counts


def _read(layout: Layout, number: int, _: Iterator[Message]) -> Iterator[Message]:
    """Words and content keys of the documents of a split."""
    fingerprinter = layout.fingerprinter()
    source = layout.opened(number)
    words, keys, ids = [], [], []
    rejected = left_out = size = features = 0
    kind: str | None = None
    for batch in source.batches():
        rejected += len(batch.rejected)
        left_out += sum(row.row is None for row in batch.rejected)
        if not len(batch.ids):
            continue
        made = fingerprinter.features(batch.columns)
        words.append(made.words)
        keys.append(made.content_keys())
        features += len(made.hashes)
        size += _bytes_of(batch)
        kind = _kind(batch)
        if kind != "none":
            ids.append(_hashed(batch.ids))
    every = np.concatenate([np.zeros(0, np.uint32), *words])
    counts = SplitCounts(
        len(every),
        source.documents.seen_rows,
        rejected - left_out,
        left_out,
        int((every == 0).sum()),
        size,
        features,
        kind,
        _spread(every),
    )
    layout.work.write(f"read/{number}", packed(words=every, counts=vars(counts)))
    filled = np.flatnonzero(every)
    key = np.concatenate([np.zeros((0, 2), np.uint64), *keys])[filled]
    for shard, rows in by_target(key[:, 0] % np.uint64(layout.shards)):
        yield Message(
            shard, number * 2 + _KEYS, packed(key=key[rows], index=filled[rows].astype(np.uint32))
        )
    if ids:
        hashed = np.concatenate(ids)
        for shard, rows in by_target(hashed % np.uint64(layout.shards)):
            yield Message(
                shard, number * 2 + _IDS, packed(id=hashed[rows], index=rows.astype(np.uint32))
            )


def _spread(words: NDArray[np.uint32]) -> list[int]:
    """The words of some documents that stand for all."""
    filled = words[words > 0]
    if not len(filled):
        return []
    some = np.quantile(filled, np.linspace(0, 1, _SAMPLE), method="nearest")
    return [int(words) for words in some]


def _bytes_of(batch: DocumentBatch) -> int:
    columns = batch.columns
    if isinstance(columns, Sequence):
        return sum(column.texts.nbytes for column in columns)
    return int(columns.terms.nbytes)


def _kind(batch: DocumentBatch) -> str:
    if pa.types.is_int64(batch.ids.type):
        return "int64" if batch.made_ids is None else "none"
    return "string"


def _hashed(ids: pa.Array) -> NDArray[np.uint64]:
    if pa.types.is_int64(ids.type):
        return np.asarray(ids.to_numpy().view(np.uint64))
    return np.asarray(hash_terms(Vocabulary.of_strings(ids), ONE_UNIT)[:, 0])


def _group(layout: Layout, _: int, messages: Iterator[Message]) -> Iterator[Message]:
    """Tell copies which document is the first of their kind, and that one its copies."""
    keys, places = [np.zeros((0, 2), np.uint64)], [np.zeros(0, np.int64)]
    ids, owners = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    for message in in_order(messages):
        split, what = divmod(message.tag, 2)
        found = unpacked(message.blob)
        (places if what == _KEYS else owners).append(place_of(split, found["index"]))
        (keys if what == _KEYS else ids).append(found["key" if what == _KEYS else "id"])
    key, place = np.concatenate(keys), np.concatenate(places)
    member, first = _repeats(layout, (key[:, 0], key[:, 1]), place)
    for split, rows in by_target(split_of(member)):
        yield Message(split, _MEMBERS, packed(index=index_of(member[rows]), of=first[rows]))
    for split, rows in by_target(split_of(first)):
        yield Message(split, _FIRSTS, packed(index=index_of(first[rows]), of=member[rows]))
    later, earlier = _repeats(layout, (np.concatenate(ids),), np.concatenate(owners))
    for split, rows in by_target(split_of(later)):
        row = rows[np.argmin(later[rows])]
        yield Message(split, _REPEATED, packed(pair=np.array([earlier[row], later[row]])))


def _repeats(
    layout: Layout, keys: Sequence[NDArray[np.uint64]], place: Places
) -> tuple[Places, Places]:
    """The places of documents with the key of an earlier one of their collection, and that one."""
    order = np.lexsort((place, *keys))
    keys, place = [key[order] for key in keys], place[order]
    other = split_of(place) >= layout.left
    starts = np.ones(len(place), np.bool_)
    starts[1:] = other[1:] != other[:-1]
    for key in keys:
        starts[1:] |= key[1:] != key[:-1]
    first = place[np.flatnonzero(starts)[np.cumsum(starts) - 1]] if len(place) else place
    return place[~starts], first[~starts]


def _settle(layout: Layout, number: int, messages: Iterator[Message]) -> Iterator[Message]:
    """Write down the copies of a split."""
    none = np.zeros(0, np.uint32), np.zeros(0, np.int64)
    index, of = {_MEMBERS: [none[0]], _FIRSTS: [none[0]]}, {_MEMBERS: [none[1]], _FIRSTS: [none[1]]}
    repeated = None
    for message in messages:
        found = unpacked(message.blob)
        if message.tag == _REPEATED:
            pair = tuple(found["pair"].tolist())
            repeated = pair if repeated is None else min(repeated, pair, key=lambda one: one[1])
            continue
        index[message.tag].append(found["index"])
        of[message.tag].append(found["of"])
    stored: dict[str, NDArray[Any]] = {}
    for name, tag in (("member", _MEMBERS), ("first", _FIRSTS)):
        every, others = np.concatenate(index[tag]), np.concatenate(of[tag])
        order = np.lexsort((others, every))
        stored |= {name: every[order], f"{name}_of": others[order]}
    layout.work.write(f"copies/{number}", packed(**stored))
    counts = unpacked(layout.work.read(f"read/{number}"))["counts"]
    yield Message(0, number, packed(**{**counts, "repeated": repeated}))


def with_lines(layout: Layout, counts: Sequence[SplitCounts], engine: Engine) -> Layout:
    """The layout with the lines before each part of files with rows that cannot be read.

    Their reasons name lines, and a task sees those of its part only.
    """
    named = {
        split.names[0]
        for split, one in zip(layout.splits, counts, strict=True)
        if one.rejected and split.part is not None and split.sources[0].format == "jsonl"
    }
    numbers = [
        n for n, split in enumerate(layout.splits) if split.names[:1] and split.names[0] in named
    ]
    if not numbers:
        return layout
    sent = engine.run("lines", [Tasks(partial(_count_lines, layout, tuple(numbers)), len(numbers))])
    splits, before = list(layout.splits), 0
    for message in in_order(sent):
        number = numbers[message.tag]
        source = splits[number].sources[0]
        assert source.part is not None
        before = before if source.part.begin else 0
        part = replace(source.part, first_line=before)
        splits[number] = replace(splits[number], sources=(replace(source, part=part),))
        before += unpacked(message.blob)["lines"]
    return replace(layout, splits=tuple(splits))


def _count_lines(
    layout: Layout, numbers: Sequence[int], task: int, _: Iterator[Message]
) -> Iterator[Message]:
    lines = 0
    with layout.splits[numbers[task]].sources[0].stream() as stream:
        while block := stream.read(_BLOCK):
            lines += block.count(b"\n")
    yield Message(0, task, packed(lines=lines))


def require_ids(layout: Layout, counts: Sequence[SplitCounts]) -> None:
    """Refuse ids of different kinds, and ids that occur twice, as the local engine does."""
    first: dict[bool, tuple[str, str]] = {}
    for split, one in zip(layout.splits, counts, strict=True):
        if one.ids is None:
            continue
        kind, name = first.setdefault(split.other, (one.ids, split.names[0]))
        if kind != one.ids:
            raise InputError(
                f"the ids of {name} are {_KINDS[kind]} and those of {split.names[0]} are "
                f"{_KINDS[one.ids]}; make them alike, or use --id row to number rows instead"
            )
    for one in counts:
        if one.repeated is not None:
            earlier, later = (_named(layout, place) for place in one.repeated)
            if earlier[0] == later[0]:  # and not only their hashes
                raise InputError(
                    f"the id {quoted(later[0])} occurs twice, in {earlier[1]} and in {later[1]}; "
                    "use --id row to number rows instead"
                )


def _named(layout: Layout, place: int) -> tuple[Any, str]:
    """The id of a document, and its file and row."""
    both = np.array([place])
    number, index = int(split_of(both)[0]), int(index_of(both)[0])
    split, seen = layout.splits[number], 0
    whole = layout.old if split.other else layout.source
    assert whole is not None
    for file in split.sources:
        for batch in whole.part((file,), 0).documents:
            if index < seen + len(batch.ids):
                row = int(batch.places[index - seen])
                return batch.ids[index - seen].as_py(), f"{file.name} row {row}"
            seen += len(batch.ids)
    raise AssertionError("a document that was read is gone")
