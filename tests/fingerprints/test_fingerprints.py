"""Fingerprints as a sequence: indexing, bits, hexadecimal digits."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import neardup as nd
from neardup.errors import SettingError
from neardup.kernels.reference import text as reference

TEXTS = [f"the {i}th of some documents about {i * i}" for i in range(20)] + ["", "?"]
WIDTHS = [1, 4, 7, 8, 9, 42, 63, 64, 65, 127, 128, 129, 512, 4096]


@pytest.mark.parametrize("bits", WIDTHS)
def test_one_fingerprint_is_a_number_of_so_many_bits(bits):
    fps = nd.fingerprint(TEXTS, bits=bits)
    words = [(text, fps.array[i].tolist()) for i, text in enumerate(TEXTS)]
    for place, (text, row) in enumerate(words):
        value = 0
        for bit in range(bits):
            value = value << 1 | row[bit // 64] >> (63 - bit % 64) & 1
        assert fps[place] == value, text
        padded = value << (-bits % 8)
        assert fps.hex()[place] == f"{padded:0{2 * -(-bits // 8)}x}"
        assert fps.row_bytes()[place].tobytes() == bytes.fromhex(fps.hex()[place])


def test_settings_are_those_of_the_reference():
    for unit, size, weights, bits, tie in [
        ("word", 2, "count", 65, ">0"),
        ("char", 5, "set", 33, ">=0"),
    ]:
        fps = nd.fingerprint(TEXTS, f"{unit}:{size}", weights, bits, "nd1", tie, threads=2)
        recipe = {"unit": unit, "size": size, "distinct": weights == "set", "bits": bits}
        assert fps.array.tolist() == [
            reference.fingerprint(text, **recipe, ties_up=tie == ">=0") for text in TEXTS
        ]


def test_words_and_emptiness():
    fps = nd.fingerprint(["one two", "", "?!", None, "東京"], features="char:2")
    assert fps.words.tolist() == [2, 0, 0, 0, 2]
    assert fps.empty.tolist() == [False, True, True, True, False]
    assert fps.array[fps.empty].tolist() == [[0], [0], [0]]
    assert repr(fps) == "<5 Fingerprints of nd1/char:2/set/64, 3 empty>"


@given(st.integers(-22, 21))
def test_an_integer_gives_one(place):
    fps = nd.fingerprint(TEXTS, bits=100)
    assert fps[place] == fps[np.int64(place)] == fps[np.int8(place)]
    assert fps[place] == fps[list(range(22))[place]]
    assert isinstance(fps[place], int)


@pytest.mark.parametrize("place", [22, -23])
def test_an_integer_outside_is_an_index_error(place):
    with pytest.raises(IndexError):
        nd.fingerprint(TEXTS)[place]


@pytest.mark.parametrize(
    "places",
    [
        slice(None),
        slice(3, 9),
        slice(None, None, -2),
        slice(30, 40),
        [0, 5, 5, -1],
        [],
        np.array([2, 1]),
        np.array([], int),
        np.arange(22) % 3 == 0,
        [i % 2 == 0 for i in range(22)],
    ],
    ids=repr,
)
def test_many_places_give_fewer_fingerprints(places):
    ids = pa.array([f"id{i}" for i in range(22)])
    whole = nd.fingerprint(TEXTS)
    fps = nd.Fingerprints(whole.array, whole.scheme, whole.words, ids)
    index = np.array(places, int) if isinstance(places, list) and not places else places
    kept = np.arange(22)[index]
    some = fps[places]
    assert isinstance(some, nd.Fingerprints)
    assert some.scheme == fps.scheme
    assert some.array.tolist() == fps.array[kept].tolist()
    assert some.words.tolist() == fps.words[kept].tolist()
    assert some.ids.to_pylist() == [f"id{i}" for i in kept]


def test_iteration_gives_every_number():
    fps = nd.fingerprint(TEXTS)
    assert list(fps) == [fps[i] for i in range(len(fps))]


def test_equal_fingerprints_are_equal():
    fps = nd.fingerprint(TEXTS)
    assert fps == nd.fingerprint(TEXTS)
    assert fps != nd.fingerprint(TEXTS, weights="count")
    assert fps != nd.fingerprint(TEXTS, bits=63)
    assert fps != nd.fingerprint(TEXTS[:-1])
    assert fps != "fingerprints"
    zeros = np.zeros((2, 1), np.uint64)
    scheme = fps.scheme
    assert nd.Fingerprints(zeros, scheme, [1, 1]) != nd.Fingerprints(zeros, scheme, [1, 0])


def test_arrays_of_a_wrong_shape_are_refused():
    with pytest.raises(SettingError, match="2 columns"):
        nd.Fingerprints(np.zeros((3, 1), np.uint64), "nd1/word:3/set/65")
    with pytest.raises(SettingError, match="cannot have 2 words"):
        nd.Fingerprints(np.zeros(3, np.uint64), "nd1/word:3/set/64", words=[1, 2])
    with pytest.raises(SettingError, match="cannot have 1 ids"):
        nd.Fingerprints(np.zeros(3, np.uint64), "nd1/word:3/set/64", ids=["a"])


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"features": "words"}, "word:3"),
        ({"weights": "bag"}, "set or count"),
        ({"bits": 0}, "1 to 4096"),
        ({"bits": 4097}, "1 to 4096"),
        ({"bits": 64.0}, "whole number"),
        ({"bits": True}, "whole number"),
        ({"hash": "md6"}, "nd1"),
        ({"tie": "<0"}, ">0 or >=0"),
        ({"threads": 0}, "from 1 to 1,024"),
    ],
    ids=repr,
)
def test_settings_that_cannot_work_are_refused(settings, why):
    with pytest.raises(SettingError, match=why):
        nd.fingerprint(["a"], **settings)
