"""Bins are decided on as the local engine does it, and what was found goes back to the splits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.budget import Budget
from neardup.collection.collected import Collected
from neardup.collection.feature_store import FeatureStore
from neardup.collection.rejected import RejectedRows
from neardup.deduplication.document_files import named_others
from neardup.deduplication.removals import Both, evidence_of, find_removals
from neardup.deduplication.result import Result
from neardup.deduplication.rows import together
from neardup.distributed.components import Boxes
from neardup.distributed.figures import counted
from neardup.distributed.giants import Star, decide_giants
from neardup.distributed.shipping import CHUNKS, features_of, ship, values_of
from neardup.distributed.splits import Layout, Places, by_target, index_of, place_of, split_of
from neardup.engines.exchange import Engine, Message, Tasks, in_order, packed, unpacked
from neardup.features.weighted import joined
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.frozen import dataclass
from neardup.kernels.columns import column_of
from neardup.kernels.hamming_join import RowGroups
from neardup.pairs.all_pairs import find_all_pairs
from neardup.read.batch import bounded_offsets
from neardup.settings import EXACT

_REMOVED, _CLUSTERS, _PAIRS, _STANDS, _OTHERS, _COMPARED = range(6)
_KINDS = 6
_AT_ONCE = 1 << 20  # features
_AFTER_BINS = 1 << 32


def decide(
    layout: Layout, engine: Engine, boxes: Boxes, most_features: int
) -> list[dict[str, Any]]:
    """Write what becomes of the documents of each split; what was counted in each.

    Giant components are decided on in chunks of `most_features`.
    """
    stars = 0
    if boxes.blocks:
        stars = decide_giants(layout, engine, boxes.blocks, most_features)
    sent = engine.run(
        "decisions",
        [
            Tasks(partial(ship, layout, False), len(layout.splits)),
            Tasks(partial(_decide_bin, layout, stars), max(1, boxes.bins, stars)),
            Tasks(partial(_settle, layout), len(layout.splits)),
        ],
    )
    return [unpacked(message.blob) for message in in_order(sent)]


@dataclass(frozen=True, eq=False)
class Bin:
    """The documents of a bin, in the order of the input: their places and what is known of them."""

    places: Places
    both: Both
    values: pa.Array | None

    @classmethod
    def of(cls, layout: Layout, messages: Sequence[Message]) -> Bin:
        """The documents that splits have sent."""
        parts = [unpacked(message.blob) for message in messages]
        splits = [message.tag // CHUNKS for message in messages]
        cut = sum(split < layout.left for split in splits)
        places = [place_of(split, part["index"]) for split, part in zip(splits, parts, strict=True)]
        every = np.concatenate(places)
        others = sum(map(len, places[cut:]))
        left = _collected(layout, parts[:cut], every[: len(every) - others], layout.id_types[0])
        right = None
        if layout.old is not None:
            right = _collected(
                layout, parts[cut:], every[len(every) - others :], layout.id_types[1]
            )
        return cls(every, Both(left, right, layout.within), values_of(layout, parts[:cut]))


def _collected(
    layout: Layout, parts: Sequence[Mapping[str, Any]], places: Places, id_type: pa.DataType
) -> Collected:
    words = np.concatenate([np.zeros(0, np.uint32), *(part["words"] for part in parts)])
    of = np.concatenate([np.zeros(0, np.int64), *(part["of"] for part in parts)])
    first = np.searchsorted(places, of)
    firsts, group_of = np.unique(first, return_inverse=True)
    sent = [features_of(part) for part in parts]
    store = FeatureStore(Budget(layout.settings.memory).features(1 + (layout.old is not None)))
    if len(firsts) == len(first):
        for features in sent:
            store.add(features)
    elif sent:
        # Copies were sent without features. They have those of the first of their kind, because
        # each is decided on at its own turn.
        features = joined(sent)
        sizes = np.diff(features.offsets)[first]
        for begin, end in bounded_offsets(np.concatenate(([0], np.cumsum(sizes))), _AT_ONCE):
            store.add(features.take(first[begin:end]))
    rows: tuple[NDArray[np.uint64], ...] = ()
    if parts and parts[0]["rows"] is not None:
        rows = (np.concatenate([part["rows"] for part in parts]),)
    return Collected(
        pa.concat_arrays([pa.nulls(0, id_type), *(part["ids"] for part in parts)]),
        words,
        np.arange(len(words)),
        RowGroups(firsts, group_of),
        rows,
        store,
        RejectedRows(),
    )


def decided(
    both: Both, values: pa.Array | None, fingerprinter: Fingerprinter, layout: Layout
) -> Result:
    """What the local engine finds about some documents, which have no pairs with others."""
    # The exact join finds what it finds for any division into bins; bands would not.
    settings = replace(layout.settings, candidates=EXACT)
    order = settings.keep.order(len(both.left), both.left.words.astype(np.int64), values)
    removals, found, pairs = find_removals(both, order, fingerprinter, settings)
    clusters = removals.clusters(settings.keep)
    evidence = evidence_of(
        both,
        clusters,
        None if settings.pairs == "none" else lambda a, b: both.distances(a, b, fingerprinter),
    )
    if settings.pairs == "all" and (pairs is None or settings.floor is not None):
        pairs = find_all_pairs(
            both.left,
            both.right,
            fingerprinter,
            settings,
            floor=layout.threshold,
            within=both.within,
            order=order,
        )
    return Result(
        layout.source,
        settings,
        fingerprinter,
        both,
        layout.old,
        order,
        found,
        clusters,
        evidence,
        pairs,
        {},
        0.0,
    )


def _decide_bin(
    layout: Layout, stars: int, number: int, messages: Iterator[Message]
) -> Iterator[Message]:
    """Decide on the documents of a bin; tell their splits.

    The first `stars` tasks also tell what was decided about giant components.
    """
    asked = in_order(messages)
    if number < stars:
        star = Star.read(layout, number)
        if star is not None:
            result = star.result(layout)
            yield from _told(result, star.places, number + _AFTER_BINS, star.copied(result))
    if not asked:
        return
    box = Bin.of(layout, asked)
    result = decided(box.both, box.values, layout.fingerprinter(), layout)
    yield Message(0, number * _KINDS + _COMPARED, packed(compared=int(result.found.candidates)))
    yield from _told(result, box.places, number, result.copied)


def _told(
    result: Result, places: Places, number: int, copied: NDArray[np.bool_]
) -> Iterator[Message]:
    """Removals, clusters and pairs for the splits that write them.

    `copied` says which rows of the clustering are removed as exact copies.
    """
    clustering = result.clustering
    rows = np.flatnonzero(~clustering.kept)
    rows = rows[np.argsort(clustering.place[rows])]
    removed = places[clustering.place[rows]]
    columns = pa.RecordBatch.from_pydict(
        {
            **result.removed_columns(),
            "copied": column_of(copied[rows]),
        }
    )
    for split, some in by_target(split_of(removed)):
        blob = packed(index=index_of(removed[some]), rows=columns.take(column_of(some)))
        yield Message(split, number * _KINDS + _REMOVED, blob)
    stands = clustering.copies()
    several = np.flatnonzero(stands > 1)
    for split, some in by_target(split_of(places[several])):
        these = several[some]
        blob = packed(index=index_of(places[these]), copies=stands[these])
        yield Message(split, number * _KINDS + _STANDS, blob)
    named = others_of(result)
    for split, some in by_target(split_of(places[named])):
        yield Message(split, number * _KINDS + _OTHERS, packed(index=index_of(places[named[some]])))
    if len(clustering.place):
        starts = np.searchsorted(clustering.cluster, np.arange(len(clustering)))
        first = places[clustering.place[starts]][clustering.cluster]
        table = result.clusters.combine_chunks().to_batches()[0]
        extra = {
            "place": column_of(places[clustering.place]),
            "around": column_of(places[clustering.around]),
            "kept_for": column_of(places[clustering.kept_for]),
        }
        for name, column in extra.items():
            table = table.append_column(f"_{name}", column)
        for split, some in by_target(split_of(first)):
            blob = packed(first=first[some], rows=table.take(column_of(some)))
            yield Message(split, number * _KINDS + _CLUSTERS, blob)
    if result.settings.pairs == "none":
        return
    for batch in result.listed_pairs():
        a, b = places[batch.a], places[batch.b]
        named = result.named_pairs(batch)
        for split, some in by_target(split_of(a)):
            blob = packed(a=a[some], b=b[some], rows=named.take(column_of(some)))
            yield Message(split, number * _KINDS + _PAIRS, blob)


def others_of(result: Result) -> Places:
    """The places of documents of the other collection that the result names."""
    if result.both.right is None:
        return np.zeros(0, np.int64)
    return len(result.collected) + np.flatnonzero(named_others(result))


def _settle(layout: Layout, number: int, messages: Iterator[Message]) -> Iterator[Message]:
    """Write down what bins have found about the documents of a split."""
    parts: dict[int, list[dict[str, Any]]] = {kind: [] for kind in range(_KINDS)}
    for message in in_order(messages):
        parts[message.tag % _KINDS].append(unpacked(message.blob))
    stored: dict[str, Any] = {}
    counts: dict[str, Any] = {"compared": sum(one["compared"] for one in parts[_COMPARED])}
    for name, kind, keys in (
        ("removed", _REMOVED, ("index",)),
        ("clusters", _CLUSTERS, ("first",)),
        ("pairs", _PAIRS, ("a", "b")),
    ):
        if not parts[kind]:
            continue
        columns = [np.concatenate([one[key] for one in parts[kind]]) for key in keys]
        order = np.lexsort(tuple(reversed(columns)))
        rows = together(one["rows"] for one in parts[kind]).combine_chunks().take(column_of(order))
        stored[name] = rows.combine_chunks().to_batches()[0]
        stored |= {f"{name}_{key}": one[order] for key, one in zip(keys, columns, strict=True)}
    if parts[_STANDS]:
        stored["stands_index"] = np.concatenate([one["index"] for one in parts[_STANDS]])
        stored["stands"] = np.concatenate([one["copies"] for one in parts[_STANDS]])
    if parts[_OTHERS]:
        stored["others"] = np.unique(np.concatenate([one["index"] for one in parts[_OTHERS]]))
    layout.work.write(f"outcomes/{number}", packed(**stored))
    yield Message(0, number, packed(**counts, **counted(layout.settings, stored)))
