"""Thrift's compact protocol, in which the metadata of Parquet files is written.

Structures are read without a schema, and written again byte for byte
(https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
"""

from __future__ import annotations

from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, _MAP, STRUCT = range(1, 13)
_STOP = 0
_DOUBLE_BYTES = 8
_LONG_LIST = 15
_LARGEST_STEP = 15  # from one field to the next, in the short form


class Field:
    """A field of a structure; the `value` of a flag is in its `kind`."""

    __slots__ = ("kind", "value")

    def __init__(self, kind: int, value: Any) -> None:
        self.kind, self.value = kind, value


class Struct(dict[int, Field]):
    """A structure: its fields by their numbers."""


class Items:
    """A list: the kind of its items, and the items."""

    __slots__ = ("items", "kind")

    def __init__(self, kind: int, items: list[Any]) -> None:
        self.kind, self.items = kind, items


def decoded(data: bytes | memoryview) -> Struct:
    """The structure that these bytes are."""
    return _Reader(bytes(data)).struct()


def encoded(struct: Struct) -> bytes:
    """The bytes of a structure."""
    out = bytearray()
    _write_struct(out, struct)
    return bytes(out)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def struct(self) -> Struct:
        fields, number = Struct(), 0
        while (header := self._byte()) != _STOP:
            kind, step = header & 15, header >> 4
            number = number + step if step else self._signed()
            fields[number] = Field(kind, None if kind in (TRUE, FALSE) else self._value(kind))
        return fields

    def _value(self, kind: int) -> Any:
        if I16 <= kind <= I64:
            return self._signed()
        if kind == BINARY:
            return self._take(self._unsigned())
        if kind == STRUCT:
            return self.struct()
        if kind in (LIST, SET):
            header = self._byte()
            count = header >> 4
            inner = header & 15
            count = self._unsigned() if count == _LONG_LIST else count
            return Items(inner, [self._value(inner) for _ in range(count)])
        if kind in (TRUE, FALSE, BYTE):  # a flag in a list takes a byte
            return self._byte()
        if kind == DOUBLE:
            return self._take(_DOUBLE_BYTES)
        raise ValueError(f"values of kind {kind} are not expected in the metadata of Parquet")

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _take(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def _unsigned(self) -> int:
        value = shift = 0
        while (byte := self._byte()) > 127:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _signed(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)


def _write_struct(out: bytearray, struct: Struct) -> None:
    last = 0
    for number in sorted(struct):
        field = struct[number]
        step = number - last
        if 0 < step <= _LARGEST_STEP:
            out.append(step << 4 | field.kind)
        else:
            out.append(field.kind)
            _write_signed(out, number)
        last = number
        if field.kind not in (TRUE, FALSE):
            _write_value(out, field.kind, field.value)
    out.append(_STOP)


def _write_value(out: bytearray, kind: int, value: Any) -> None:
    if I16 <= kind <= I64:
        _write_signed(out, value)
    elif kind == BINARY:
        _write_unsigned(out, len(value))
        out += value
    elif kind == STRUCT:
        _write_struct(out, value)
    elif kind in (LIST, SET):
        count = len(value.items)
        out.append(min(count, _LONG_LIST) << 4 | value.kind)
        if count >= _LONG_LIST:
            _write_unsigned(out, count)
        for item in value.items:
            _write_value(out, value.kind, item)
    elif kind == DOUBLE:
        out += value
    else:
        out.append(value)


def _write_unsigned(out: bytearray, value: int) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def _write_signed(out: bytearray, value: int) -> None:
    _write_unsigned(out, value << 1 if value >= 0 else (-value << 1) - 1)
