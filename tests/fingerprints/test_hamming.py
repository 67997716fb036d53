from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

import neardup as nd
from neardup.errors import SettingError

NUMBERS = st.integers(0, 2**200)


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        (851459198, 847263864, 4),
        (851459198, 984968088, 16),
        (847263864, 984968088, 12),
        (0b1011101, 0b1001001, 2),
        (0, 2**4096 - 1, 4096),
        (7, 7, 0),
    ],
)
def test_known_distances(a, b, distance):
    assert nd.hamming(a, b) == nd.hamming(b, a) == distance


@given(NUMBERS, NUMBERS, NUMBERS)
def test_it_is_a_metric(a, b, c):
    assert nd.hamming(a, a) == 0
    assert nd.hamming(a, b) == nd.hamming(b, a) == bin(a ^ b).count("1")
    assert nd.hamming(a, c) <= nd.hamming(a, b) + nd.hamming(b, c)


UNSIGNED = st.sampled_from([np.uint8, np.uint16, np.uint32, np.uint64])


@given(UNSIGNED.flatmap(lambda kind: hnp.arrays(kind, (2, 7))))
def test_items_of_arrays(rows):
    expected = [bin(int(a) ^ int(b)).count("1") for a, b in rows.T]
    assert nd.hamming(rows[0], rows[1]).tolist() == expected


@given(hnp.arrays(np.uint64, (2, 5, 3)))
def test_rows_of_arrays(both):
    a, b = both
    expected = [sum(bin(word).count("1") for word in row) for row in (a ^ b).tolist()]
    assert nd.hamming(a, b).tolist() == expected
    assert nd.hamming(a[:, None], b[None]).shape == (5, 5)
    assert nd.hamming(a[:, None], b[None]).diagonal().tolist() == expected


TEXTS = ["one two three four", "one two three five", "something else entirely", "", "!"]


@pytest.mark.parametrize("bits", [1, 42, 64, 65, 512])
def test_fingerprints(bits):
    fps = nd.fingerprint(TEXTS, bits=bits)
    numbers = list(fps)
    found = nd.hamming(fps, fps[[1, 2, 0, 0, 3]])
    expected = [nd.hamming(numbers[a], numbers[b]) for a, b in [(0, 1), (1, 2), (2, 0)]]
    assert found.tolist() == [*expected, bits + 1, bits + 1]
    assert nd.hamming(fps, fps).tolist() == [0, 0, 0, bits + 1, bits + 1]
    one = [nd.hamming(numbers[0], number) for number in numbers[:3]] + [bits + 1] * 2
    assert nd.hamming(fps, fps[:1]).tolist() == one
    assert nd.hamming(fps, numbers[0]).tolist() == nd.hamming(numbers[0], fps).tolist() == one
    assert nd.hamming(fps, fps.array[:1]).tolist() == one


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (-1, 1),
        (1, -1),
        (1.5, 2),
        ("a", 1),
        (np.array([-1]), np.array([1])),
        (np.array([0.5]), np.array([0.5])),
        (2**64, np.array([1], np.uint64)),
    ],
    ids=repr,
)
def test_what_is_no_fingerprint_is_refused(a, b):
    with pytest.raises(SettingError):
        nd.hamming(a, b)


def test_numbers_and_rows_of_another_width_are_refused():
    fps = nd.fingerprint(TEXTS, bits=42)
    for other in (2**42, -1):
        with pytest.raises(SettingError, match="42 bits"):
            nd.hamming(fps, other)
    wide = nd.fingerprint(TEXTS, bits=128)
    for ours, rows in ((fps, wide.array), (wide, fps.array), (wide, fps.array[:, 0])):
        with pytest.raises(SettingError):
            nd.hamming(ours, rows)


def test_items_and_rows_do_not_mix():
    """NumPy would broadcast them to a table and sum the wrong way."""
    with pytest.raises(SettingError):
        nd.hamming(np.zeros(3, np.uint64), np.ones((3, 1), np.uint64))
