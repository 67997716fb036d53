"""Ids of documents: whole numbers or strings, and their hashes."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from neardup.errors import InputError

Id = int | str

_LARGEST = 2**63
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
_SALT = np.uint64(0x6E65617264757031)


def checked_id(id: Any) -> Id:
    """An id as int or str, or a sentence about what is none."""
    if isinstance(id, str):
        return id
    if isinstance(id, bool) or not isinstance(id, SupportsIndex):
        raise InputError(f"the id {id!r} is of type {type(id).__name__}; ids are int or str")
    number = int(id)
    if not -_LARGEST <= number < _LARGEST:
        raise InputError(f"the id {number} has more than the 64 bits of a whole number")
    return number


def id_array(ids: list[Id]) -> pa.Array:
    """Ids of one kind as an Arrow array of int64 or string."""
    kind = pa.string() if isinstance(ids[0], str) else pa.int64()
    try:
        return pa.array(ids, kind)
    except UnicodeEncodeError as error:
        raise InputError(f"the id {error.object!r} is no Unicode text; repair it") from None


def id_column(column: pa.Array) -> pa.Array:
    """A column of ids as int64 or string, or a sentence about what is none."""
    if column.null_count:
        raise InputError("an id is missing; an index needs one for every document")
    if pa.types.is_integer(column.type):
        return column.cast(pa.int64())
    if pa.types.is_string(column.type):
        return column
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"ids are of Arrow type {column.type}; integers or strings are needed"
        ) from None


def is_text(ids: pa.Array) -> bool:
    """Whether ids are strings."""
    return bool(pa.types.is_string(ids.type))


def id_hashes(ids: pa.Array) -> NDArray[np.uint64]:
    """64 bits for each id; a number and the string that spells it have different ones."""
    if is_text(ids):
        hashes = map(xxh3_64_intdigest, ids.cast(pa.binary()).to_pylist())
        return np.fromiter(hashes, np.uint64, len(ids))
    values = ids.to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64) ^ _SALT
    values = (values ^ (values >> _SHIFTS[0])) * _FACTORS[0]
    values = (values ^ (values >> _SHIFTS[1])) * _FACTORS[1]
    return np.asarray(values ^ (values >> _SHIFTS[2]))


def id_order(id: Id) -> tuple[bool, Id]:
    """A key to sort by: numbers before strings."""
    return isinstance(id, str), id
