"""Column types: which Arrow types can be a text or an id, and their plain layout."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from neardup.errors import InputError, UnreadableError
from neardup.read.limits import quoted


def is_string(kind: pa.DataType) -> bool:
    """Whether a type has the layout that kernels read."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_text(kind: pa.DataType) -> bool:
    """Whether a type can be made a text."""
    types = pa.types
    return bool(
        is_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_string_view(kind)
        or types.is_binary_view(kind)
    )


def is_field(kind: pa.DataType) -> bool:
    """Whether values of a type can be spelt out as the text of a record's field."""
    return not pa.types.is_nested(kind)


def is_id(kind: pa.DataType) -> bool:
    """Whether a type can be made an id."""
    return bool(pa.types.is_integer(kind) or is_text(kind))


def undictionaried(kind: pa.DataType) -> pa.DataType:
    """The type of the values behind a dictionary, or the type itself."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def require_type(
    file: str,
    schema: pa.Schema,
    name: str,
    what: str,
    option: str,
    fits: Callable[[pa.DataType], bool],
) -> None:
    """Refuse a column whose type cannot be what it was named for."""
    kind = schema.field(name).type
    if not fits(undictionaried(kind)):
        raise UnreadableError(
            f"{file} has the column {name!r} of type {quoted(kind)}, which cannot be {what}; "
            f"name another with {option}"
        )


def plain_text(column: pa.Array) -> pa.Array:
    """Give any text-like column the layout that kernels read, copying only where it must."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return plain_text(column.dictionary_decode())
    if pa.types.is_binary(kind):
        return column.view(pa.string())
    if pa.types.is_large_binary(kind):
        return column.view(pa.large_string())
    if pa.types.is_string_view(kind):
        return column.cast(pa.large_string())
    if pa.types.is_binary_view(kind):
        return column.cast(pa.large_binary()).view(pa.large_string())
    return column


def field_texts(column: pa.Array) -> pa.Array | None:
    """A column as the texts of a record's field: values spelt out, missing ones empty.

    None where values are no plain ones.
    """
    kind = undictionaried(column.type)
    if is_text(kind):
        return plain_text(column).fill_null("")
    if not is_field(kind):
        return None
    return plain_text(column.cast(kind)).cast(pa.large_string()).fill_null("")


def plain_ids(column: pa.Array) -> pa.Array:
    """Give any column of ids one of three types: int64, uint64 or a string."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not pa.types.is_integer(column.type):
        return plain_text(column)
    return column if pa.types.is_uint64(column.type) else column.cast(pa.int64())


def signed_ids(file: str, name: str, ids: pa.Array) -> pa.Array:
    """Refuse plain ids that are too large for int64, to which whole numbers are made."""
    if not pa.types.is_uint64(ids.type):
        return ids
    try:
        return ids.cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise InputError(
            f"{file} has ids in {name!r} that are more than a signed 64-bit number "
            "can hold; write them as strings, or number the rows with --id row"
        ) from error
