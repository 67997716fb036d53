"""Giant components, divided among blocks and decided on by all of them together.

Documents are decided on in keep order, a chunk at a time, as in the star search of one process. One
task decides on the chunk: the first documents in keep order that are still open. Those that it
keeps go to all blocks, which look up their documents among them: a document that comes later and is
similar is removed, and each removed document remembers the most similar kept one before it. In a
family of alike documents the first chunk removes nearly all others, so there are few rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.budget import Budget
from neardup.collection.collected import Collected
from neardup.collection.feature_store import FeatureStore
from neardup.collection.rejected import RejectedRows
from neardup.deduplication.removals import Both, Found, Removals, evidence_of
from neardup.deduplication.result import Result
from neardup.distributed.shipping import CHUNKS, features_of, ship, values_of
from neardup.distributed.splits import Layout, Places, by_target, place_of, spread
from neardup.engines.exchange import Engine, Message, Tasks, in_order, packed, unpacked
from neardup.features.weighted import WeightedFeatures, joined
from neardup.frozen import dataclass
from neardup.kernels.columns import column_of
from neardup.kernels.hamming_join import RowGroups
from neardup.pairs.by_features.exact_join import Measure
from neardup.pairs.by_features.star_search import StarSearch
from neardup.pairs.stars import find_stars
from neardup.settings import EXACT

_OPEN, _KEPT, _REMOVED = range(3)
_POINTS = 256  # by which a block describes its open documents


def decide_giants(layout: Layout, engine: Engine, blocks: int, most_features: int) -> int:
    """Write what becomes of the documents of all blocks; the number of tasks that know it.

    A chunk has about `most_features` features.
    """
    sent = engine.run(
        "giants",
        [
            Tasks(partial(ship, layout, True), len(layout.splits)),
            Tasks(partial(_store, layout), blocks),
        ],
    )
    if not _by_place(layout):
        sent = engine.run(
            "giant order",
            [
                Tasks(partial(_tell_values, layout), blocks),
                Tasks(partial(_rank, layout), 1),
                Tasks(partial(_store_ranks, layout), blocks),
            ],
        )
    for number in count():  # each round decides on one document or more
        until = _next_chunk(sent, most_features)
        if until is None:
            break
        sent = engine.run(
            f"giant round {number + 1}",
            [
                Tasks(partial(_tell_open, layout, number, until), blocks),
                Tasks(partial(_decide_chunk, layout, number), 1),
                Tasks(partial(_look_up, layout, number), blocks),
            ],
        )
    engine.run(
        "giant stars",
        [
            Tasks(partial(_tell_stars, layout, number, blocks), blocks),
            Tasks(partial(_store_stars, layout), blocks),
        ],
    )
    return blocks


def _by_place(layout: Layout) -> bool:
    """Whether keep order is the order of the input."""
    keep = layout.settings.keep
    return keep.column is None and not keep.needs_lengths


def _next_chunk(sent: list[Message], most_features: int) -> int | None:
    """The rank up to which open documents make the next chunk; None if none is open."""
    found = [unpacked(message.blob) for message in sent]
    rank = np.concatenate([one["rank"] for one in found])
    if not len(rank):
        return None
    features = np.concatenate([one["features"] for one in found])
    order = np.argsort(rank)
    ends = np.cumsum(features[order])
    last = max(0, int(np.searchsorted(ends, most_features, side="right")) - 1)
    return int(rank[order][last]) + 1


@dataclass(frozen=True, eq=False)
class Block:
    """The documents of a block in the order of the input, and the features of each kind.

    `group` is the kind of each document. `rank` is its place in keep order, `leader` the document
    of each kind that comes first there.
    """

    held: Mapping[str, Any]
    features: WeightedFeatures
    rank: Places
    leader: Places

    @classmethod
    def read(cls, layout: Layout, number: int) -> Block:
        """A block from the work folder."""
        held = unpacked(layout.work.read(f"giant/{number}"))
        rank = held["place"]
        if not _by_place(layout):
            rank = unpacked(layout.work.read(f"giant-ranks/{number}"))["rank"]
        leader = np.lexsort((rank, held["group"]))
        leader = leader[np.unique(held["group"][leader], return_index=True)[1]]
        return cls(held, features_of(held), rank, leader)

    def state(self, layout: Layout, number: int, after: int) -> dict[str, NDArray[Any]]:
        """What was decided in the rounds before, by kind and by document."""
        if after:
            found = unpacked(layout.work.read(f"giant-state/{after}-{number}"))
            return {name: column.copy() for name, column in found.items()}
        documents = len(self.rank)
        return {
            "decision": np.zeros(len(self.leader), np.uint8),
            "kept_for": np.full(documents, -1, np.int64),
            "kept_rank": np.full(documents, -1, np.int64),
            "similarity": np.zeros(documents),
        }

    def summary(self, decision: NDArray[np.uint8]) -> bytes:
        """The open documents by rank, as a few points with the features up to each."""
        still_open = np.flatnonzero(decision == _OPEN)
        rank = self.rank[self.leader[still_open]]
        order = np.argsort(rank)
        ends = np.cumsum(np.diff(self.features.offsets)[still_open[order]])
        points = (
            np.unique(np.linspace(0, len(order) - 1, _POINTS).astype(np.int64))
            if len(order)
            else order
        )
        features = np.diff(ends[points], prepend=0)
        return packed(rank=rank[order][points], features=features)


def _store(layout: Layout, number: int, messages: Iterator[Message]) -> Iterator[Message]:
    """Write down the documents of a block."""
    sent = in_order(messages)
    parts = [unpacked(message.blob) for message in sent]
    places = [
        place_of(message.tag // CHUNKS, part["index"])
        for message, part in zip(sent, parts, strict=True)
    ]
    of = np.concatenate([np.zeros(0, np.int64), *(part["of"] for part in parts)])
    place = np.concatenate([np.zeros(0, np.int64), *places])
    firsts, group = np.unique(of, return_inverse=True)
    at = np.searchsorted(place, firsts)
    features = joined([features_of(part) for part in parts]).take(at)
    words = np.concatenate([np.zeros(0, np.uint32), *(part["words"] for part in parts)])
    fingerprinter = layout.fingerprinter()
    if parts and parts[0]["rows"] is not None:
        rows = np.concatenate([part["rows"] for part in parts])
    else:
        rows = fingerprinter.rows_of_features(features)[group]
    values = values_of(layout, parts)
    layout.work.write(
        f"giant/{number}",
        packed(
            place=place,
            of=of,
            group=group,
            document_words=words,
            ids=_ids(layout, parts),
            keep=values,
            rows=rows,
            words=features.words,
            sizes=np.diff(features.offsets).astype(np.uint32),
            hashes=features.hashes,
            weights=features.weights,
        ),
    )
    if not _by_place(layout):
        return
    block = Block.read(layout, number)
    yield Message(0, number, block.summary(np.zeros(len(block.leader), np.uint8)))


def _ids(layout: Layout, parts: Sequence[Mapping[str, Any]]) -> pa.Array:
    return pa.concat_arrays([pa.nulls(0, layout.id_types[0]), *(part["ids"] for part in parts)])


def _tell_values(layout: Layout, number: int, _: Iterator[Message]) -> Iterator[Message]:
    """Send what keep order depends on to the task that finds it."""
    held = unpacked(layout.work.read(f"giant/{number}"))
    blob = packed(place=held["place"], words=held["document_words"], keep=held["keep"])
    yield Message(0, number, blob)


def _rank(layout: Layout, _: int, messages: Iterator[Message]) -> Iterator[Message]:
    """The rank of all documents in keep order."""
    sent = in_order(messages)
    parts = [unpacked(message.blob) for message in sent]
    place = np.concatenate([part["place"] for part in parts])
    words = np.concatenate([part["words"] for part in parts]).astype(np.int64)
    values = values_of(layout, parts)
    by_place = np.argsort(place)
    if values is not None:
        values = values.take(column_of(by_place))
    order = by_place[layout.settings.keep.order(len(place), words[by_place], values)]
    rank = np.empty(len(place), np.int64)
    rank[order] = np.arange(len(place))
    begin = 0
    for message, part in zip(sent, parts, strict=True):
        end = begin + len(part["place"])
        yield Message(message.tag, 0, packed(rank=rank[begin:end]))
        begin = end


def _store_ranks(layout: Layout, number: int, messages: Iterator[Message]) -> Iterator[Message]:
    for message in messages:
        layout.work.write(f"giant-ranks/{number}", message.blob)
    block = Block.read(layout, number)
    yield Message(0, number, block.summary(np.zeros(len(block.leader), np.uint8)))


def _tell_open(
    layout: Layout, round: int, until: int, number: int, _: Iterator[Message]
) -> Iterator[Message]:
    """Send the open documents of the next chunk to the task that decides on it."""
    block = Block.read(layout, number)
    decision = block.state(layout, number, round)["decision"]
    rank = block.rank[block.leader]
    rows = np.flatnonzero((decision == _OPEN) & (rank < until))
    some = block.features.take(rows)
    blob = packed(
        place=block.held["place"][block.leader[rows]],
        rank=rank[rows],
        words=some.words,
        sizes=np.diff(some.offsets).astype(np.uint32),
        hashes=some.hashes,
        weights=some.weights,
    )
    yield Message(0, number, blob)


def _alone(features: WeightedFeatures, layout: Layout) -> Collected:
    """Documents of which nothing but the features is asked, none of them a copy."""
    store = FeatureStore(Budget(layout.settings.memory).features(2))
    store.add(features)
    every = np.arange(len(features))
    return Collected(
        column_of(every),
        features.words,
        every,
        RowGroups.alone(len(every)),
        (),
        store,
        RejectedRows(),
    )


def _decide_chunk(
    layout: Layout, round: int, _: int, messages: Iterator[Message]
) -> Iterator[Message]:
    """Decide on a chunk; write down which documents are kept."""
    parts = [unpacked(message.blob) for message in in_order(messages)]
    place = np.concatenate([part["place"] for part in parts])
    rank = np.concatenate([part["rank"] for part in parts])
    features = joined([features_of(part) for part in parts])
    by_place = np.argsort(place)
    place, rank, features = place[by_place], rank[by_place], features.take(by_place)
    documents = _alone(features, layout)
    settings = replace(layout.settings, candidates=EXACT)
    stars = find_stars(documents, None, np.argsort(rank), layout.fingerprinter(), settings)
    kept = np.flatnonzero(stars.kept_for == np.arange(len(place)))
    kept = kept[np.argsort(rank[kept])]
    some = features.take(kept)
    layout.work.write(
        f"giant-kept/{round}",
        packed(
            place=place[kept],
            rank=rank[kept],
            words=some.words,
            sizes=np.diff(some.offsets).astype(np.uint32),
            hashes=some.hashes,
            weights=some.weights,
        ),
    )
    return iter(())


def _look_up(layout: Layout, round: int, number: int, _: Iterator[Message]) -> Iterator[Message]:
    """Look up the documents of a block among those that were kept last."""
    block = Block.read(layout, number)
    state = block.state(layout, number, round)
    kept = unpacked(layout.work.read(f"giant-kept/{round}"))
    place, group = block.held["place"], block.held["group"]
    state["decision"][np.isin(place[block.leader], kept["place"])] = _KEPT
    last = np.zeros(len(block.leader), np.int64)
    np.maximum.at(last, group, block.rank)
    rows = np.flatnonzero((state["decision"] != _KEPT) & (last > kept["rank"][0]))
    own, others = block.features.take(rows), features_of(kept)
    for a, b, similarity, earlier in _pairs(own, others, layout):
        _remember(block, state, rows[a], b, similarity, kept, earlier)
    layout.work.write(f"giant-state/{round + 1}-{number}", packed(**state))
    yield Message(0, number, block.summary(state["decision"]))


def _pairs(
    own: WeightedFeatures, kept: WeightedFeatures, layout: Layout
) -> Iterator[tuple[Places, Places, NDArray[np.float64], bool | None]]:
    """The pairs of documents with kept ones, and whether the kept ones count as the earlier.

    The similarity of weighted documents is rounded differently if they change places, so each is
    computed in both ways. That of sets is not: None.
    """
    if not len(own):
        return
    measure = Measure(layout.settings.similarity, layout.settings.threshold)
    for earlier in (None,) if own.weights is None else (False, True):
        sides = [_alone(own, layout), _alone(kept, layout)]
        first = len(kept) if earlier else 0
        search = StarSearch(
            sides[::-1] if earlier else sides,
            measure,
            across=True,
            memory=layout.settings.memory,
            threads=1,
        )
        is_own = (search.possible >= first) & (search.possible < first + len(own))
        found = search.pairs_between(search.possible[~is_own], search.possible[is_own])
        for a, b, similarity in found:
            if earlier:
                yield b - len(kept), a, similarity, earlier
            else:
                yield a, b - len(own), similarity, earlier


def _remember(
    block: Block,
    state: dict[str, NDArray[Any]],
    kind: Places,
    other: Places,
    similarity: NDArray[np.float64],
    kept: Mapping[str, Any],
    earlier: bool | None,
) -> None:
    """Note the most similar kept document before each, of pairs of kinds and kept documents.

    With `earlier`, the pairs are about documents after the kept one in the input; if it is False,
    about those before.
    """
    by_group = np.argsort(block.held["group"], kind="stable")
    starts = np.searchsorted(block.held["group"][by_group], np.arange(len(block.leader) + 1))
    sizes = np.diff(starts)[kind]
    pair = np.repeat(np.arange(len(kind)), sizes)
    inside = np.arange(len(pair)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    document = by_group[starts[kind[pair]] + inside]
    before = kept["rank"][other[pair]] < block.rank[document]
    if earlier is not None:
        before &= (kept["place"][other[pair]] < block.held["place"][document]) == earlier
    document, pair = document[before], pair[before]
    order = np.lexsort((kept["rank"][other[pair]], -similarity[pair], document))
    document, pair = document[order], pair[order]
    document, first = np.unique(document, return_index=True)
    pair = pair[first]
    # Of equally similar ones the first in keep order counts.
    known, rank = state["similarity"][document], kept["rank"][other[pair]]
    better = similarity[pair] > known
    better |= (similarity[pair] == known) & (rank < state["kept_rank"][document])
    document, pair = document[better], pair[better]
    state["kept_for"][document] = kept["place"][other[pair]]
    state["kept_rank"][document] = kept["rank"][other[pair]]
    state["similarity"][document] = similarity[pair]
    is_leader = np.zeros(len(block.rank), np.bool_)
    is_leader[block.leader] = True
    state["decision"][block.held["group"][document[is_leader[document]]]] = _REMOVED


def _tell_stars(
    layout: Layout, rounds: int, tasks: int, number: int, _: Iterator[Message]
) -> Iterator[Message]:
    """Send every document to the task of the kept one that it belongs to."""
    block = Block.read(layout, number)
    held, state = block.held, block.state(layout, number, rounds)
    group = held["group"]
    kept = (state["decision"] == _KEPT)[group]
    leads = np.zeros(len(group), np.bool_)
    leads[block.leader] = True
    kept_for = np.where(kept, held["place"][block.leader][group], state["kept_for"])
    similarity = np.where(kept, np.where(leads, np.nan, 1.0), state["similarity"])
    for task, rows in by_target(spread(kept_for, tasks)):
        blob = packed(
            place=held["place"][rows],
            of=held["of"][rows],
            kept_for=kept_for[rows],
            similarity=similarity[rows],
            words=held["document_words"][rows],
            rows=held["rows"][rows],
            ids=held["ids"].take(column_of(rows)),
        )
        yield Message(task, number, blob)


def _store_stars(layout: Layout, number: int, messages: Iterator[Message]) -> Iterator[Message]:
    parts = [unpacked(message.blob) for message in in_order(messages)]
    if parts:
        stored = {
            name: np.concatenate([part[name] for part in parts])
            for name in parts[0]
            if name != "ids"
        }
        order = np.argsort(stored["place"])
        ids = pa.concat_arrays([part["ids"] for part in parts]).take(pa.array(order))
        blob = packed(ids=ids, **{name: column[order] for name, column in stored.items()})
        layout.work.write(f"giant-stars/{number}", blob)
    return iter(())


@dataclass(frozen=True, eq=False)
class Star:
    """Whole stars of giant components: their documents in the order of the input."""

    held: Mapping[str, Any]

    @classmethod
    def read(cls, layout: Layout, number: int) -> Star | None:
        """The stars that a task has gathered; None if there are none."""
        name = f"giant-stars/{number}"
        return cls(unpacked(layout.work.read(name))) if layout.work.exists(name) else None

    @property
    def places(self) -> Places:
        """The places of the documents."""
        return np.asarray(self.held["place"])

    def result(self, layout: Layout) -> Result:
        """The clusters, removals and pairs of these stars."""
        held = self.held
        firsts, group = np.unique(held["of"], return_inverse=True)
        first = np.full(len(firsts), len(group))
        np.minimum.at(first, group, np.arange(len(group)))
        order = np.argsort(first)
        number = np.empty_like(order)
        number[order] = np.arange(len(order))
        documents = Collected(
            held["ids"],
            held["words"],
            np.arange(len(group)),
            RowGroups(first[order], number[group]),
            (held["rows"],),
            None,
            RejectedRows(),
        )
        settings, fingerprinter = layout.settings, layout.fingerprinter()
        both = Both(documents, None)
        kept_for = np.searchsorted(held["place"], held["kept_for"])
        clusters = Removals(kept_for, held["similarity"]).clusters(settings.keep)
        evidence = evidence_of(
            both,
            clusters,
            None if settings.pairs == "none" else lambda a, b: both.distances(a, b, fingerprinter),
        )
        none = np.zeros(settings.scheme.bits + 1, np.int64)
        return Result(
            layout.source,
            settings,
            fingerprinter,
            both,
            None,
            np.arange(len(group)),
            Found(0, none, EXACT, "", (), None),
            clusters,
            evidence,
            None,
            {},
            0.0,
        )

    def copied(self, result: Result) -> NDArray[np.bool_]:
        """Which rows of the clustering are removed, and have the features of another document.

        That may be one of another star, so the result cannot tell.
        """
        clustering, kinds = result.clustering, result.both.kinds
        later = self.held["place"] != self.held["of"]
        same = kinds[clustering.place] == kinds[clustering.kept_for]
        return np.asarray(~clustering.kept & (same | later[clustering.place]))
