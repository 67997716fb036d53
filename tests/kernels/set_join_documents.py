"""Small and large collections of similar documents."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st


def packed(documents):
    """Mappings from a feature to its weight, as offsets, hashes and weights."""
    offsets = np.cumsum([0, *(len(document) for document in documents)]).astype(np.int64)
    items = [item for document in documents for item in sorted(document.items())]
    hashes = np.array([key for key, _ in items], np.uint64)
    return offsets, hashes, np.array([weight for _, weight in items], np.float64)


# Weights of different magnitudes, including some whose sums lie halfway between two doubles.
weights = st.one_of(
    st.sampled_from([0.0, 1.0, 2.0, 3.0, 0.1, 0.2, 0.7, 1e-100, 1e100, 2.0**-53, 1 + 2.0**-52]),
    st.integers(1, 9).map(float),
    st.floats(1e-3, 1e3),
)
features = st.one_of(
    st.integers(0, 12), st.integers(2**64 - 4, 2**64 - 1), st.integers(0, 2**64 - 1)
)


@st.composite
def collections(draw, weighted):
    """Up to twenty documents, most of them edits of earlier ones, some equal or empty."""
    values = weights if weighted else st.just(1.0)
    documents = []
    for _ in range(draw(st.integers(0, 20))):
        if documents and draw(st.booleans()):
            document = dict(draw(st.sampled_from(documents)))
            for key in draw(st.sets(features, max_size=3)):
                document.pop(key, None)
            document |= draw(st.dictionaries(features, values, max_size=2))
        else:
            document = draw(st.dictionaries(features, values, max_size=15))
        documents.append(document)
    return documents


def planted(random, count, size, share, most_edits, pool=None):
    """Random sets of about `size` features; a share of them are edits of others."""
    hashes, sizes = [], []
    for place in range(count):
        if place and random.random() < share:
            document = hashes[random.integers(0, place)].copy()
            edits = random.integers(0, most_edits + 1)
            document[random.integers(0, len(document), edits)] = draw_hashes(random, edits, pool)
        else:
            document = draw_hashes(random, size + int(random.integers(-size // 4, size // 4)), pool)
        document = np.unique(document)
        hashes.append(document)
        sizes.append(len(document))
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return offsets, np.concatenate(hashes)


def draw_hashes(random, count, pool):
    """Any hashes, or hashes of a pool, the smaller ones more often, like words of a language."""
    if pool is None:
        return random.integers(0, 2**64, count, dtype=np.uint64)
    return (pool * random.random(count) ** 3).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
