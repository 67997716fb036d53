"""Decisions as tables: labels for other programs, as Parquet or CSV, and back.

A row is a pair. A decision about several documents has a row for each of its pairs, a `keep` one
for the kept document with each of the others; the rows of a decision share its key.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq
from xxhash import xxh3_128_hexdigest

from neardup.atomic import replacing
from neardup.decisions.model import Decision, Named, checked, in_utc, now
from neardup.errors import InputError, SettingError
from neardup.report.spreadsheet import SpreadsheetWriter, as_written

SUFFIXES = (".parquet", ".csv")
COLUMNS = (
    *("key", "says", "a", "b", "a_content", "b_content", "a_other", "b_other", "same"),
    *("by", "at", "why", "similarity", "a_kind", "b_kind"),
)
# An id 5 is a number, an id "5" a text; CSV, and a column of both, cannot tell them apart.
NUMBER, TEXT = "number", "text"
_ROWS_AT_ONCE = 1 << 14
_LONGEST_FIELD = (1 << 31) - 1  # what a C long holds on every system
_TYPES = {
    **dict.fromkeys(COLUMNS, pa.string()),
    **dict.fromkeys(("a_other", "b_other", "same"), pa.bool_()),
    "similarity": pa.float64(),
}
_TRUE, _FALSE = ("true", "1"), ("false", "0")


def export(decisions: Sequence[Decision], path: str | os.PathLike[str]) -> int:
    """Write decisions to a Parquet or CSV file; returns the number of rows."""
    suffix = _suffix_of(path)
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        try:
            return (_write_csv if suffix == ".csv" else _write_parquet)(decisions, file)
        except UnicodeEncodeError:
            raise SettingError(
                f"{path}: Parquet cannot hold an id that is not valid Unicode; write a .csv file"
            ) from None


def imported(path: str | os.PathLike[str]) -> tuple[Decision, ...]:
    """The decisions of a table that `export` wrote, or of one with its most important columns.

    A table needs `a`, `b`, `a_content`, `b_content`, and `says` or `same`. Rows without a key get
    one that is made of the row, so that importing them again adds nothing.
    """
    suffix = _suffix_of(path)
    try:
        rows = _csv_rows(path) if suffix == ".csv" else _parquet_rows(path)
        return decisions_of_rows(rows, str(path))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except (pa.ArrowInvalid, csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not a {suffix[1:]} file of decisions: {error}") from None


def _suffix_of(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise SettingError(f"{path}: the name of a table of decisions ends in .parquet or .csv")
    return suffix


def table_rows(decisions: Iterable[Decision]) -> Iterator[dict[str, Any]]:
    """The rows of the table."""
    for one in decisions:
        held = {
            "key": one.key,
            "says": one.says,
            "same": {"same": True, "different": False}.get(one.says),
            "by": one.by,
            "at": one.at,
            "why": one.why,
            "similarity": one.similarity,
        }
        for a, b in _pairs_of(one):
            yield {
                **held,
                "a": a.id,
                "a_content": a.content,
                "a_other": a.other,
                "a_kind": NUMBER if isinstance(a.id, int) else TEXT,
                "b": None if b is None else b.id,
                "b_content": None if b is None else b.content,
                "b_other": None if b is None else b.other,
                "b_kind": None if b is None else NUMBER if isinstance(b.id, int) else TEXT,
            }


def _pairs_of(decision: Decision) -> Iterator[tuple[Named, Named | None]]:
    documents = decision.documents
    if len(documents) == 1:
        yield documents[0], None
    elif decision.says == "keep":
        for other in documents[1:]:
            yield documents[0], other
    else:
        yield from combinations(documents, 2)


def _write_csv(decisions: Sequence[Decision], file: IO[bytes]) -> int:
    rows, count = table_rows(decisions), 0
    lines = io.StringIO(newline="")
    writer = SpreadsheetWriter(lines)
    writer.rows([COLUMNS])
    while some := list(islice(rows, _ROWS_AT_ONCE)):
        writer.rows([_cell(row[name]) for name in COLUMNS] for row in some)
        file.write(lines.getvalue().encode("utf-8", "surrogatepass"))
        lines.seek(0)
        lines.truncate()
        count += len(some)
    file.write(lines.getvalue().encode())
    return count


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _write_parquet(decisions: Sequence[Decision], file: IO[bytes]) -> int:
    ids = {type(named.id) for one in decisions for named in one.documents}
    large = any(
        isinstance(named.id, int) and named.id >= 2**63
        for one in decisions
        for named in one.documents
    )
    id_type = pa.int64() if ids == {int} and not large else pa.string()
    types = {**_TYPES, "a": id_type, "b": id_type}
    schema = pa.schema([(name, types[name]) for name in COLUMNS])
    rows, count = table_rows(decisions), 0
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        while some := list(islice(rows, _ROWS_AT_ONCE)):
            if id_type == pa.string():
                for row in some:
                    row |= {name: None if row[name] is None else str(row[name]) for name in "ab"}
            columns = [pa.array([row[name] for row in some], types[name]) for name in COLUMNS]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
            count += len(some)
    return count


def _csv_rows(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(_LONGEST_FIELD)
    with open(path, encoding="utf-8-sig", errors="surrogatepass", newline="") as file:
        lines = csv.reader(file)
        names = [as_written(name) for name in next(lines, [])]
        for number, cells in enumerate(lines, 2):
            if not cells:
                continue
            if len(cells) != len(names):
                raise InputError(
                    f"{path}, row {number}: {len(cells)} cells, and the header has {len(names)}"
                )
            row: dict[str, Any] = {}
            for name, cell in zip(names, cells, strict=True):
                row[name] = as_written(cell)
            # An empty cell is no value, except for an id that is the empty text.
            yield {
                name: value if value or row.get(f"{name}_kind") == TEXT else None
                for name, value in row.items()
            }


def _parquet_rows(path: str | os.PathLike[str]) -> Iterator[dict[str, Any]]:
    with open(path, "rb") as file, pq.ParquetFile(file) as stored:
        for batch in stored.iter_batches(_ROWS_AT_ONCE):
            yield from batch.to_pylist()


def decisions_of_rows(rows: Iterable[Mapping[str, Any]], path: str) -> tuple[Decision, ...]:
    """The decisions of the rows of a table; `path` is its name in messages."""
    held: dict[str, tuple[Mapping[str, Any], dict[Named, None]]] = {}
    for number, row in enumerate(rows, 1):
        try:
            says = _says_of(row)
            documents = [one for one in (_named_of(row, "a"), _named_of(row, "b")) if one]
            key = row.get("key") or _key_of(row, says, documents)
            first, known = held.setdefault(str(key), (row, {}))
            if any(first.get(name) != row.get(name) for name in ("says", "by", "at")):
                raise SettingError(f"the key {key!r} is that of another decision, too")
            known.update(dict.fromkeys(documents))
        except (SettingError, ValueError) as error:
            raise InputError(f"{path}, row {number}: {error}") from None
    imported_at = now()
    found = []
    for key, (row, documents_of) in held.items():
        similarity = row.get("similarity")
        at = row.get("at")
        try:
            made = Decision(
                _says_of(row),
                tuple(documents_of),
                str(row.get("by") or ""),
                imported_at if at is None else in_utc(str(at)),
                key,
                str(row.get("why") or ""),
                "",
                None if similarity is None else float(similarity),
            )
            found.append(checked(made))
        except (SettingError, ValueError) as error:
            raise InputError(f"{path}, the decision with the key {key!r}: {error}") from None
    return tuple(found)


def _says_of(row: Mapping[str, Any]) -> str:
    says, same = row.get("says"), _truth(row.get("same"), "same")
    if says is None and same is None:
        raise SettingError("neither 'says' nor 'same' has a value")
    if says == "undo":
        raise SettingError("a table has what holds now, and no 'undo'")
    return str(says) if says is not None else "same" if same else "different"


def _named_of(row: Mapping[str, Any], side: str) -> Named | None:
    id, kind = row.get(side), row.get(f"{side}_kind")
    if id is None:
        if side == "a":
            raise SettingError("the column 'a' has no value")
        return None
    if kind not in (None, NUMBER, TEXT):
        raise SettingError(f"{side}_kind={kind!r} is neither {NUMBER!r} nor {TEXT!r}")
    if isinstance(id, str) and (kind == NUMBER or (kind is None and _is_number(id))):
        id = int(id)
    elif kind == TEXT:
        id = str(id)
    content = row.get(f"{side}_content")
    other = _truth(row.get(f"{side}_other"), f"{side}_other")
    return Named(id, "" if content is None else str(content), bool(other))


def _is_number(text: str) -> bool:
    return text.isascii() and text.lstrip("-").isdigit() and str(int(text)) == text


def _truth(value: Any, name: str) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    word = str(value).lower()
    if word not in (*_TRUE, *_FALSE):
        raise SettingError(f"{name}={value!r} is neither true nor false")
    return word in _TRUE


def _key_of(row: Mapping[str, Any], says: str, documents: Iterable[Named]) -> str:
    names = [(one.id, one.content, one.other) for one in documents]
    about = (says, names, *(row.get(name) for name in ("by", "at", "why")))
    return xxh3_128_hexdigest(repr(about).encode())
