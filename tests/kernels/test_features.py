"""Native features equal their twins: sets with counts, weighted sums, document frequencies."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings, strategies as st
from tests.kernels.hostile_texts import LONG_KINDS, TEXTS, long_text

from neardup import kernels
from neardup.kernels.hash_key import HashKey
from neardup.kernels.reference import text as reference

ISAS = kernels.available_isas()
KINDS = st.tuples(st.sampled_from(["word", "char"]), st.sampled_from([1, 2, 3, 5, 40, 2**31 - 1]))


def native(texts, shingles, isa="auto", threads=1):
    array = pa.array(texts, pa.large_string())
    found = kernels.find_features(array, shingles, isa=isa, threads=threads)
    offsets, hashes, counts, words = (part.tolist() for part in found)
    rows = [
        list(zip(hashes[begin:end], counts[begin:end], strict=True))
        for begin, end in pairwise(offsets)
    ]
    return rows, words


def twin(texts, shingles):
    rows = [reference.feature_counts(text, shingles) for text in texts]
    return rows, [len(reference.words(text)) for text in texts]


@settings(max_examples=300)
@given(st.lists(TEXTS, max_size=4), st.lists(KINDS, min_size=1, max_size=3))
@example(["", "...", "a"], [("word", 1), ("word", 3)])
@example(["a b a b a"], [("word", 1), ("char", 1), ("word", 2)])
def test_native_equals_reference(texts, shingles):
    expected = twin(texts, shingles)
    for isa in ISAS:
        assert native(texts, shingles, isa) == expected, isa


@pytest.mark.parametrize("kind", LONG_KINDS)
def test_documents_of_many_pieces(kind):
    """A text longer than one compaction, among other documents of its batch."""
    texts = [long_text(kind, 60_000, seed=0), "one two", long_text(kind, 20_000, seed=1)]
    shingles = [("word", 2), ("char", 3)]
    expected = native(texts, shingles, "portable")
    for text, row in zip(texts, expected[0], strict=True):
        assert row == reference.feature_counts(text, shingles)
    for isa in ISAS:
        assert native(texts, shingles, isa, threads=3) == expected


def test_more_features_than_are_sorted_at_once():
    rng = np.random.default_rng(5)
    words = rng.integers(0, 400_000, 2_500_000)
    text = " ".join(map(str, words.tolist()))
    (row,), (count,) = native([text], [("word", 1)])
    counted = Counter(words.tolist())
    assert count == len(words)
    assert len(row) == len(counted)
    assert sorted(n for _, n in row) == sorted(counted.values())
    known = dict(row)
    some = list(counted)[:200]
    assert [known[reference.feature_hash([str(w)])] for w in some] == [counted[w] for w in some]


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 2**64 - 1), st.floats(-1e9, 1e9)), max_size=9)),
    st.sampled_from([1, 42, 64, 65, 128, 300]),
    st.booleans(),
)
def test_weighted_features_equal_their_twin(documents, bits, ties_up):
    flat = [pair for document in documents for pair in document]
    expected = []
    for document in documents:
        digests = [
            int(
                "".join(f"{reference.widen(f, place):064b}" for place in range(-(-bits // 64)))[
                    :bits
                ],
                2,
            )
            for f, _ in document
        ]
        weights = [weight for _, weight in document]
        expected.append(reference.weigh(weights, digests, bits=bits, ties_up=ties_up))
    for isa in ISAS:
        rows, sums = kernels.weigh_features(
            np.cumsum([0, *map(len, documents)]).astype(np.int64),
            np.array([feature for feature, _ in flat], np.uint64),
            np.array([weight for _, weight in flat], np.float64),
            bits=bits,
            ties_up=ties_up,
            with_sums=True,
            isa=isa,
        )
        for row, found, (fingerprint, twin_sums) in zip(rows, sums, expected, strict=True):
            number = int.from_bytes(row.astype(">u8").tobytes(), "big")
            assert number >> (64 * len(row) - bits) == fingerprint
            assert found.tolist() == twin_sums


@given(
    st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=150), max_size=4),
    st.sampled_from([1, 42, 64, 65, 128, 300]),
    st.booleans(),
    st.sampled_from([None, HashKey.derive("test", bytes(range(16)))]),
)
def test_features_without_weights_count_once_each(documents, bits, ties_up, key):
    offsets = np.cumsum([0, *map(len, documents)]).astype(np.int64)
    hashes = np.array([feature for document in documents for feature in document], np.uint64)
    for isa in ISAS:
        found, expected = (
            kernels.weigh_features(
                offsets, hashes, weights, bits=bits, ties_up=ties_up, key=key, isa=isa
            )[0]
            for weights in (None, np.ones(len(hashes)))
        )
        assert np.array_equal(found, expected), isa


@given(st.lists(st.lists(st.integers(0, 2**64 - 1), max_size=30), max_size=10))
@example([[0, 0, 2**64 - 1], [0]])
def test_document_frequencies(batches):
    counts, expected = kernels.FeatureCounts(1000), Counter()
    for batch in batches:
        counts.add(np.array(batch, np.uint64))
        expected.update(batch)
    wanted = np.array([*expected, 12345], np.uint64)
    assert counts.look_up(wanted).tolist() == [*expected.values(), expected[12345]]
    hashes, numbers = counts.items(2)
    often = sorted((h, n) for h, n in expected.items() if n > 1)
    assert list(zip(hashes.tolist(), numbers.tolist(), strict=True)) == often
    again = kernels.FeatureCounts(1000)
    again.set(hashes, numbers)
    assert again.look_up(hashes).tolist() == numbers.tolist()


def in_order(documents, isa="auto", threads=1):
    sizes = [len(document) for document in documents]
    flat = [item for document in documents for item in document]
    found = kernels.order_features(
        np.cumsum([0, *sizes]).astype(np.int64),
        np.array([feature for feature, _ in flat], np.uint64),
        np.array([weight for _, weight in flat], np.float64),
        isa=isa,
        threads=threads,
    )
    offsets, hashes, weights = (part.tolist() for part in found)
    items = list(zip(hashes, weights, strict=True))
    return [items[begin:end] for begin, end in pairwise(offsets)]


def twin_order(documents):
    return [
        reference.ordered_features(*zip(*items, strict=True)) if items else []
        for items in documents
    ]


# Few different ones, those that share their leading bits, and any.
FEATURES = st.one_of(
    st.integers(0, 5), st.integers(2**64 - 5, 2**64 - 1), st.integers(0, 2**64 - 1)
)
WEIGHTS = st.one_of(st.sampled_from([0.1, 1e16, -1e16, 0.0]), st.floats(-1e9, 1e9))


@settings(max_examples=300)
@given(st.lists(st.lists(st.tuples(FEATURES, WEIGHTS), max_size=60), max_size=5))
@example([[(7, 0.1), (7, 1e16), (3, 1.0), (7, -1e16)], [], [(2**64 - 1, 2.0), (0, 1.0)]])
def test_features_are_put_in_order(documents):
    expected = twin_order(documents)
    for isa in ISAS:
        assert in_order(documents, isa) == expected, isa


@pytest.mark.parametrize("shift", [0, 40])
def test_many_features_are_put_in_order(shift):
    """More than the 65,535 that are sorted at once; shifted, all have the same leading bits."""
    rng = np.random.default_rng(shift)
    documents = [
        list(
            zip(
                (hashes >> np.uint64(shift)).tolist(), rng.random(len(hashes)).tolist(), strict=True
            )
        )
        for hashes in (rng.integers(0, 2**64, size, np.uint64) for size in (70_000, 3, 0, 900))
    ]
    documents[0] += documents[0][::7]
    expected = twin_order(documents)
    for threads in (1, 3):
        assert in_order(documents, threads=threads) == expected


def test_features_before_the_first_offset_are_left_out():
    found = kernels.order_features(
        np.array([2, 4, 5]), np.array([9, 8, 7, 6, 7, 1], np.uint64), np.arange(6.0)
    )
    assert [part.tolist() for part in found] == [[0, 2, 3], [6, 7, 7], [3.0, 2.0, 4.0]]


@pytest.mark.parametrize(
    "arguments",
    [
        ([0, 2], [1], [1.0]),
        ([0, 1], [1], [1.0, 2.0]),
        ([1, 0], [1], [1.0]),
        ([], [], []),
        ([-1, 1], [1], [1.0]),
    ],
)
def test_features_that_do_not_fit_are_not_put_in_order(arguments):
    offsets, hashes, weights = arguments
    with pytest.raises(ValueError, match=r"offset|weight|outside"):
        kernels.order_features(
            np.array(offsets, np.int64),
            np.array(hashes, np.uint64),
            np.array(weights, np.float64),
        )


@pytest.mark.parametrize(
    "arguments",
    [
        ([0, 2], [1], [1.0]),
        ([0, 1], [1], [1.0, 2.0]),
        ([0, 1], [1], [float("nan")]),
        ([1, 0], [1], [1.0]),
        ([], [], []),
        ([-1, 1], [1], [1.0]),
    ],
)
def test_columns_that_do_not_fit_are_refused(arguments):
    offsets, hashes, weights = arguments
    with pytest.raises(ValueError, match=r"offset|weight|outside"):
        kernels.weigh_features(
            np.array(offsets, np.int64),
            np.array(hashes, np.uint64),
            np.array(weights, np.float64),
            bits=64,
            ties_up=False,
        )


def test_shingles_of_nothing_are_refused():
    with pytest.raises(ValueError, match="at least one unit"):
        kernels.find_features(pa.array(["a"]), [("word", 0)])


def test_hashes_chosen_for_one_stretch_of_a_table_are_counted():
    """A table indexed by the low bits would scan all of them for each lookup."""
    rng = np.random.default_rng(7)
    crowded = rng.permutation(400_000).astype(np.uint64) << np.uint64(32) | np.uint64(5)
    counts = kernels.FeatureCounts(1 << 22)
    for _ in range(3):
        counts.add(crowded)
    hashes, found = counts.items(1)
    assert np.array_equal(hashes, np.sort(crowded))
    assert (found == 3).all()
    assert (counts.look_up(crowded) == 3).all()
