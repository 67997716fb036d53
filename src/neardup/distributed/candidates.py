"""Candidates: which documents may be in a pair, and which of them are linked to which.

Every feature has a frequency: the number of documents that have it. Documents list their features
by frequency, the rarest first. Two similar documents share one of their first features: those
before which the rest still carries the threshold's share of the weight. So each document sends
these to shards by their hashes. A shard sorts the documents of a feature by size and links
neighbours that are alike enough in size: similar documents are then linked directly or by a path.
What a feature links is linear in the number of documents that have it.

Features are compared by 24 to 48 bits of their hashes. Others that look the same link more
documents than necessary, and never fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.distributed.splits import Layout, Places, by_target, place_of, spread
from neardup.engines.exchange import Engine, Message, Tasks, in_order, packed, unpacked
from neardup.features.weighted import WeightedFeatures, joined
from neardup.frozen import dataclass
from neardup.kernels.shared_features import (
    BUCKET_BITS,
    BUCKETS,
    Frequencies,
    answer_frequencies,
    first_features,
    from_buckets,
    link_alike,
    to_buckets,
)

Values = NDArray[np.uint64]

# For each feature so many addresses, so that few others have the same.
_ROOM = 64
# Every portion sends a message to every shard: with many shards portions are larger, up to some
# 300 MB of memory, so that messages do not become tiny.
_LEAST_PORTION, _MOST_PORTION = 1 << 21, 1 << 24
_FEATURES_A_MESSAGE = 1 << 12
_SLACK = 1e-9  # sums of weights are rounded
_PORTIONS = 1 << 20


@dataclass(frozen=True, eq=False)
class Portion:
    """The features of some documents of a split that are no copies, by their numbers in it."""

    index: NDArray[np.uint32]
    features: WeightedFeatures


def portion_features(shards: int) -> int:
    """The number of features that a task looks at together, about."""
    return min(_MOST_PORTION, max(_LEAST_PORTION, shards * _FEATURES_A_MESSAGE))


def portions(layout: Layout, number: int) -> Iterator[Portion]:
    """The documents of a split without empty ones and copies, some at a time."""
    most = portion_features(layout.shards)
    stored = unpacked(layout.work.read(f"copies/{number}"))
    members = stored["member"]
    fingerprinter = layout.fingerprinter()
    indices: list[NDArray[np.uint32]] = []
    parts: list[WeightedFeatures] = []
    first = held = 0
    for batch in layout.opened(number).batches():
        if not len(batch.ids):
            continue
        made = fingerprinter.features(batch.columns)
        wanted = made.words > 0
        begin, end = np.searchsorted(members, [first, first + len(made)])
        wanted[members[begin:end] - first] = False
        rows = np.flatnonzero(wanted)
        if len(rows) < len(made):
            made = made.take(rows)
        if held and held + len(made.hashes) > most:
            yield Portion(np.concatenate(indices), joined(parts))
            indices, parts, held = [], [], 0
        indices.append((first + rows).astype(np.uint32))
        parts.append(made)
        held += len(made.hashes)
        first += len(batch.ids)
    if parts:
        yield Portion(np.concatenate(indices), joined(parts))


def link_candidates(layout: Layout, engine: Engine) -> dict[str, int]:
    """Write the links of each shard to the work folder; how many there are."""
    count = len(layout.splits)
    sent = engine.run(
        "candidates",
        [
            Tasks(partial(_tell_features, layout), count),
            Tasks(partial(_count_features, layout), layout.shards),
            Tasks(partial(_tell_first_features, layout), count),
            Tasks(partial(_link, layout), layout.shards),
        ],
    )
    found = [unpacked(message.blob) for message in sent]
    return {name: sum(one[name] for one in found) for name in ("nodes", "links", "postings")}


@dataclass(frozen=True)
class Addresses:
    """Where features are counted: by the leading bits of their hashes.

    A shard has a range of buckets. In its bucket a feature is known by `width` bytes, as many as
    tell nearly all features of the collection apart.
    """

    shards: int
    width: int

    @classmethod
    def of(cls, layout: Layout) -> Addresses:
        """The addresses of a collection, by the number of its features."""
        needed = (layout.features * _ROOM).bit_length() - BUCKET_BITS
        return cls(layout.shards, min(4, max(1, -(-needed // 8))))

    def known_by(self, hashes: Values) -> Values:
        """The bits by which features are compared: those of their buckets, and the bytes after."""
        return hashes >> np.uint64(64 - BUCKET_BITS - 8 * self.width)

    def bounds(self) -> Places:
        """The first bucket of each shard, and the end."""
        return np.arange(self.shards + 1) * BUCKETS // self.shards

    def shard(self, known: Values) -> NDArray[np.uint64]:
        """The shards that link documents by features, given by what `known_by` says of them.

        Of equally frequent features the smallest hashes come first, so many first features of a
        large family are in the same buckets.
        """
        return spread(known, self.shards)


def _tell_features(layout: Layout, number: int, _: Iterator[Message]) -> Iterator[Message]:
    """Send the features of each portion to their shards."""
    addresses = Addresses.of(layout)
    bounds = addresses.bounds()
    for which, portion in enumerate(portions(layout, number)):
        sizes, values = to_buckets(portion.features.hashes, addresses.width)
        ends = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        for shard in range(layout.shards):
            first, last = bounds[shard], bounds[shard + 1]
            if ends[first] < ends[last]:
                blob = packed(sizes=sizes[first:last], values=values[ends[first] : ends[last]])
                yield Message(shard, number * _PORTIONS + which, blob)


def _count_features(layout: Layout, shard: int, messages: Iterator[Message]) -> Iterator[Message]:
    """Answer each portion in how many documents of all its features are."""
    asked = in_order(messages)
    found = [unpacked(message.blob) for message in asked]
    answers = answer_frequencies([(one["sizes"], one["values"]) for one in found])
    for message, frequency in zip(asked, answers, strict=True):
        split, portion = divmod(message.tag, _PORTIONS)
        yield Message(split, portion * _PORTIONS + shard, packed(frequency=frequency))


def _tell_first_features(
    layout: Layout, number: int, messages: Iterator[Message]
) -> Iterator[Message]:
    """Send the first features of documents that may be in a pair to their shards."""
    answers: dict[int, list[Frequencies]] = {}
    for message in in_order(messages):
        answers.setdefault(message.tag // _PORTIONS, []).append(unpacked(message.blob)["frequency"])
    addresses = Addresses.of(layout)
    for which, portion in enumerate(portions(layout, number)):
        features, hashes = portion.features, portion.features.hashes
        frequency = from_buckets(
            hashes, np.concatenate([np.zeros(0, np.uint8), *answers.pop(which, [])])
        )
        rows, document = first_of(features, frequency, layout.settings.similarity, layout.threshold)
        counts = np.diff(features.offsets).astype(np.uint32)
        size = compared_sizes(features, layout.settings.similarity)
        known = addresses.known_by(hashes[rows])
        for shard, some in by_target(addresses.shard(known)):
            chosen = document[some]
            blob = packed(
                value=known[some],
                index=portion.index[chosen],
                size=size[chosen],
                features=counts[chosen],
            )
            yield Message(shard, number * _PORTIONS + which, blob)


def first_of(
    features: WeightedFeatures, frequency: Frequencies, measure: str, threshold: float
) -> tuple[Places, Places]:
    """The features by which documents find every similar one, by position, and their documents."""
    # By Cauchy and Schwarz, the features after the first bound a cosine by their length.
    is_cosine = measure == "cosine"
    share = threshold * threshold if is_cosine else threshold
    every = features.offsets, features.hashes, features.weights
    return first_features(every, frequency, share, squared=is_cosine)


def compared_sizes(features: WeightedFeatures, measure: str) -> NDArray[Any]:
    """The sizes of documents, of which those of similar documents are alike; none for cosine."""
    counts = np.diff(features.offsets)
    if measure == "cosine":
        return np.zeros(len(counts), np.uint32)
    if features.weights is None:
        return counts.astype(np.uint32)
    sums = np.zeros(len(counts))
    filled = np.flatnonzero(counts)
    if len(filled):
        sums[filled] = np.add.reduceat(features.weights, features.offsets[filled])
    return sums


def _link(layout: Layout, shard: int, messages: Iterator[Message]) -> Iterator[Message]:
    """Link the documents of each feature, and write which documents hang together."""
    value, place, size, features = _together(messages)
    found = link_alike(value, size, place, layout.threshold * (1 - _SLACK))
    layout.work.write(
        f"links/{shard}",
        packed(place=found.documents, label=found.firsts, features=features[found.postings]),
    )
    nodes = len(found.documents)
    yield Message(0, shard, packed(nodes=nodes, links=found.links, postings=len(value)))


def _together(messages: Iterable[Message]) -> tuple[Any, ...]:
    parts: dict[str, list[NDArray[Any]]] = {
        "value": [np.zeros(0, np.uint64)],
        "place": [np.zeros(0, np.int64)],
        "size": [np.zeros(0)],
        "features": [np.zeros(0, np.uint32)],
    }
    for message in in_order(messages):
        found = unpacked(message.blob)
        found["place"] = place_of(message.tag // _PORTIONS, found["index"])
        for name, some in parts.items():
            some.append(found[name])
    return tuple(np.concatenate(some) for some in parts.values())
