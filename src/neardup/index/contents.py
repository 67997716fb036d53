"""What is stored of a document beside its fingerprint: its text, or its features."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from neardup.errors import InputError
from neardup.features.columns import TextColumn
from neardup.features.weighted import WeightedFeatures, joined
from neardup.fingerprints.maker import DocumentColumns, GivenTerms, Maker
from neardup.index.settings import IndexSettings

_SIZE = struct.Struct("<I")
_CODEC = "zstd"


def contents_of(columns: DocumentColumns, settings: IndexSettings, maker: Maker) -> pa.Array | None:
    """What to store of documents, as bytes; None if nothing."""
    if settings.store_text and not isinstance(columns, GivenTerms):
        return pa.array(map(_packed, columns[0].texts.to_pylist()), pa.large_binary())
    if settings.store_features:
        found = maker.features(columns)
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
    """The text of what was stored of a document."""
    if len(content) < _SIZE.size:
        raise InputError("a stored text is damaged")
    size = _SIZE.unpack_from(content)[0]
    try:
        data = pa.decompress(content[_SIZE.size :], size, codec=_CODEC, asbytes=True)
        return str(data, "utf-8")
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise InputError(f"a stored text is damaged ({error})") from None


def features_of(
    contents: Sequence[bytes], settings: IndexSettings, maker: Maker
) -> WeightedFeatures:
    """The features of documents, from what was stored of them."""
    if settings.store_text:
        texts = pa.array(map(text_of, contents), pa.large_string())
        return maker.features([TextColumn(texts)])
    return joined(list(map(_features, contents)))


def _packed(text: str | None) -> bytes:
    data = (text or "").encode()
    return _SIZE.pack(len(data)) + bytes(pa.compress(data, codec=_CODEC, asbytes=True))


def _features(content: bytes) -> WeightedFeatures:
    count = _SIZE.unpack_from(content)[0] if len(content) >= _SIZE.size else -1
    weighted = len(content) == _SIZE.size + 16 * count and count > 0
    if not weighted and len(content) != _SIZE.size + 8 * count:
        raise InputError("the stored features of a document are damaged")
    hashes = np.frombuffer(content, np.uint64, count, _SIZE.size)
    weights = (
        np.frombuffer(content, np.float64, count, _SIZE.size + 8 * count) if weighted else None
    )
    words = np.array([count > 0], np.uint32)
    return WeightedFeatures(np.array([0, count], np.int64), hashes, weights, words)
