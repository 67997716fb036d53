"""Sets of features for an index, as its kernels take them and as the twin takes them."""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np

from neardup.kernels.reference import set_index as twin
from neardup.kernels.set_index import NEVER, NO_NUMBER, SetDocuments, SetPlan

# Documents are mappings from a feature to its weight; without weights, each weighs 1.
COMMON = np.arange(1, 40, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def plan_of(measure="jaccard", *, threshold, bands=0, minima=0, weighted=False):
    return SetPlan(measure, weighted=weighted, threshold=threshold, bands=bands, minima=minima)


def arrays(documents, weighted):
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.int64)
    ordered = [sorted(document) for document in documents]
    hashes = np.array(list(chain.from_iterable(ordered)), np.uint64)
    if not weighted:
        return offsets, hashes, None
    pairs = zip(documents, ordered, strict=True)
    weights = [document[key] for document, keys in pairs for key in keys]
    return offsets, hashes, np.array(weights, np.float64)


def native(plan, documents, threads=1):
    return SetDocuments(plan, *arrays(documents, plan.weighted), threads=threads)


def known(plan, document, number=NO_NUMBER, **when):
    """The same document for the twin."""
    _, hashes, weights = arrays([document], plan.weighted)
    features = hashes if plan.weighted else twin.short_features(hashes)
    return twin.SetDocument(number, features, weights, **when)


def block(plan, documents, numbers, expires=None, shift=0):
    """Records as an index stores them, with `shift` bytes of something else in front."""
    starts, stored = native(plan, documents).stored()
    first = numbers[0] if len(numbers) else 0
    parts = [
        bytes(shift),
        (np.array(numbers, np.uint64) - np.uint64(first)).astype(np.uint32).tobytes(),
        b"" if expires is None else np.array(expires, np.int64).tobytes(),
        starts.astype(np.uint32).tobytes(),
    ]
    at = np.cumsum([0, *map(len, parts)]).tolist()
    data = np.frombuffer(b"".join([*parts, stored.tobytes()]), np.uint8)
    return data, first, len(documents), at[1], 0 if expires is None else at[2], at[3], at[4]


def edited(random, document, share, draw):
    """The document with about a share of its features replaced by others."""
    kept = {key: weight for key, weight in document.items() if random.random() >= share}
    return kept | draw(len(document) - len(kept))


def collection(random, weighted, count, family=0):
    """Documents of very different sizes, many of them edits of others, some equal or empty.

    Some features are common, and some differ in their lower half only. The last `family` documents
    share about 60 % of their features with each other.
    """

    def draw(size):
        if not size:
            return {}
        hashes = random.integers(0, 2**64, size, np.uint64)
        kind = random.random(size)
        hashes = np.where(kind < 0.1, random.choice(COMMON, size), hashes)
        hashes = np.where(kind > 0.95, COMMON[0] + np.arange(size).astype(np.uint64), hashes)
        weights = random.choice([0.0, 1.0, 2.0, 3.0, 0.1, 0.7, 1e-3, 40.0], size)
        weights = np.where(random.random(size) < 0.3, random.random(size) + 1e-6, weights)
        return dict(
            zip(hashes.tolist(), (weights if weighted else np.ones(size)).tolist(), strict=True)
        )

    documents = []
    for _ in range(count):
        kind = random.random()
        if documents and kind < 0.55:
            other = documents[random.integers(len(documents))]
            documents.append(edited(random, other, random.choice([0, 0.03, 0.1, 0.3]), draw))
        else:
            documents.append(draw(int(random.choice([0, 1, 2, 3, 7, 20, 41, 90]))))
    template = draw(60)
    documents += [edited(random, template, 0.13, draw) for _ in range(family)]
    return documents


def matches(found):
    """What `SetView.search` found, as a list of (number, similarity) for each document."""
    offsets, numbers, similarities = (part.tolist() for part in found)
    pairs = list(zip(numbers, similarities, strict=True))
    return [pairs[begin:end] for begin, end in pairwise(offsets)]


def expiries(random, count, now):
    """None, or times of which some have come."""
    if random.random() < 0.5:
        return None
    return random.choice([NEVER, now - 1, now, now + 1], count, p=[0.7, 0.1, 0.1, 0.1]).tolist()
