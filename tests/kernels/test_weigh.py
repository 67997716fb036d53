"""Weighted sums: the kernel equals its twin, in any order and on any instruction set."""

import random

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from neardup import kernels
from neardup.kernels.reference import text as reference

ISAS = kernels.available_isas()
FINITE = st.floats(
    allow_nan=False, allow_infinity=False, width=64, min_value=-1e300, max_value=1e300
)


@st.composite
def documents(draw):
    bits = draw(st.sampled_from([1, 7, 42, 63, 64, 65, 128, 130]))
    digests = draw(st.lists(st.integers(0, 2**bits - 1), min_size=1, max_size=8))
    term = st.tuples(st.integers(0, len(digests) - 1), FINITE)
    return bits, digests, draw(st.lists(st.lists(term, max_size=12), max_size=4))


def rows_of(digests, bits):
    """Numbers of `bits` bits as rows of 64-bit words; bit 0 is the most significant."""
    size = 8 * -(-bits // 64)
    data = b"".join((digest << (8 * size - bits)).to_bytes(size, "big") for digest in digests)
    return np.frombuffer(data, ">u8").reshape(len(digests), -1).astype(np.uint64)


def number_of(row, bits):
    return int.from_bytes(row.astype(">u8").tobytes(), "big") >> (64 * len(row) - bits)


def native(bits, digests, texts, ties_up, isa="auto", threads=1):
    flat = [term for text in texts for term in text]
    found, sums = kernels.weigh(
        np.cumsum([0, *map(len, texts)]).astype(np.int64),
        np.array([place for place, _ in flat], np.int32),
        np.array([weight for _, weight in flat], np.float64),
        rows_of(digests, bits),
        bits=bits,
        ties_up=ties_up,
        with_sums=True,
        threads=threads,
        isa=isa,
    )
    return [number_of(row, bits) for row in found], sums.tolist()


def twin(bits, digests, texts, ties_up):
    results = []
    for text in texts:
        weights, terms = [weight for _, weight in text], [digests[place] for place, _ in text]
        results.append(reference.weigh(weights, terms, bits=bits, ties_up=ties_up))
    return [fingerprint for fingerprint, _ in results], [sums for _, sums in results]


@given(documents(), st.booleans())
@example((4, [0b1111, 0b1001], [[(0, 0.4), (1, 1.2)], []]), False)
@example((1, [1, 0], [[(0, 5e-324), (1, 5e-324)], [(0, -1e300), (1, 1e300)]]), True)
def test_native_equals_reference(document, ties_up):
    bits, digests, texts = document
    expected = twin(bits, digests, texts, ties_up)
    for isa in ISAS:
        assert native(bits, digests, texts, ties_up, isa) == expected, isa


def test_the_order_of_terms_and_the_threads_do_not_matter():
    chance = random.Random(7)
    digests = [chance.getrandbits(64) for _ in range(500)]
    texts = [
        [(chance.randrange(500), chance.lognormvariate(0, 3)) for _ in range(chance.randrange(300))]
        for _ in range(400)
    ]
    expected = native(64, digests, texts, False)
    shuffled = [chance.sample(text, len(text)) for text in texts]
    assert native(64, digests, shuffled, False) == expected
    assert native(64, digests, texts, False, threads=5) == expected


def test_a_document_has_the_same_bits_in_any_company():
    alone = native(64, [12345, 2**63], [[(0, 1e-9), (1, 2e-9)]], False)
    among = native(64, [12345, 2**63], [[(0, 1e9)], [(0, 1e-9), (1, 2e-9)]], False)
    assert among[0][1] == alone[0][0]


@pytest.mark.parametrize(
    ("offsets", "places", "weights", "said"),
    [
        ([0, 2], [0, 9], [1.0, 1.0], "no digest"),
        ([0, 2], [0, -1], [1.0, 1.0], "no digest"),
        ([0, 2], [0, 0], [1.0, float("nan")], "not finite"),
        ([0, 3], [0, 0], [1.0, 1.0], "outside"),
        ([1, 0], [0, 0], [1.0, 1.0], "decrease"),
        ([0, 2], [0, 0], [1.0], "its weight"),
    ],
)
def test_what_is_out_of_range_is_refused(offsets, places, weights, said):
    with pytest.raises(ValueError, match=said):
        kernels.weigh(
            np.array(offsets, np.int64),
            np.array(places, np.int32),
            np.array(weights),
            np.zeros((1, 1), np.uint64),
            bits=64,
            ties_up=False,
        )
