"""Columns: which columns a run needs, their types, and the messages for missing ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Literal

import pyarrow as pa

from neardup.errors import InputError, NoColumnError, SettingError, UnreadableError
from neardup.frozen import dataclass
from neardup.read.limits import MAX_DOCUMENT, quoted

ROW_PLACE = "row"
_RESERVED = ("id", "text")
_LISTED = 20


def is_string(kind: pa.DataType) -> bool:
    """Whether a type has the memory layout of the kernels: string or large_string."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_text(kind: pa.DataType) -> bool:
    """Whether a type can be converted to text."""
    types = pa.types
    return bool(
        is_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_string_view(kind)
        or types.is_binary_view(kind)
    )


def is_field(kind: pa.DataType) -> bool:
    """Whether values of a type can be written out as the text of a record's field."""
    return not pa.types.is_nested(kind)


def is_id(kind: pa.DataType) -> bool:
    """Whether a type can be converted to an id."""
    return bool(pa.types.is_integer(kind) or is_text(kind))


def undictionaried(kind: pa.DataType) -> pa.DataType:
    """The value type of a dictionary type, or the type itself."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def require_type(
    file: str,
    schema: pa.Schema,
    name: str,
    what: str,
    option: str,
    fits: Callable[[pa.DataType], bool],
) -> None:
    """Refuse a column whose type does not fit its role."""
    kind = schema.field(name).type
    if not fits(undictionaried(kind)):
        raise UnreadableError(
            f"{file} has the column {name!r} of type {quoted(kind)}, which cannot be {what}; "
            f"name another with {option}"
        )


def plain_text(column: pa.Array) -> pa.Array:
    """Convert any text-like column to string or large_string, without copying if possible."""
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
    """A column as the texts of a record's field: values written out, missing values empty.

    None if the values are nested.
    """
    kind = undictionaried(column.type)
    if is_text(kind):
        return plain_text(column).fill_null("")
    if not is_field(kind):
        return None
    return plain_text(column.cast(kind)).cast(pa.large_string()).fill_null("")


def plain_ids(column: pa.Array) -> pa.Array:
    """Convert a column of ids to int64, uint64 or a string type."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not pa.types.is_integer(column.type):
        return plain_text(column)
    return column if pa.types.is_uint64(column.type) else column.cast(pa.int64())


def signed_ids(file: str, name: str, ids: pa.Array) -> pa.Array:
    """Convert plain ids of type uint64 to int64; `InputError` if one is too large."""
    if not pa.types.is_uint64(ids.type):
        return ids
    try:
        return ids.cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise InputError(
            f"{file} has ids in {name!r} that are too large for a signed 64-bit "
            "number; write them as strings, or number the rows with --id row"
        ) from error


@dataclass(frozen=True)
class Wanted:
    """The columns of a run; `id` is None if rows are numbered instead."""

    text: str
    id: str | None
    id_required: bool
    columns: tuple[str, ...] | Literal["all"]
    holds: Literal["text", "terms", "pairs"] = "text"
    # The fields of a record: `text` is the first, the others are carried. Values are written out.
    fields: tuple[str, ...] = ()
    # Longer documents are rejected. The limit applies to the text, or to the raw row of a file.
    max_document: int = MAX_DOCUMENT

    @classmethod
    def of_terms(cls, terms: str | None, id: str | None) -> Wanted:
        """For documents given as terms; the column of terms takes the role of the text."""
        terms = "terms" if terms is None else terms
        if terms == id:
            raise SettingError(f"the column {terms!r} cannot be both the terms and the id")
        return replace(cls.of(terms, id, ()), holds="terms")

    @classmethod
    def of_fields(
        cls, fields: Sequence[str], id: str | None, columns: Sequence[str] | Literal["all"]
    ) -> Wanted:
        """For records: every field is read as text, a missing field as an empty text."""
        if id in fields:
            raise SettingError(f"the column {id!r} cannot be both a field and the id")
        id = ROW_PLACE if id is None and "id" in fields else id
        carried = "all" if columns == "all" else (*fields[1:], *columns)
        return replace(cls.of(fields[0], id, carried), fields=tuple(fields))

    @classmethod
    def of(
        cls, text: str | None, id: str | None, columns: Sequence[str] | Literal["all"]
    ) -> Wanted:
        """For documents of text; fills in the defaults."""
        if isinstance(columns, str) and columns != "all":
            raise SettingError(f'columns={columns!r} must be a list of column names or "all"')
        text = "text" if text is None else text
        if text == id:
            raise SettingError(f"the column {text!r} cannot be both the text and the id")
        return cls(
            text=text,
            id=None if id == ROW_PLACE else "id" if id is None and text != "id" else id,
            id_required=id not in (None, ROW_PLACE),
            columns="all" if columns == "all" else tuple(dict.fromkeys(columns)),
        )

    def with_all_columns(self) -> Wanted:
        """The same documents with all other columns carried along."""
        return replace(self, columns="all")

    @property
    def required(self) -> tuple[str, ...]:
        """The columns that a file must have."""
        id = (self.id,) if self.id is not None and self.id_required else ()
        return tuple(
            dict.fromkeys((self.text, *id, *(() if self.columns == "all" else self.columns)))
        )

    def require(self, file: str, found: Collection[str]) -> None:
        """Refuse a file that lacks a required column; the message lists its columns."""
        for name in self.required:
            if name not in found:
                raise NoColumnError(
                    f"{file} has no column {name!r}{_listing(found)}; {self._advice(name)}", found
                )

    def require_once(self, file: str, names: Sequence[str]) -> None:
        """Refuse a table that lacks a required column, or has two of the same name."""
        self.require(file, names)
        counts = Counter(names)
        for name in (self.text, *([self.id] if self.id else []), *self.carried(names)):
            if counts[name] > 1:
                raise UnreadableError(
                    f"{file} has more than one column {quoted(name)}; rename one of them"
                )

    def carried(self, found: Iterable[str]) -> tuple[str, ...]:
        """The columns to carry along, of those in the file, without id and text."""
        names = dict.fromkeys(found if self.columns == "all" else self.columns)
        return tuple(name for name in names if name not in (self.text, self.id))

    def _advice(self, name: str) -> str:
        if self.holds == "pairs":
            return "name the ids of two documents 'a' and 'b'"
        if name == self.text:
            return f"name the column that holds the {self.holds} with --text"
        if name == self.id:
            return "name another with --id, or number the rows with --id row"
        return "carry only columns that every file has"


def carried_names(file: str, names: Sequence[str]) -> dict[str, str]:
    """Rename carried columns that would clash with the documents' `id` and `text`."""
    renamed = {name: f"input_{name}" if name in _RESERVED else name for name in names}
    if len(set(renamed.values())) < len(renamed):
        raise InputError(
            f"{file} has both a column {_clash(renamed)!r} and a column "
            f"'input_{_clash(renamed)}', which would be carried under one name; rename one of them"
        )
    return renamed


def _clash(renamed: dict[str, str]) -> str:
    return next(name for name in _RESERVED if name in renamed and f"input_{name}" in renamed)


def _listing(found: Collection[str]) -> str:
    if not found:
        return " and no other columns"
    names = [quoted(name) for name in islice(found, _LISTED)]
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return f"; its columns are {', '.join(names)}{more}"
