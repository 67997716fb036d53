"""Bytes that are not text, invalid columns, and the set of ids."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from tests.kernels.hostile_texts import TEXTS, Recipe, recipes

from neardup import kernels
from neardup.kernels import _native
from neardup.kernels.hash_key import NO_KEY

# Lead bytes without continuation, continuations without lead byte, overlong forms.
BROKEN = [b"\x80", b"\xbf", b"\xc1", b"\xc3", b"\xd0", b"\xd1\xd0", b"\xe4\xb8", b"\xf0\x9f\x98"]
BROKEN += [
    b"\xe1\x80\t",
    b"\xf1\x80\x80\n",
    b"\xe0\x88\xba",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xf8\x88",
    b"\xff",
    b"\xc8",
]
_piece = st.one_of(
    st.binary(max_size=20),
    TEXTS.map(str.encode),
    st.builds(lambda part, n: part * n, st.sampled_from(BROKEN), st.integers(1, 200)),
)
BYTES = st.lists(_piece, max_size=6).map(b"".join)


def fingerprint(documents, recipe, isa="auto", threads=1):
    """Pass documents in memory that ends right after the last one."""
    offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    data = np.frombuffer(b"".join(documents), np.uint8).copy()
    rows, words = _native.fingerprint(
        data,
        offsets,
        words=recipe.unit == "word",
        size=recipe.size,
        distinct=recipe.distinct,
        bits=recipe.bits,
        ties_up=recipe.ties_up,
        key=NO_KEY,
        threads=threads,
        isa=isa,
    )
    return rows.tolist(), words.tolist()


@settings(max_examples=400)
@given(st.lists(BYTES, max_size=4), recipes())
def test_bytes_that_are_no_text_do_no_harm(documents, recipe):
    """The result is unspecified, but equal for every instruction set."""
    expected = fingerprint(documents, recipe, "portable")
    for isa in kernels.available_isas():
        assert fingerprint(documents, recipe, isa) == expected
    assert fingerprint(documents, recipe, threads=3) == expected


@settings(max_examples=30)
@given(
    st.one_of(st.sampled_from(BROKEN), st.binary(min_size=1, max_size=6)), recipes((1, 3), (64,))
)
def test_long_bytes_that_are_no_text_do_no_harm(part, recipe):
    """Documents each a little longer than the last, in reused buffers."""
    documents = [part * n for n in (40, 60, 90, 135, 200, 3000, 4500, 6000, 9000)]
    expected = fingerprint(documents, recipe, "portable")
    for isa in kernels.available_isas():
        assert fingerprint(documents, recipe, isa) == expected


@pytest.mark.parametrize("unit", ["word", "char"])
@pytest.mark.parametrize("filler", ["a", "Ж", "中", "é", "\U0001f600"])
def test_bytes_that_are_no_text_at_every_place_in_a_block(filler, unit):
    least = 64 // len(filler.encode()) - 6
    documents = [
        filler.encode() * n + part + tail
        for part in BROKEN
        for n in range(least, least + 8)
        for tail in (b"", b"b", b"\xc2 \xa0", filler.encode() * 70)
    ]
    # One feature, so that no majority hides a difference.
    recipe = Recipe(unit, 1000)
    expected = fingerprint(documents, recipe, "portable")
    for isa in kernels.available_isas():
        assert fingerprint(documents, recipe, isa) == expected, isa


def native_call(data, offsets, isa="auto"):
    return _native.fingerprint(
        np.frombuffer(data, np.uint8),
        np.array(offsets, np.int64),
        words=True,
        size=1,
        distinct=True,
        bits=64,
        ties_up=False,
        key=NO_KEY,
        threads=1,
        isa=isa,
    )


@pytest.mark.parametrize(
    ("offsets", "why"),
    [
        ([], "at least one offset"),
        ([0, 3, 2], "must not decrease"),
        ([3, 2], "must not decrease"),
        ([0, 9], "outside"),
        ([9, 9], "outside"),
        ([-1, 2], "outside"),
        ([0, 2**62], "outside"),
        ([-(2**63), 2], "outside"),
    ],
)
def test_offsets_outside_the_data_are_refused(offsets, why):
    with pytest.raises(ValueError, match=why):
        native_call(b"abcdefgh", offsets)
    with pytest.raises(ValueError, match=why):
        _native.IdSet().add(
            np.frombuffer(b"abcdefgh", np.uint8),
            np.array(offsets, np.int64),
            np.zeros(max(len(offsets) - 1, 0), np.int64),
        )


def test_offsets_inside_the_data_are_taken():
    assert [part.tolist() for part in native_call(b"", [0])] == [[], []]
    assert native_call(b"a b c d", [2, 3, 3, 7])[1].tolist() == [1, 0, 2]


def test_an_unknown_instruction_set_is_refused():
    with pytest.raises(ValueError, match="8086"):
        native_call(b"a", [0, 1], isa="8086")


def test_arrays_of_another_shape_are_refused():
    with pytest.raises(TypeError):
        _native.IdSet().add(
            np.zeros((2, 4), np.uint8), np.zeros(2, np.int64), np.zeros(1, np.int64)
        )


def test_arrays_with_gaps_and_short_offsets_are_copied_first():
    spread = np.frombuffer(b"a-b- -c-", np.uint8)[::2]
    ids = _native.IdSet()
    assert ids.add(spread, np.array([0, 2, 4], np.int32), np.arange(2)) is None
    packed = np.frombuffer(b"ab c", np.uint8)
    assert ids.add(packed, np.array([2, 4], np.int64), np.arange(1)) == (0, 1)


IDS = st.one_of(
    st.text(max_size=3),
    st.text("ab\0", max_size=100),
    st.integers(0, 300).map(str),
    st.builds("x".__mul__, st.integers(0, 100)),
)


@settings(max_examples=200)
@given(st.lists(st.lists(IDS, max_size=30), max_size=6), st.integers(0, 2**47))
def test_ids_are_found_again_like_in_a_dict(columns, first_place):
    ids, known, place = kernels.IdSet(), {}, first_place
    for column in columns:
        places = np.arange(place, place + len(column))
        place += len(column)
        expected = None
        for position, name in enumerate(column):
            if name in known:
                expected = (position, known[name])
                break
            known[name] = int(places[position])
        assert ids.add(pa.array(column, pa.string()), places) == expected
        assert len(ids) == len(known)


def test_every_prefix_is_another_id():
    ids = kernels.IdSet()
    names = [("ab" * 50)[:n] for n in range(101)]
    names += [name + "\0" for name in names]
    assert ids.add(pa.array(names), np.arange(len(names))) is None
    for place, name in enumerate(names):
        assert ids.add(pa.array([name]), np.array([0])) == (0, place)


def test_many_ids_are_all_kept_while_the_set_grows():
    ids = kernels.IdSet()
    count = 150_000
    for first in range(0, count, 30_000):
        places = np.arange(first, first + 30_000)
        assert ids.add(pa.array(places), places) is None
    assert len(ids) == count
    for place in (*range(0, count, 5_003), count - 1):
        assert ids.add(pa.array([place]), np.array([0])) == (0, place)
    assert ids.add(pa.array([-1, count, 7]), np.arange(3)) == (2, 7)


def test_whole_numbers_are_the_ids_they_are_written_as():
    ids = kernels.IdSet()
    assert ids.add(pa.array([1, 10, 100, -1], pa.int64()), np.arange(4)) is None
    assert ids.add(pa.array(["01", "100"]), np.arange(4, 6)) == (1, 2)


def test_a_slice_of_ids_is_only_the_slice():
    ids = kernels.IdSet()
    assert ids.add(pa.array(["a", "b", "a", "c"])[1:3], np.arange(2)) is None
    assert len(ids) == 2


def test_every_id_needs_a_place():
    with pytest.raises(ValueError, match="place"):
        kernels.IdSet().add(pa.array(["a", "b"]), np.arange(1))
