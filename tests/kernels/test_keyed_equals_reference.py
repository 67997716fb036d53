"""The keyed kernels equal their twin bit for bit, and the twin is SipHash."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings, strategies as st
from tests.kernels.hostile_texts import LONG_KINDS, TEXTS, Recipe, long_text, recipes

from neardup import kernels
from neardup.kernels.hash_key import PRIME, HashKey
from neardup.kernels.reference import text as reference
from neardup.kernels.reference.keyed import KeyedHash, siphash13

ISAS = kernels.available_isas()
KEY = HashKey.derive("test", bytes(range(16)))
WORDS = st.integers(0, 2**64 - 1)
# Bases and keys near the prime, where a carry could be lost.
BASES = st.one_of(st.integers(2, PRIME - 1), st.sampled_from([2, 59, 2**32, PRIME - 2, PRIME - 1]))
KEYS = st.one_of(st.just(KEY), st.builds(HashKey, WORDS, WORDS, BASES, WORDS, WORDS, WORDS, WORDS))


@settings(max_examples=400)
@given(st.lists(TEXTS, max_size=4), recipes(), KEYS)
@example(["", "...", "a", "a b", "İI ıi ẞß"], Recipe("char", 2), KEY)
@example(["0123456 01234567 012345678 " + "x" * 300], Recipe("word", 1), KEY)
def test_fingerprints(texts, recipe, key):
    keyed = KeyedHash(key)
    expected = [reference.fingerprint(text, **recipe.arguments(), keyed=keyed) for text in texts]
    array = pa.array(texts, pa.large_string())
    for isa in ISAS:
        rows, words = kernels.fingerprint(array, **recipe.arguments(), key=key, isa=isa)
        assert rows.tolist() == expected, isa
        assert words.tolist() == [len(reference.words(text)) for text in texts]


@settings(max_examples=200)
@given(
    st.lists(TEXTS, max_size=3),
    st.lists(
        st.tuples(st.sampled_from(["word", "char"]), st.sampled_from([1, 2, 3, 4, 5, 40, 2**31])),
        min_size=1,
        max_size=3,
    ),
    KEYS,
)
def test_features(texts, shingles, key):
    expected = [reference.feature_counts(text, shingles, KeyedHash(key)) for text in texts]
    for isa in ISAS:
        assert counted(texts, shingles, key, isa) == expected, isa


@pytest.mark.parametrize("kind", LONG_KINDS)
@pytest.mark.parametrize("size", [3, 7, 300])
def test_documents_of_many_pieces(kind, size):
    """Windows span pieces, and roll over thousands of units."""
    text = long_text(kind, 20_000, seed=size)
    shingles = [("word", size), ("char", size)]
    expected = quick_counts(text, shingles)
    for isa in ISAS:
        assert counted([text, "one"], shingles, KEY, isa)[0] == expected, isa


def counted(texts, shingles, key, isa):
    array = pa.array(texts, pa.large_string())
    found = kernels.find_features(array, shingles, key=key, isa=isa)
    offsets, hashes, counts, _ = (part.tolist() for part in found)
    return [
        list(zip(hashes[begin:end], counts[begin:end], strict=True))
        for begin, end in pairwise(offsets)
    ]


def quick_counts(text, shingles):
    """The same as `reference.feature_counts`, with each unit hashed once and rolling windows."""
    keyed, found = KeyedHash(KEY), {}
    if not reference.words(text):
        return []
    for unit, size in shingles:
        units = reference.units(text, unit)
        values = {one: keyed.unit_value(one) for one in set(units)}
        size = min(size, len(units))
        leaving, total = pow(KEY.shingle_base, size, PRIME), 0
        for place, one in enumerate(units):
            total = (total * KEY.shingle_base + values[one]) % PRIME
            if place >= size:
                total = (total - leaving * values[units[place - size]]) % PRIME
            if place >= size - 1:
                feature = keyed._finished(total)
                found[feature] = found.get(feature, 0) + 1
    return sorted(found.items())


@pytest.mark.parametrize("bits", [64, 65, 300])
def test_weighted_features_are_widened_with_the_key(bits):
    rng = np.random.default_rng(bits)
    hashes = rng.integers(0, 2**64, 20, np.uint64)
    weights = rng.normal(size=20)
    keyed, mask = KeyedHash(KEY), (1 << bits) - 1
    places = range(-(-bits // 64))
    digests = []
    for feature in hashes.tolist():
        whole = 0
        for place in places:
            whole = whole << 64 | keyed.widen(feature, place)
        digests.append(whole >> (64 * len(places) - bits) & mask)
    expected, _ = reference.weigh(weights.tolist(), digests, bits=bits, ties_up=False)
    for isa in ISAS:
        rows, _ = kernels.weigh_features(
            np.array([0, 20]), hashes, weights, bits=bits, ties_up=False, key=KEY, isa=isa
        )
        found = int.from_bytes(rows[0].astype(">u8").tobytes(), "big")
        assert found >> (64 * len(places) - bits) == expected, isa


def test_a_key_of_the_wrong_size_is_refused():
    with pytest.raises(ValueError, match="seven words"):
        kernels._native.features(
            np.zeros(0, np.uint8),
            np.zeros(1, np.int64),
            shingles=[(True, 1)],
            with_counts=True,
            key=np.zeros(3, np.uint64),
            threads=1,
            isa="auto",
        )


@pytest.mark.skipif(
    sys.hash_info.algorithm != "siphash13", reason="this Python hashes bytes otherwise"
)
def test_units_are_hashed_by_siphash_as_python_hashes_bytes():
    """With PYTHONHASHSEED=0 the interpreter's own key is zero."""
    texts = [bytes(range(size)) for size in range(1, 70)]
    script = f"print([hash(bytes(range(n))) % 2**64 for n in range(1, {len(texts) + 1})])"
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == str([siphash13(0, 0, text) for text in texts])


def thue_morse(units, order):
    """Two sequences of 2^order units with equal counts of each unit, swapped at every place."""
    places = [bin(i).count("1") % 2 for i in range(2**order)]
    return [units[p] for p in places], [units[1 - p] for p in places]


@pytest.mark.parametrize("base", [reference.SHINGLE_BASE, 0x1234567890ABCDEF, 3, 2**64 - 1])
def test_other_constants_would_not_have_been_enough(base):
    """Modulo 2^64 these shingles collide for every odd base and any hash of the units."""
    rng = np.random.default_rng(base % 2**32)
    x, y = (int(value) for value in rng.integers(0, 2**64, 2, np.uint64))
    first, second = thue_morse((x, y), 11)
    totals = []
    for sequence in (first, second):
        total = 0
        for value in sequence:
            total = (total * base + value) & reference.MASK
        totals.append(total)
    assert totals[0] == totals[1]
    assert first != second


def test_a_pair_that_collides_in_nd1_with_any_constants_does_not_with_a_key():
    first, second = (" ".join(units) for units in thue_morse(("cat", "dog"), 11))
    array = pa.array([first, second], pa.large_string())
    _, plain, _ = kernels.find_sets(array, [("word", 2**31 - 1)])
    _, keyed, _ = kernels.find_sets(array, [("word", 2**31 - 1)], key=KEY)
    assert plain[0] == plain[1]
    assert keyed[0] != keyed[1]
