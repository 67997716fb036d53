"""The twin of `neardup.kernels.shared_features`: one feature after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neardup.kernels.set_join import Documents, Hashes
from neardup.kernels.shared_features import (
    BUCKET_BITS,
    BUCKETS,
    Asked,
    Frequencies,
    Linked,
    Places,
    checked_width,
)

# Sums of weights are rounded: so little may be missing.
_SLACK = 1e-7


def to_buckets(hashes: Hashes, width: int) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """The number of hashes in each bucket, and the `width` bytes of each hash after its bucket."""
    checked_width(width)
    ordered = sorted(hashes.tolist(), key=lambda hash: hash >> (64 - BUCKET_BITS))
    sizes = Counter(hash >> (64 - BUCKET_BITS) for hash in ordered)
    after = 64 - BUCKET_BITS
    values = [(hash % (1 << after)) >> (after - 8 * width) for hash in ordered]
    rows = [list(value.to_bytes(width, "little")) for value in values]
    return (
        np.array([sizes[bucket] for bucket in range(BUCKETS)], np.uint32),
        np.array(rows, np.uint8).reshape(len(ordered), width),
    )


def frequency_of(documents: int) -> int:
    """A number of documents in a byte: eight steps to each power of two from 128 on."""
    if documents < 128:
        return documents
    power = documents.bit_length() - 8
    return min(255, 128 + 8 * power + (documents >> (power + 4)) % 8)


def answer_frequencies(tasks: Sequence[Asked]) -> list[Frequencies]:
    """How often each feature occurs in all that tasks ask about, as `frequency_of` has it."""
    keys = [
        list(zip(np.repeat(np.arange(len(sizes)), sizes).tolist(), map(bytes, rows), strict=True))
        for sizes, rows in tasks
    ]
    counts = Counter(key for some in keys for key in some)
    return [np.array([frequency_of(counts[key]) for key in some], np.uint8) for some in keys]


def from_buckets(hashes: Hashes, answers: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The answer about each hash; `answers` are in the order of `to_buckets`."""
    found = np.zeros(len(hashes), np.uint8)
    order = sorted(range(len(hashes)), key=lambda place: int(hashes[place]) >> (64 - BUCKET_BITS))
    found[order] = answers
    return found


def first_features(
    documents: Documents, frequency: Frequencies, share: float, *, squared: bool
) -> tuple[Places, Places]:
    """The positions of the features by which documents find similar ones, and their documents."""
    offsets, hashes, given = documents
    weights = np.ones(len(hashes)) if given is None else given**2 if squared else given
    found: list[tuple[int, int]] = []
    for document, (begin, end) in enumerate(pairwise(offsets.tolist())):
        places = sorted(range(begin, end), key=lambda place: (frequency[place], place))
        total = sum(weights[place] for place in places)
        shared = sum(weights[place] for place in places if frequency[place] > 1)
        if shared <= 0 or shared < share * total * (1 - _SLACK):
            continue
        passed = 0.0
        for place in places:
            if passed <= (1 - share + _SLACK) * total and frequency[place] > 1:
                found.append((place, document))
            passed += weights[place]
    found.sort()
    both = np.array(found, np.int64).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


def link_alike(
    values: NDArray[np.uint64], sizes: NDArray[np.float64], documents: Places, ratio: float
) -> Linked:
    """Link documents that share a value, if their sizes are alike."""
    rows = sorted(zip(values.tolist(), sizes.tolist(), documents.tolist(), strict=True))
    links = [
        (one[2], other[2])
        for one, other in pairwise(rows)
        if one[0] == other[0] and one[2] != other[2] and one[1] >= ratio * other[1]
    ]
    first = {document: document for link in links for document in link}
    for _ in first:
        for a, b in links:
            first[a] = first[b] = min(first[a], first[b])
    linked = np.array(sorted(first), np.int64)
    posting = {document: place for place, document in enumerate(documents.tolist())}
    return Linked(
        linked,
        np.array([first[document] for document in linked.tolist()], np.int64),
        np.array([posting[document] for document in linked.tolist()], np.int64),
        len(links),
    )
