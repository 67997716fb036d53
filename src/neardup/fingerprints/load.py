"""Reading fingerprint files, and refusing what is none."""

from __future__ import annotations

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.errors import InputError, SettingError
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.scheme import Scheme
from neardup.fingerprints.store import FORMAT, FORMAT_KEY, SCHEME_KEY, stored_schema


def load(path: str | os.PathLike[str]) -> Fingerprints:
    """Read a fingerprint file, or say why it is none."""
    table = _read(path)
    scheme = _scheme(path, table.schema.metadata or {})
    _require_columns(path, table.schema, scheme)
    words = table["words"].combine_chunks()
    column = table["fingerprint"].combine_chunks()
    counts = words.to_numpy(zero_copy_only=False)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    if words.null_count or not np.array_equal(missing, counts == 0):
        raise InputError(
            f"{path} is a damaged fingerprint file: exactly the documents of 0 words "
            "must be without a fingerprint"
        )
    array = _rows_of(column, scheme)
    array[counts == 0] = 0
    return Fingerprints(array, scheme, counts, table["id"].combine_chunks())


def _read(path: str | os.PathLike[str]) -> pa.Table:
    try:
        return pq.read_table(path, page_checksum_verification=True)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(
            f"{path} cannot be read as a fingerprint file ({error}); "
            "make one with `neardup fingerprint`"
        ) from None


def _scheme(path: str | os.PathLike[str], metadata: dict[bytes, bytes]) -> Scheme:
    found = metadata.get(FORMAT_KEY, b"").decode(errors="replace")
    if found != FORMAT:
        raise InputError(
            f"{path} is {found or 'no fingerprint file'}, wanted {FORMAT}; "
            "make one with `neardup fingerprint`"
        )
    try:
        return Scheme.parse(metadata.get(SCHEME_KEY, b"").decode(errors="replace"))
    except SettingError as error:
        raise InputError(f"{path} holds fingerprints of an unknown scheme: {error}") from None


def _require_columns(path: str | os.PathLike[str], found: pa.Schema, scheme: Scheme) -> None:
    for field in stored_schema(scheme, pa.null(), {}):
        place = found.get_field_index(field.name)
        stored = found.field(place).type if place >= 0 else None
        if stored is None or (field.name != "id" and stored != field.type):
            raise InputError(
                f"{path} is a damaged fingerprint file: column {field.name} of {scheme} "
                f"is {stored or 'missing'}, wanted {field.type}"
            )


def _rows_of(column: pa.FixedSizeBinaryArray, scheme: Scheme) -> NDArray[np.uint64]:
    count, size = len(column), scheme.row_bytes
    padded = np.zeros((count, 8 * scheme.row_words), np.uint8)
    if count:
        stored = np.frombuffer(column.buffers()[1], np.uint8)
        first = column.offset * size
        padded[:, :size] = stored[first : first + count * size].reshape(count, size)
    return padded.view(">u8").astype(np.uint64)
