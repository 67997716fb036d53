"""Stored contents of a document besides its fingerprint: its text or its features."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from neardup.features.columns import DocumentColumns, GivenTerms
from neardup.features.spec import TextColumn
from neardup.features.weighted import WeightedFeatures, joined
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.index.disk.damage import DamageError
from neardup.index.settings import IndexSettings

_SIZE = struct.Struct("<I")
_CODEC = "zstd"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def contents_of(
    columns: DocumentColumns, settings: IndexSettings, fingerprinter: Fingerprinter
) -> pa.Array | None:
    """The contents to store, as bytes: texts, or for an index by distance features; else None."""
    if settings.store_text and not isinstance(columns, GivenTerms):
        return pa.array(map(packed_text, columns[0].texts.to_pylist()), pa.large_binary())
    if settings.store_features and settings.sets is None:
        found = fingerprinter.features(columns)
        counts = np.diff(found.offsets).tolist()
        parts = []
        begin = 0
        for count in counts:
            end = begin + count
            part = _SIZE.pack(count) + found.hashes[begin:end].tobytes()
            if found.weights is not None:
                part += found.weights[begin:end].tobytes()
            parts.append(part)
            begin = end
        return pa.array(parts, pa.large_binary())
    return None


def text_of(content: bytes) -> str:
    """The text in stored contents."""
    if len(content) < _SIZE.size:
        raise DamageError("a text is cut off")
    size, packed = _SIZE.unpack_from(content)[0], content[_SIZE.size :]
    # Both give the size; a wrong one must not allocate gigabytes.
    if _unpacked_size(packed) != size:
        raise DamageError("a text is not as it was written")
    try:
        return str(pa.decompress(packed, size, codec=_CODEC, asbytes=True), "utf-8")
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DamageError(f"a text is not as it was written: {error}") from None


def features_of(
    contents: Sequence[bytes], settings: IndexSettings, fingerprinter: Fingerprinter
) -> WeightedFeatures:
    """The features of documents, read or computed from their stored contents."""
    if settings.store_text:
        texts = pa.array(map(text_of, contents), pa.large_string())
        return fingerprinter.features([TextColumn(texts)])
    return joined(list(map(_features, contents)))


def packed_text(text: str | None) -> bytes:
    """A text as stored: its size, and its compressed bytes."""
    data = (text or "").encode()
    return _SIZE.pack(len(data)) + bytes(pa.compress(data, codec=_CODEC, asbytes=True))


def _unpacked_size(frame: bytes) -> int:
    """The content size in a Zstandard frame header (RFC 8878, 3.1.1.1); -1 if absent.

    A single-segment frame has no window byte, and a one-byte size up to 255 bytes.
    """
    if len(frame) < 5 or frame[:4] != _ZSTD_MAGIC:
        return -1
    about = frame[4]
    one_piece, dictionary = bool(about & 0x20), (0, 1, 2, 4)[about & 3]
    width = (1 if one_piece else 0, 2, 4, 8)[about >> 6]
    begin = 5 + (not one_piece) + dictionary
    field = frame[begin : begin + width]
    if not width or len(field) < width:
        return -1
    return int.from_bytes(field, "little") + (256 if width == 2 else 0)


def _features(content: bytes) -> WeightedFeatures:
    count = _SIZE.unpack_from(content)[0] if len(content) >= _SIZE.size else -1
    weighted = len(content) == _SIZE.size + 16 * count and count > 0
    if not weighted and len(content) != _SIZE.size + 8 * count:
        raise DamageError("the features of a document are cut off")
    hashes = np.frombuffer(content, np.uint64, count, _SIZE.size)
    weights = (
        np.frombuffer(content, np.float64, count, _SIZE.size + 8 * count) if weighted else None
    )
    if (hashes[1:] <= hashes[:-1]).any() or (weights is not None and not (weights > 0).all()):
        raise DamageError("the features of a document are not as they were written")
    words = np.array([count > 0], np.uint32)
    return WeightedFeatures(np.array([0, count], np.int64), hashes, weights, words)
