"""Fingerprints as Parquet: id, words, fingerprint, and the scheme in the file's metadata."""

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
from neardup.errors import InputError
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.scheme import Scheme

FORMAT = "neardup fingerprints 1"
_ROW_GROUP = 128_000
_FORMAT_KEY, _SCHEME_KEY, _SETTINGS_KEY = b"neardup.format", b"neardup.scheme", b"neardup.settings"


def stored_schema(scheme: Scheme, id_type: pa.DataType, settings: dict[str, Any]) -> pa.Schema:
    """The columns of a fingerprint file; `settings` tell how it was made, for people."""
    about = {
        "features": str(scheme.features),
        "weights": scheme.weights,
        "bits": scheme.bits,
        "hash": scheme.hash,
        "tie": scheme.tie,
        "version": __version__,
        **settings,
    }
    return pa.schema(
        [
            pa.field("id", id_type),
            pa.field("words", pa.uint32()),
            pa.field("fingerprint", pa.binary(scheme.row_bytes)),
        ],
        metadata={
            _FORMAT_KEY: FORMAT,
            _SCHEME_KEY: str(scheme),
            _SETTINGS_KEY: json.dumps(about, ensure_ascii=False),
        },
    )


def stored_batch(fingerprints: Fingerprints, ids: pa.Array, schema: pa.Schema) -> pa.RecordBatch:
    """Rows of the file; an empty document has no fingerprint (null), so nothing equals it."""
    width = schema.field("fingerprint").type
    valid = None
    if fingerprints.empty.any():
        valid = pa.array(~fingerprints.empty).buffers()[1]
    column = pa.Array.from_buffers(
        width, len(fingerprints), [valid, pa.py_buffer(fingerprints.row_bytes())]
    )
    words = pa.array(fingerprints.words, pa.uint32())
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

    def __enter__(self) -> FingerprintWriter:
        self._unfinished = self._stack.enter_context(replacing(self._path))
        return self

    def write(self, fingerprints: Fingerprints, ids: pa.Array) -> None:
        """Add documents; all ids of a file are of the type of the first ones."""
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
        self._writer = self._stack.enter_context(
            pq.ParquetWriter(
                self._unfinished,
                self._schema,
                use_dictionary=False,  # ids and fingerprints hardly repeat
                compression={"id": "zstd", "words": "zstd", "fingerprint": "none"},
            )
        )

    def _flush(self) -> None:
        if self._waiting:
            self._writer.write_table(pa.Table.from_batches(self._waiting))
        self._waiting = []
        self._waiting_rows = 0


def save(fingerprints: Fingerprints, path: str | os.PathLike[str]) -> None:
    """Write fingerprints to a file, the rows' places as ids where they have none."""
    ids = fingerprints.ids
    if ids is None:
        ids = pa.array(np.arange(len(fingerprints)))
    with FingerprintWriter(path, fingerprints.scheme, {}) as writer:
        writer.write(fingerprints, ids)


def load(path: str | os.PathLike[str]) -> Fingerprints:
    """Read a fingerprint file, or say why it is none."""
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(
            f"{path} cannot be read as a fingerprint file ({error}); "
            "make one with `neardup fingerprint`"
        ) from None
    metadata = table.schema.metadata or {}
    found = metadata.get(_FORMAT_KEY, b"").decode()
    if found != FORMAT:
        raise InputError(
            f"{path} is {found or 'no fingerprint file'}, wanted {FORMAT}; "
            "make one with `neardup fingerprint`"
        )
    scheme = Scheme.parse(metadata[_SCHEME_KEY].decode())
    column = table["fingerprint"].combine_chunks()
    words = table["words"].combine_chunks().to_numpy(zero_copy_only=False)
    array = _rows_of(column, scheme)
    array[words == 0] = 0
    return Fingerprints(array, scheme, words, table["id"].combine_chunks())


def _rows_of(column: pa.FixedSizeBinaryArray, scheme: Scheme) -> NDArray[np.uint64]:
    count, size = len(column), scheme.row_bytes
    if column.type != pa.binary(size):
        raise InputError(f"a fingerprint of {scheme} has {size} bytes, stored are {column.type}")
    padded = np.zeros((count, 8 * scheme.row_words), np.uint8)
    if count:
        stored = np.frombuffer(column.buffers()[1], np.uint8)
        first = column.offset * size
        padded[:, :size] = stored[first : first + count * size].reshape(count, size)
    return padded.view(">u8").astype(np.uint64)
