"""The file of pairs to label: written for people, who fill in `same` or answer in the explorer.

Its columns are `a`, `b`, `same` (empty), `similarity`, `why`, `a_text` and `b_text`.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from neardup.atomic import replacing
from neardup.errors import InputError, NeardupError, SettingError
from neardup.frozen import dataclass
from neardup.kernels.columns import column_of
from neardup.labels.read import SAME, TEXTS, answers, decisions_beside
from neardup.labels.rows import A, B, PairRows, pair_rows
from neardup.read.limits import quoted
from neardup.report.spreadsheet import SpreadsheetWriter

SUFFIXES = (".jsonl", ".csv", ".parquet")
COLUMNS = (A, B, SAME, "similarity", "why", *TEXTS.values())
_ABOUT = b"neardup.pairs_to_label"  # in the metadata of Parquet
_ROWS_AT_ONCE = 256  # each has two texts of any length


@dataclass(frozen=True, eq=False)
class PairsToLabel:
    """Pairs to ask people about, in the order in which to ask.

    `a` and `b` are ids. A text of fields has a line `name: value` for each. `similarity` is by the
    settings that were recommended, `why` says which stratum a pair stands for.
    """

    a: pa.Array
    b: pa.Array
    a_text: pa.Array
    b_text: pa.Array
    similarity: NDArray[np.float64]
    why: Sequence[str]

    def __len__(self) -> int:
        return len(self.why)

    def table(self) -> pa.Table:
        """The columns of the file."""
        nothing = pa.nulls(len(self), pa.bool_())
        similarity = column_of(self.similarity, np.isnan(self.similarity))
        why = pa.array(self.why, pa.string())
        columns = (self.a, self.b, nothing, similarity, why, self.a_text, self.b_text)
        return pa.table(dict(zip(COLUMNS, columns, strict=True)))


def write_pairs_to_label(
    path: str | os.PathLike[str],
    pairs: PairsToLabel,
    *,
    about: Mapping[str, Any],
    overwrite: bool = False,
) -> None:
    """Write pairs for people to label, as .jsonl, .csv or .parquet; complete or not at all.

    `about` is stored in Parquet alone, which has room for it. If it has a `command`, that is the
    command that chooses settings, to which `neardup review` adds the labels. A file that holds
    labels is replaced only with `overwrite`, one that holds anything else never.
    """
    suffix = suffix_of(path)
    require_free(path, overwrite=overwrite)
    writer = {".jsonl": _write_lines, ".csv": _write_csv, ".parquet": _write_parquet}[suffix]
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        writer(pairs.table(), file, about)


def suffix_of(path: str | os.PathLike[str]) -> str:
    """The suffix of a file of pairs to label; `SettingError` if it is none of the three."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise SettingError(
            f"{path}: the name of a file of pairs to label ends in .jsonl, .csv or .parquet"
        )
    return suffix


def require_free(path: str | os.PathLike[str], *, overwrite: bool) -> None:
    """Refuse to replace labels, or a file of another kind, before any work is done."""
    if not os.path.isfile(path) or not os.path.getsize(path):
        return
    try:
        labelled = sum(int(answers(rows)[0].sum()) for rows in pairs_to_label(path))
    except InputError:
        raise NeardupError(
            f"{path} is not a file of pairs to label, and is not replaced; name another file"
        ) from None
    if overwrite:
        return
    if labelled:
        raise NeardupError(
            f"{path} has {labelled:,} label{'' if labelled == 1 else 's'} and is not replaced; "
            "name another file"
        )
    if decisions_beside(path).is_file():
        raise NeardupError(
            f"{decisions_beside(path)} has answers to {path}, which is not replaced; name another "
            "file"
        )


def pairs_to_label(path: str | os.PathLike[str]) -> Iterator[PairRows]:
    """Read the pairs of such a file; `InputError` if it lacks texts, or has a pair of one id."""
    for rows in pair_rows(path):
        for name in TEXTS.values():
            if name not in rows.columns:
                listed = ", ".join(map(repr, rows.columns))
                raise InputError(
                    f"{rows.source} has no column {name!r}; its columns are {listed}; pairs to "
                    "label have the texts of both documents in 'a_text' and 'b_text'"
                )
        for row, (a, b) in enumerate(
            zip(rows.columns[A].to_pylist(), rows.columns[B].to_pylist(), strict=True)
        ):
            if not a or not b:
                raise InputError(f"{rows.where(row)}: {A if not a else B!r} is empty; give an id")
            if a == b:
                raise InputError(f"{rows.where(row)}: a pair of {quoted(a)} with itself; delete it")
        yield rows


def about_pairs(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What a file says about itself; nothing, unless it is Parquet that neardup wrote."""
    if Path(path).suffix.lower() != ".parquet":
        return {}
    with open(path, "rb") as file:
        found = (pq.read_metadata(file).metadata or {}).get(_ABOUT)
    try:
        about = json.loads(found or b"{}")
    except ValueError:
        return {}
    return about if isinstance(about, dict) else {}


def _write_lines(table: pa.Table, file: IO[bytes], about: Mapping[str, Any]) -> None:
    for batch in table.to_batches(_ROWS_AT_ONCE):
        for row in batch.to_pylist():
            file.write(orjson.dumps(row) + b"\n")


def _write_csv(table: pa.Table, file: IO[bytes], about: Mapping[str, Any]) -> None:
    lines = io.TextIOWrapper(file, "utf-8", newline="")
    writer = SpreadsheetWriter(lines)
    writer.rows([COLUMNS])
    for batch in table.to_batches(_ROWS_AT_ONCE):
        writer.rows(row.values() for row in batch.to_pylist())
    lines.detach()


def _write_parquet(table: pa.Table, file: IO[bytes], about: Mapping[str, Any]) -> None:
    schema = table.schema.with_metadata({_ABOUT: json.dumps(dict(about), ensure_ascii=False)})
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in table.to_batches(_ROWS_AT_ONCE):
            writer.write_batch(batch)
