"""Looks into the messages of an Arrow stream before Arrow unpacks them.

Arrow allocates what a packed buffer says it unpacks to, whatever that is. Such buffers are refused;
a body as a whole may be packed, with a limit, by Content-Encoding.
"""

from __future__ import annotations

import pyarrow as pa

_HEADER, _COMPRESSION = 2, 3  # places of fields in the tables Message and RecordBatch
_DICTIONARY_DATA = 1  # in DictionaryBatch
_TYPE = 1
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3


def require_plain(data: bytes) -> None:
    """Raise a ValueError if a message of the stream has packed buffers."""
    messages = pa.ipc.MessageReader.open_stream(pa.py_buffer(data))
    while True:
        try:
            message = messages.read_next_message()
        except StopIteration:
            return
        if _is_packed(message.metadata.to_pybytes()):
            raise ValueError(
                "its buffers are compressed; write it without compression, or compress the whole "
                "body and set Content-Encoding"
            )


def _is_packed(metadata: bytes) -> bool:
    """Whether the record batch of a message has a field `compression` (Message.fbs)."""
    root = _number(metadata, 0, 4)
    kind = _field(metadata, root, _TYPE)
    header = _field(metadata, root, _HEADER)
    if kind is None or header is None:
        return False
    table = header + _number(metadata, header, 4)
    if metadata[kind] == _DICTIONARY_BATCH:
        inner = _field(metadata, table, _DICTIONARY_DATA)
        if inner is None:
            return False
        table = inner + _number(metadata, inner, 4)
    elif metadata[kind] != _RECORD_BATCH:
        return False
    return _field(metadata, table, _COMPRESSION) is not None


def _field(data: bytes, table: int, place: int) -> int | None:
    """Where a field of a table is; None if it is absent."""
    columns = table - _number(data, table, 4, signed=True)
    size = _number(data, columns, 2)
    at = 4 + 2 * place
    offset = _number(data, columns + at, 2) if at < size else 0
    return table + offset if offset else None


def _number(data: bytes, at: int, size: int, *, signed: bool = False) -> int:
    if not 0 <= at <= len(data) - size:
        raise ValueError("a message is cut off")
    return int.from_bytes(data[at : at + size], "little", signed=signed)
