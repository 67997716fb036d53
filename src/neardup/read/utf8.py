"""UTF-8: which texts of a column are not what they claim to be."""

from __future__ import annotations

import pyarrow as pa

from neardup.kernels import is_utf8


def invalid_texts(texts: pa.Array) -> dict[int, str]:
    """Map the position of every invalid text of a string column to what is wrong with it."""
    if is_utf8(texts):
        return {}
    kind = pa.large_binary() if pa.types.is_large_string(texts.type) else pa.binary()
    found = {}
    for position, value in enumerate(texts.view(kind).to_pylist()):
        fault = None if value is None else invalid_utf8(value)
        if fault:
            found[position] = fault
    return found


def invalid_utf8(value: bytes) -> str | None:
    """Say which byte is the first that is no UTF-8, None if all are."""
    try:
        value.decode()
    except UnicodeDecodeError as error:
        return f"invalid UTF-8, byte 0x{value[error.start]:02x} at offset {error.start}"
    return None
