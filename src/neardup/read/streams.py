"""Tables that a program hands over as a stream of batches, and how they are held."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import pyarrow as pa

from neardup.atomic import TemporaryFolder
from neardup.errors import InputError
from neardup.frozen import dataclass
from neardup.read.foreign.copied import write_stream
from neardup.read.limits import printable
from neardup.read.source import RoomLeft

# A stream with more is held in a temporary file, which is mapped: the system reads what is needed.
_HELD_BYTES = 64 << 20
_ROWS_AT_ONCE = 10_000
_SCHEMA_ROWS = 10_000  # of a stream that does not say its types


@dataclass(frozen=True, eq=False)
class Stream:
    """Batches of rows of the same columns, which can be read once; `kind` is the object's class.

    `whole` is all of them, if the object holds them as a table.
    """

    kind: str
    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    whole: pa.Table | None = None

    def table(self) -> pa.Table:
        """All rows: as they are held, in memory, or mapped from a temporary file if many."""
        if self.whole is not None:
            return self.whole
        held: list[pa.RecordBatch] = []
        size = 0
        for batch in self.batches:
            held.append(batch)
            size += batch.nbytes
            if size > _HELD_BYTES:
                return _mapped(self.kind, self.schema, chain(held, self.batches))
        return pa.Table.from_batches(held, self.schema)


def _mapped(kind: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> pa.Table:
    with TemporaryFolder() as folder:
        path = folder / "rows.arrows"
        with path.open("wb") as file:
            write_stream(schema, batches, RoomLeft(file, f"the {kind}"))
        # The mapping keeps the content when the name is gone.
        return pa.ipc.open_stream(pa.memory_map(str(path))).read_all()


def stream_of(held: Any) -> Stream | None:
    """The rows of an object that is read as a stream; None for any other.

    These are Arrow readers, Polars lazy frames, datasets of Hugging Face, DuckDB relations, and
    anything else with `__arrow_c_stream__` that is a table. Errors of the library that computes the
    rows become an `InputError`, now or while they are read.
    """
    kind = type(held).__name__
    opened = next((opened for fits, opened in _KINDS if fits(held)), None)
    if opened is None:
        return None
    with _explained(kind):
        found = opened(held)
    if found is None:
        return None
    schema, rows = found
    whole = rows if isinstance(rows, pa.Table) else None
    batches = rows if whole is None else whole.to_batches()
    return Stream(kind, without_views(schema), _converted(kind, schema, batches), whole)


@contextmanager
def _explained(kind: str) -> Iterator[None]:
    """Turn the errors of another library into ours."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        reason = printable(str(error)) or type(error).__name__
        raise InputError(f"the {kind} cannot be read as an Arrow table: {reason}") from error


def without_views(schema: pa.Schema) -> pa.Schema:
    """The schema with views as strings, also inside lists: Arrow cannot take rows of views."""
    fields = [field.with_type(_without_views(field.type)) for field in schema]
    return pa.schema(fields, schema.metadata)


def _without_views(kind: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_binary_view(kind):
        return pa.large_binary()
    if types.is_list(kind):
        return pa.list_(_plain_field(kind.value_field))
    if types.is_large_list(kind):
        return pa.large_list(_plain_field(kind.value_field))
    if types.is_fixed_size_list(kind):
        return pa.list_(_plain_field(kind.value_field), kind.list_size)
    if types.is_struct(kind):
        return pa.struct([_plain_field(field) for field in kind])
    return kind


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(_without_views(field.type))


def _converted(
    kind: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    plain = without_views(schema)
    with _explained(kind):
        for batch in batches:
            yield batch if batch.schema == plain else batch.cast(plain)


_Rows = tuple[pa.Schema, Iterable[pa.RecordBatch] | pa.Table]


def _of_reader(reader: pa.RecordBatchReader) -> _Rows:
    return reader.schema, reader


def _is_lazy(held: Any) -> bool:
    return type(held).__name__ == "LazyFrame" and type(held).__module__.startswith("polars")


def _of_lazy(frame: Any) -> _Rows:
    """A lazy frame, computed by the streaming engine, once."""
    if not hasattr(frame, "collect_batches"):  # Polars before 1.33
        table = pa.table(frame.collect())
        return table.schema, table.to_batches()
    parts = (pa.table(part) for part in frame.collect_batches(maintain_order=True))
    first = next(parts, None)
    if first is None:
        first = pa.table(frame.collect_schema().to_frame())
    return first.schema, _batches(chain([first], parts))


def _is_of_datasets(held: Any) -> bool:
    datasets = sys.modules.get("datasets")  # whoever has such an object has imported it
    names = ("Dataset", "IterableDataset", "DatasetDict", "IterableDatasetDict")
    kinds = tuple(getattr(datasets, name) for name in names if hasattr(datasets, name))
    return isinstance(held, kinds)


def _of_dataset(held: Any) -> _Rows:
    """A dataset of Hugging Face; one with splits is refused."""
    if hasattr(held, "keys"):
        splits = [str(name) for name in held]
        raise InputError(
            f"the {type(held).__name__} has splits; choose one, for example data[{splits[0]!r}]"
            + (f", and compare with another by against=data[{splits[1]!r}]" if splits[1:] else "")
        )
    data = getattr(held, "data", None)
    if data is not None and held._indices is None:
        return data.table.schema, data.table
    if held.features is not None:
        parts = held.with_format("arrow").iter(batch_size=_ROWS_AT_ONCE)
        schema = held.features.arrow_schema
        return schema, (batch.cast(schema) for batch in _batches(parts))
    # The rows of a generator have no declared types.
    records = (pa.table(part) for part in held.with_format(None).iter(batch_size=_SCHEMA_ROWS))
    first = next(records, None)
    if first is None:
        raise InputError("the IterableDataset has no rows and no features")
    schema = pa.schema(
        [
            field.with_type(pa.large_string()) if pa.types.is_null(field.type) else field
            for field in first.schema
        ]
    )
    return schema, (batch.cast(schema) for batch in _batches(chain([first], records)))


def _batches(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
    for table in tables:
        yield from table.to_batches()


def _is_exporter(held: Any) -> bool:
    """Whether an object exports rows; frames in memory and columns (which have a type) do not."""
    in_memory = isinstance(held, pa.Table | pa.RecordBatch | pa.ChunkedArray) or (
        hasattr(held, "columns") and type(held).__module__.partition(".")[0] in ("pandas", "polars")
    )
    return hasattr(held, "__arrow_c_stream__") and not hasattr(held, "dtype") and not in_memory


def _of_exporter(held: Any) -> _Rows | None:
    try:
        return _of_reader(pa.RecordBatchReader.from_stream(held))
    except pa.ArrowInvalid:
        if hasattr(held, "columns"):
            raise
        return None  # a column


_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any], _Rows | None]], ...] = (
    (lambda held: isinstance(held, pa.RecordBatchReader), _of_reader),
    (_is_lazy, _of_lazy),
    (_is_of_datasets, _of_dataset),
    (_is_exporter, _of_exporter),
)
