"""The collections of the Spark benchmark as Parquet files."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.parquet as pq

from benchmarks import dedup_corpora
from benchmarks.corpora import DATA
from benchmarks.spark_runs import ARXIV, DJANGO, LICENCES, RUSTDOC, WORDS, generated_name

FOLDERS = {ARXIV: "arxiv", DJANGO: "django_docs", LICENCES: "licenses", RUSTDOC: "rustdoc"}
ROW_GROUP = 50_000
_BLOCK = 32 << 20
_BYTES_A_DOCUMENT = 2_500  # on disk while it is made and measured: lines, Parquet, two outputs


@dataclass(frozen=True)
class Corpus:
    """A Parquet file with a column `text`; `id` is the option `--id` that it needs, if any."""

    name: str
    path: Path
    documents: int
    megabytes: float
    id: str | None = None

    @property
    def file_megabytes(self) -> float:
        return self.path.stat().st_size / 1e6


def real(name: str) -> Corpus | None:
    """A real collection; None where it is not beside the repository."""
    path = DATA / FOLDERS[name] / "docs.parquet"
    if not path.exists():
        return None
    # Pages of several crates have the same id.
    return _described(name, path, "row" if name == RUSTDOC else None)


def generated(n: int, folder: Path) -> Corpus:
    """Documents of 60 words, a tenth of them with an edited copy; made once in a folder."""
    path = folder / f"generated-{n}.parquet"
    if not path.exists():
        print(f"making {n:,} documents", file=sys.stderr)
        lines, new = path.with_suffix(".jsonl"), path.with_suffix(".new")
        dedup_corpora.planted(n, WORDS, lines)
        write_parquet(lines, new)
        lines.unlink()
        new.rename(path)
    return _described(generated_name(n), path, None)


def disk_needed(n: int) -> int:
    """About the bytes that a run on so many generated documents needs on disk."""
    return n * _BYTES_A_DOCUMENT


def write_parquet(lines: Path, path: Path) -> None:
    """JSON lines as Parquet with row groups that a cluster can divide."""
    schema = pa.schema({"id": pa.string(), "text": pa.string()})
    reader = pa.json.open_json(
        lines,
        read_options=pa.json.ReadOptions(block_size=_BLOCK),
        parse_options=pa.json.ParseOptions(explicit_schema=schema),
    )
    with pq.ParquetWriter(path, schema) as writer:
        waiting, held = [], 0
        for batch in reader:
            waiting.append(batch)
            held += len(batch)
            if held >= ROW_GROUP:
                table = pa.Table.from_batches(waiting)
                whole = held - held % ROW_GROUP
                writer.write_table(table.slice(0, whole), row_group_size=ROW_GROUP)
                waiting, held = table.slice(whole).to_batches(), held - whole
        if held:
            writer.write_table(pa.Table.from_batches(waiting), row_group_size=ROW_GROUP)


def _described(name: str, path: Path, id: str | None) -> Corpus:
    size = documents = 0
    for batch in pq.ParquetFile(path).iter_batches(columns=["text"]):
        size += pc.sum(pc.binary_length(batch["text"])).as_py() or 0
        documents += len(batch)
    return Corpus(name, path, documents, size / 1e6, id)
