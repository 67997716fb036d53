"""Is it UTF-8? Python's own decoder is the oracle."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup import kernels
from neardup.kernels import _native

ISAS = kernels.available_isas()
BORDER_BYTES = [
    *(0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF),
    *(0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFF),
]


def decodes(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def checked(data: bytes, isa: str, offsets=None) -> bool:
    """Check bytes that lie alone in memory, so that reading past them would be reading garbage."""
    array = np.frombuffer(bytearray(data), np.uint8)
    places = np.array([0, len(data)] if offsets is None else offsets, np.int64)
    return _native.is_utf8(array, places, isa=isa)


@pytest.mark.parametrize("isa", ISAS)
def test_every_pair_and_triple_of_border_bytes_at_every_place(isa):
    sequences = [bytes([a, b, c]) for a in BORDER_BYTES for b in BORDER_BYTES for c in BORDER_BYTES]
    for before in (0, 28, 29, 30, 31, 32, 61, 62, 63):
        for sequence in sequences:
            data = b"a" * before + sequence
            assert checked(data, isa) == decodes(data), data


@pytest.mark.parametrize("isa", ISAS)
def test_every_sequence_of_four_behind_a_long_lead(isa):
    for lead in (0xE0, 0xED, 0xF0, 0xF4, 0xF5):
        for second in BORDER_BYTES:
            for third in BORDER_BYTES:
                for fourth in (0x41, 0x80, 0xBF, 0xC2):
                    data = b"x" * 30 + bytes([lead, second, third, fourth]) + b"y" * 30
                    assert checked(data, isa) == decodes(data), data


@given(st.lists(st.one_of(st.text().map(str.encode), st.binary(max_size=3)), max_size=20))
@example([b"\xf0\x9f\x98"])
@example([b"a" * 31 + b"\xc3"])
@example([b"a" * 32 + b"\xa9"])
def test_any_bytes(parts):
    data = b"".join(parts)
    for isa in ISAS:
        assert checked(data, isa) == decodes(data), isa


@given(st.text(), st.lists(st.integers(0, 400), max_size=5))
def test_each_text_of_a_column_counts_for_itself(text, cuts):
    data = text.encode()
    offsets = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    parts = [data[a:b] for a, b in zip(offsets, offsets[1:], strict=False)]
    for isa in ISAS:
        assert checked(data, isa, offsets) == all(map(decodes, parts)), isa


def test_what_lies_outside_a_slice_does_not_count():
    bad = pa.array([b"\xff", b"fine", b"\xff"], pa.binary()).view(pa.string())
    assert not kernels.is_utf8(bad)
    assert kernels.is_utf8(bad.slice(1, 1))
    assert kernels.is_utf8(bad.slice(1, 0))
