"""Fingerprint files: Parquet with id, words, fingerprint, and the scheme in the metadata."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup import __version__
from neardup.atomic import replacing
from neardup.errors import InputError, SettingError
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.scheme import Scheme
from neardup.kernels.columns import column_of

FORMAT = "neardup fingerprints 1"
_ROW_GROUP = 128_000
FORMAT_KEY, SCHEME_KEY, SETTINGS_KEY = b"neardup.format", b"neardup.scheme", b"neardup.settings"


def stored_schema(scheme: Scheme, id_type: pa.DataType, settings: dict[str, Any]) -> pa.Schema:
    """The schema of a fingerprint file; `settings` are stored as documentation."""
    about = {**scheme.recipe, "version": __version__, **settings}
    return pa.schema(
        [
            pa.field("id", id_type),
            pa.field("words", pa.uint32()),
            pa.field("fingerprint", pa.binary(scheme.row_bytes)),
        ],
        metadata={
            FORMAT_KEY: FORMAT,
            SCHEME_KEY: str(scheme),
            SETTINGS_KEY: json.dumps(about, ensure_ascii=False),
        },
    )


def stored_batch(fingerprints: Fingerprints, ids: pa.Array, schema: pa.Schema) -> pa.RecordBatch:
    """Rows of the file; an empty document has no fingerprint (null), so nothing equals it."""
    width = schema.field("fingerprint").type
    valid = None
    if fingerprints.empty.any():
        valid = pa.py_buffer(np.packbits(~fingerprints.empty, bitorder="little"))
    column = pa.Array.from_buffers(
        width, len(fingerprints), [valid, pa.py_buffer(fingerprints.row_bytes())]
    )
    # From buffers, because pa.array would import pandas if it is installed.
    words = pa.Array.from_buffers(
        pa.uint32(), len(fingerprints), [None, pa.py_buffer(fingerprints.words.astype(np.uint32))]
    )
    return pa.RecordBatch.from_arrays([ids, words, column], schema=schema)


class FingerprintWriter:
    """Writes a fingerprint file batch by batch; it appears complete or not at all.

    A context manager: leaving it with an error leaves no file behind.
    """

    def __init__(
        self, path: str | os.PathLike[str], scheme: Scheme, settings: dict[str, Any]
    ) -> None:
        self._path = path
        self._scheme = scheme
        self._settings = settings
        self._stack = ExitStack()
        self._schema: pa.Schema | None = None
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_rows = 0
        self._rows = 0

    def __enter__(self) -> FingerprintWriter:
        self._unfinished = self._stack.enter_context(replacing(self._path))
        return self

    def write(self, fingerprints: Fingerprints) -> None:
        """Add documents; without ids, row numbers are used. All ids of a file have one type."""
        ids = fingerprints.ids
        if ids is None:
            ids = column_of(np.arange(self._rows, self._rows + len(fingerprints)))
        self._rows += len(fingerprints)
        if self._schema is None:
            self._open(ids.type)
        self._waiting.append(stored_batch(fingerprints, ids, self._schema))
        self._waiting_rows += len(fingerprints)
        if self._waiting_rows >= _ROW_GROUP:
            self._flush()

    def __exit__(self, *error: Any) -> None:
        with self._stack as stack:
            if error[0] is not None:
                stack.__exit__(*error)
                return
            if self._schema is None:
                self._open(pa.string())
            self._flush()

    def _open(self, id_type: pa.DataType) -> None:
        self._schema = stored_schema(self._scheme, id_type, self._settings)
        # A Python file object, because Arrow accepts only UTF-8 names.
        file = self._stack.enter_context(self._unfinished.open("wb"))
        self._writer = self._stack.enter_context(
            pq.ParquetWriter(
                file,
                self._schema,
                use_dictionary=False,  # ids and fingerprints rarely repeat
                compression={"id": "zstd", "words": "zstd", "fingerprint": "none"},
                write_page_checksum=True,
            )
        )

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting))
        self._waiting = []
        self._waiting_rows = 0


def save(fingerprints: Fingerprints, path: str | os.PathLike[str]) -> None:
    """Write fingerprints to a file; without ids, row numbers are used."""
    with FingerprintWriter(path, fingerprints.scheme, {}) as writer:
        writer.write(fingerprints)


def load(path: str | os.PathLike[str]) -> Fingerprints:
    """Read a fingerprint file; `InputError` says why if it cannot be read."""
    table = _read(path)
    scheme = _scheme(path, table.schema.metadata or {})
    _require_columns(path, table.schema, scheme)
    words = table["words"].combine_chunks()
    column = table["fingerprint"].combine_chunks()
    counts = words.to_numpy(zero_copy_only=False)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    if words.null_count or not np.array_equal(missing, counts == 0):
        raise InputError(
            f"{path} is a damaged fingerprint file: the documents with 0 words, and no others, "
            "must have no fingerprint; make it again with `neardup fingerprint`"
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
            f"{path} is {found or 'not a fingerprint file'}, expected {FORMAT}; "
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
                f"is {stored or 'missing'}, expected {field.type}; make it again with "
                "`neardup fingerprint`"
            )


def _rows_of(column: pa.FixedSizeBinaryArray, scheme: Scheme) -> NDArray[np.uint64]:
    count, size = len(column), scheme.row_bytes
    padded = np.zeros((count, 8 * scheme.row_words), np.uint8)
    if count:
        stored = np.frombuffer(column.buffers()[1], np.uint8)
        first = column.offset * size
        padded[:, :size] = stored[first : first + count * size].reshape(count, size)
    return padded.view(">u8").astype(np.uint64)
