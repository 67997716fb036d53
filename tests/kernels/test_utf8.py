"""The native check of UTF-8 agrees with Python's decoder, for each string by itself."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from tests.kernels.test_safety import BYTES

from neardup import kernels
from neardup.kernels import _native

ISAS = kernels.available_isas()
# The first and last byte of every range in the definition of UTF-8.
EDGES = bytes.fromhex("00 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 f8 ff")


def is_utf8(documents, isa):
    offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    return _native.is_utf8(np.frombuffer(b"".join(documents), np.uint8).copy(), offsets, isa=isa)


def decodes(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@settings(max_examples=500)
@given(st.lists(BYTES, max_size=3))
def test_any_bytes(documents):
    expected = all(map(decodes, documents))
    for isa in ISAS:
        assert is_utf8(documents, isa) == expected


@pytest.mark.parametrize("isa", ISAS)
def test_every_kind_of_sequence(isa):
    sequences = [bytes(some) for length in (1, 2, 3) for some in product(EDGES, repeat=length)]
    sequences += [
        bytes(some) for some in product(b"\xf0\xf1\xf3\xf4\xf5", EDGES, EDGES, b"\x7f\x80")
    ]
    wrong = [some.hex() for some in sequences if is_utf8([some], isa) != decodes(some)]
    assert wrong == []


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("filler", ["a", "é", "中", "😀"])
def test_at_every_place_in_a_block(filler, isa):
    whole = "é中😀".encode()
    parts = [whole, b"\x80", b"\xc3", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc1\xbf"]
    for size in range(0, 140 // len(filler.encode())):
        before = (filler * size).encode()
        for part in parts:
            for behind in (b"", b"a", filler.encode() * 40):
                text = before + part + behind
                assert is_utf8([text], isa) == decodes(text), (size, part, behind)


@pytest.mark.parametrize("isa", ISAS)
def test_every_string_stands_for_itself(isa):
    """A character split over two strings is invalid, although the joined bytes are valid."""
    assert is_utf8(["é".encode(), "中".encode()], isa)
    assert not is_utf8([b"\xc3", b"\xa9"], isa)
    assert not is_utf8([b"x" * 64 + b"\xe4\xb8", b"\xad" + b"x" * 64], isa)
    assert not is_utf8([b"", b"\xf0", b"", b"\x9f\x98\x80"], isa)


@pytest.mark.parametrize("isa", ISAS)
def test_only_what_belongs_to_the_column_is_looked_at(isa):
    data = np.frombuffer(b"\xffab\xff", np.uint8)
    assert _native.is_utf8(data, np.array([1, 2, 3]), isa=isa)
    assert not _native.is_utf8(data, np.array([1, 4]), isa=isa)
    assert not _native.is_utf8(data, np.array([0, 2]), isa=isa)
    assert kernels.is_utf8(pa.array(["a", "é"])[1:], isa=isa)
    assert kernels.is_utf8(pa.array([], pa.string()), isa=isa)


def test_offsets_outside_the_data_are_refused():
    with pytest.raises(ValueError, match="outside"):
        _native.is_utf8(np.zeros(3, np.uint8), np.array([0, 4]), isa="auto")
