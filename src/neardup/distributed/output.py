"""The output: every split writes its part of each table, in the order of the input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.collection.rejected import RejectedRows
from neardup.collection.source import RowBatch
from neardup.deduplication.result import STAR_NOTE
from neardup.deduplication.row_files import KINDS, SeenRows
from neardup.deduplication.rows import TextPicker, names_beside, under_one_schema, widened
from neardup.distributed.splits import Layout, Places, index_of, split_of
from neardup.distributed.work import Work
from neardup.engines.exchange import Engine, Message, Tasks, packed, unpacked
from neardup.errors import InputError
from neardup.frozen import dataclass
from neardup.kernels.columns import chosen, column_of, text_column

_LONGEST_TEXT = 100_000  # characters of a text that the report may show


@dataclass(frozen=True, eq=False)
class Output:
    """Where the tables go, and what every split must know to write its part.

    `documents` and `clusters` are the numbers of those before each split. `shown` are the places
    of documents whose texts are wanted. `schema` is that of all rows, None as long as nobody knows
    whether all splits have the same.
    """

    folder: Work
    format: str
    copies: bool
    documents: Places
    clusters: Places
    shown: Places
    schema: pa.Schema | None = None


@dataclass(frozen=True, eq=False)
class Written:
    """What the splits have written: texts by place, and the names of columns."""

    texts: dict[int, str]
    columns: dict[str, Any]


def write_output(layout: Layout, engine: Engine, output: Output, counts: Sequence[int]) -> Written:
    """Let every split write its parts; `counts` are the documents of each split."""
    sent = engine.run("output", [Tasks(partial(_write, layout, output, None), len(layout.splits))])
    parts = {message.tag: unpacked(message.blob) for message in sent}
    schemas = {
        number: pa.ipc.read_schema(pa.py_buffer(part["schema"].tobytes()))
        for number, part in parts.items()
        if part["schema"] is not None
    }
    if schemas:
        every = list(schemas.values())
        schema = every[0]
        for other in every[1:]:
            schema = widened(schema, other)
        # A type or a column may show only in some splits; the others write their rows again.
        again = [number for number, one in schemas.items() if one != schema]
        if again:
            wide = replace(output, schema=schema)
            sent = engine.run(
                "output again", [Tasks(partial(_write, layout, wide, again), len(again))]
            )
            parts |= {message.tag: unpacked(message.blob) for message in sent}
    texts: dict[int, str] = {}
    columns: dict[str, Any] = {"id": None, "text": [], "added": {}}
    for number in sorted(parts):
        part = parts[number]
        if part["documents"] != counts[number]:
            raise InputError(
                f"{layout.splits[number].names[0]} changed while it was read: it had "
                f"{counts[number]:,} documents at first, and then {part['documents']:,}; run again "
                "when nobody writes to it"
            )
        texts |= {int(place): text for place, text in part["texts"].items()}
        if part["columns"] is not None:
            columns = part["columns"]
    return Written(texts, columns)


def _write(
    layout: Layout, output: Output, which: Sequence[int] | None, task: int, _: Iterator[Message]
) -> Iterator[Message]:
    number = task if which is None else which[task]
    stored = unpacked(layout.work.read(f"outcomes/{number}"))
    if layout.splits[number].other:
        yield _write_others(layout, output, number, stored)
        return
    part = f"part-{number:05d}"
    texts = index_of(output.shown[split_of(output.shown) == number]).astype(np.int64)
    seen = SeenRows(texts)
    read = unpacked(layout.work.read(f"read/{number}"))
    keeps = np.ones(len(read["words"]), np.bool_)
    keeps[stored.get("removed_index", np.zeros(0, np.uint32))] = False
    batches = _rows(layout, number, seen)
    schema = added = None
    documents = sum(len(batch.rows) for batch in batches)
    if documents == len(keeps) and (documents or not number):
        rows = [batch.rows for batch in batches]
        schema, added = _write_rows(layout, output, number, stored, keeps, rows)
    folder = output.folder
    if documents == len(keeps):
        ids = [batch.ids for batch in batches if len(batch.rows)]
        table = _documents(layout, output, number, read["words"], keeps, ids, seen)
        _write_table(folder, f"documents.parquet/{part}.parquet", table)
        if "clusters" in stored or not number:
            _write_table(
                folder,
                f"clusters.parquet/{part}.parquet",
                _clusters(layout, output, number, stored),
            )
        if layout.settings.pairs != "none" and ("pairs" in stored or not number):
            pairs = stored.get("pairs")
            table = _no_pairs(layout) if pairs is None else pa.Table.from_batches([pairs])
            _write_table(folder, f"pairs.parquet/{part}.parquet", table)
    blob = packed(
        documents=documents,
        schema=None if schema is None else np.frombuffer(schema.serialize(), np.uint8),
        columns=None if added is None else {**seen.columns, "added": added},
        texts={
            str(number << 32 | index): text[:_LONGEST_TEXT] for index, text in seen.texts.items()
        },
    )
    yield Message(0, number, blob)


def _write_rows(
    layout: Layout,
    output: Output,
    number: int,
    stored: Mapping[str, Any],
    keeps: NDArray[np.bool_],
    batches: list[pa.RecordBatch],
) -> tuple[pa.Schema, dict[str, str]]:
    """The kept and the removed rows of a split; their schema, and the names of added columns."""
    removed = stored.get("removed")
    if removed is None:
        why = {name: pa.nulls(0, kind) for name, kind in _removed_types(layout).items()}
    else:
        why = {name: removed[name] for name in removed.schema.names if name != "copied"}
    more: dict[str, pa.Array] = {}
    if output.copies:
        stands = np.ones(len(keeps), np.int64)
        if "stands" in stored:
            stands[stored["stands_index"]] = stored["stands"]
        more["copies"] = column_of(stands[keeps])
    kind = KINDS[output.format]
    schema = pa.schema([])
    if kind.one_schema:
        batches = list(_of_one_schema(batches, output.schema))
        schema = batches[0].schema if batches else schema
    names: dict[str, None] = dict.fromkeys(output.schema.names if output.schema else ())
    for batch in batches:
        names |= dict.fromkeys(batch.schema.names)
    added = names_beside([*more, *why], names)
    suffix = f"{output.format}/part-{number:05d}.{output.format}"
    with (
        output.folder.file(f"kept.{suffix}") as kept,
        output.folder.file(f"removed.{suffix}") as gone,
    ):
        for path, wanted, columns in ((kept, keeps, more), (gone, ~keeps, why)):
            with kind(path) as file:
                first = done = 0
                for batch in batches:
                    some = chosen(batch, wanted[first : first + len(batch)])
                    first += len(batch)
                    for name, column in columns.items():
                        some = some.append_column(added[name], column.slice(done, len(some)))
                    done += len(some)
                    for rows in file.gathered(some):
                        file.append(file.encoded(rows))
                for rows in file.rest():
                    file.append(file.encoded(rows))
    return schema, added if batches else {}


def _rows(layout: Layout, number: int, seen: SeenRows) -> list[RowBatch]:
    """All rows of a split; those that cannot be read are written to the work folder."""
    found, first = [], 0
    rejected = RejectedRows()
    for batch in layout.opened(number).rows():
        seen.see(first, batch)
        rejected.add(batch.rejected)
        first += len(batch.rows)
        found.append(batch)
    layout.work.write_plain(f"rejected/{number}", "".join(rejected.lines()).encode())
    return found


def _of_one_schema(
    batches: list[pa.RecordBatch], schema: pa.Schema | None
) -> Iterator[pa.RecordBatch]:
    """The batches under one schema, which is found first."""
    for batch in batches:
        schema = batch.schema if schema is None else widened(schema, batch.schema)
    return under_one_schema(iter(batches), schema)


def _removed_types(layout: Layout) -> dict[str, pa.DataType]:
    return {"duplicate_of": _id_type(layout), "similarity": pa.float64()}


def _id_type(layout: Layout) -> pa.DataType:
    """The type of ids where documents of both collections may be meant."""
    left, right = layout.id_types
    if layout.old is None:
        return left
    if not layout.within:
        return right
    return left if left == right else pa.large_string()


def _no_pairs(layout: Layout) -> pa.Table:
    types = {
        "a": layout.id_types[0],
        "b": _id_type(layout),
        "distance": pa.uint16(),
        "similarity": pa.float64(),
    }
    if layout.old is not None:
        types["b_other"] = pa.bool_()
    every = layout.settings.pairs == "all" and layout.within
    note = {"neardup.pairs": STAR_NOTE} if every else None
    return pa.schema(list(types.items()), note).empty_table()


def _clusters(layout: Layout, output: Output, number: int, stored: Mapping[str, Any]) -> pa.Table:
    if "clusters" not in stored:
        types = {
            "cluster": pa.int64(),
            "id": layout.id_types[0],
            "kept": pa.bool_(),
            "duplicate_of": _id_type(layout),
            "similarity": pa.float64(),
        }
        if layout.settings.cluster != "star" and layout.within:
            types["via"] = _id_type(layout)
        if layout.old is not None:
            types["duplicate_of_other"] = pa.bool_()
            if "via" in types:
                types["via_other"] = pa.bool_()
        return pa.schema(list(types.items())).empty_table()
    _, numbers = np.unique(stored["clusters_first"], return_inverse=True)
    table = pa.Table.from_batches([stored["clusters"]]).drop_columns(
        ["_place", "_around", "_kept_for"]
    )
    return table.set_column(0, "cluster", column_of(int(output.clusters[number]) + numbers))


def _documents(
    layout: Layout,
    output: Output,
    number: int,
    words: NDArray[np.uint32],
    keeps: NDArray[np.bool_],
    ids: Sequence[pa.Array],
    seen: SeenRows,
) -> pa.Table:
    base = output.documents
    copy_of = int(base[number]) + np.arange(len(words))
    copies = unpacked(layout.work.read(f"copies/{number}"))
    of = copies["member_of"]
    copy_of[copies["member"]] = base[split_of(of)] + index_of(of)
    return pa.table(
        {
            "id": pa.concat_arrays([pa.nulls(0, layout.id_types[0]), *ids]),
            "kept": column_of(keeps),
            "words": column_of(words),
            "copy_of": column_of(copy_of, words == 0),
            "source": seen.sources(),
        }
    )


def _write_others(
    layout: Layout, output: Output, number: int, stored: Mapping[str, Any]
) -> Message:
    """The documents of the other collection that the result names, with their texts."""
    wanted = stored.get("others", np.zeros(0, np.uint32)).astype(np.int64)
    shown = index_of(output.shown[split_of(output.shown) == number]).astype(np.int64)
    every, ids, first = TextPicker(np.union1d(wanted, shown)), [pa.nulls(0, layout.id_types[1])], 0
    for batch in layout.opened(number).batches():
        count = len(batch.ids)
        every.see(first, count, batch.columns)
        some = wanted[(wanted >= first) & (wanted < first + count)] - first
        ids.append(batch.ids.take(column_of(some)))
        first += count
    if len(wanted) or number == layout.left:
        texts = text_column([every.texts[index] for index in wanted.tolist()])
        table = pa.table({"id": pa.concat_arrays(ids), "text": texts})
        _write_table(
            output.folder, f"others.parquet/part-{number - layout.left:05d}.parquet", table
        )
    texts_shown = {
        str(number << 32 | index): every.texts[index][:_LONGEST_TEXT] for index in shown.tolist()
    }
    return Message(0, number, packed(documents=first, schema=None, columns=None, texts=texts_shown))


def _write_table(folder: Work, name: str, table: pa.Table) -> None:
    with folder.file(name) as path, path.open("wb") as file:
        pq.write_table(table, file, compression="zstd")
