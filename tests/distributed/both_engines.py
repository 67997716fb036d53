"""One deduplication by both engines, and what must be equal in their output folders."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import neardup as nd
from neardup.collection.settings import DedupSettings
from neardup.collection.source import FileSource
from neardup.distributed.run import Outcome, Sizes, deduplicate
from neardup.distributed.work import Work
from neardup.engines.exchange import Engine, InProcess

# These tell how a run went, and not what it found.
_OF_THE_RUN = {
    "command",
    "started",
    "seconds",
    "wall_seconds",
    "peak_megabytes",
    "candidates",
    "false",
    "plan",
    "reason",
    "resumed",
    "engine",
    "versions",
    "warnings",  # have a test of their own
}
_TABLES = ("clusters", "pairs", "documents", "others")
Paths = str | Path | Sequence[str | Path]


def run_local(
    inputs: Paths,
    output: Path,
    *,
    against: Any = None,
    within: bool = False,
    format: str = "parquet",
    copies: bool = False,
    **settings: Any,
) -> dict[str, Any]:
    """The output of the local engine; its summary."""
    found = nd.dedup(inputs, against=against, within=within, **settings)
    found.save(output, format=format, copies=copies)
    return summary_of(output)


def run_distributed(
    inputs: Paths,
    output: Path,
    *,
    against: Any = None,
    engine: Engine | None = None,
    sizes: Sizes | None = None,
    work: Path | None = None,
    within: bool = False,
    format: str = "parquet",
    copies: bool = False,
    resume: bool = False,
    **settings: Any,
) -> Outcome:
    """The output of tasks that exchange messages."""
    checked = DedupSettings.of(**settings)
    return deduplicate(
        FileSource(_listed(inputs), checked),
        checked,
        InProcess() if engine is None else engine,
        str(output),
        Work(str(work or output.with_name(f"{output.name}-work"))),
        None if against is None else FileSource(_listed(against), checked),
        within=within,
        resume=resume,
        format=format,
        copies=copies,
        sizes=Sizes() if sizes is None else sizes,
    )


def _listed(inputs: Paths) -> list[str]:
    return [str(inputs)] if isinstance(inputs, str | Path) else [str(one) for one in inputs]


def assert_same_output(local: Path, other: Path) -> None:
    """Fail with all differences in what two output folders tell about the documents."""
    names, found = ({one.name for one in folder.iterdir()} for folder in (local, other))
    names.discard("removed.txt")  # the local engine alone lists the paths of removed files
    different = [f"one alone has {name}" for name in sorted(names ^ found)]
    for name in sorted(names & found):
        stem = name.partition(".")[0]
        if stem in _TABLES or name in ("kept.parquet", "removed.parquet"):
            different += _of_tables(stem, table_of(local / name), table_of(other / name))
        elif stem in ("kept", "removed", "rejected"):
            different += _of_rows(name, rows_of(local / name), rows_of(other / name))
    expected, summary = summary_of(local), summary_of(other)
    different += [
        f"summary: {name} is {summary.get(name)!r} and not {expected.get(name)!r}"
        for name in sorted(expected.keys() | summary.keys())
        if name not in expected or name not in summary or expected[name] != summary[name]
    ]
    if not (other / "report.html").stat().st_size:
        different.append("the report is empty")
    assert not different, "\n".join(different)


def table_of(path: Path) -> pa.Table:
    """A table in a file, or in a folder of parts."""
    table = pq.read_table(path)
    for place, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        # Both kinds of strings are the same to a reader of Parquet.
        kind = pa.string() if pa.types.is_large_string(kind) else kind
        table = table.set_column(place, field.with_type(kind), table[place].cast(kind))
    return table


def _of_tables(name: str, expected: pa.Table, found: pa.Table) -> list[str]:
    if name == "documents" and "rank" in expected.column_names:
        expected = expected.drop_columns(["rank"])
    expected, found = expected.replace_schema_metadata(None), found.replace_schema_metadata(None)
    if found.schema != expected.schema:
        return [f"{name}: the columns are {found.schema} and not {expected.schema}"]
    return _of_rows(name, expected.to_pylist(), found.to_pylist())


def _of_rows(name: str, expected: list[Any], found: list[Any]) -> list[str]:
    if len(found) != len(expected):
        return [f"{name}: {len(found)} rows and not {len(expected)}"]
    for number, (one, other) in enumerate(zip(expected, found, strict=True)):
        if one != other:
            return [f"{name}: row {number} is {other} and not {one}"]
    return []


def rows_of(path: Path) -> list[Any]:
    """The rows of JSON lines or CSV, in a file or in a folder of parts."""
    rows: list[Any] = []
    header: list[str] | None = None
    for part in sorted(path.iterdir()) if path.is_dir() else [path]:
        text = part.read_bytes().decode("utf-8-sig")
        if path.suffix == ".csv":
            first, *rest = list(csv.reader(text.splitlines(keepends=True)))
            assert header in (None, first)
            header = first
            rows += [dict(zip(first, row, strict=True)) for row in rest]
        else:
            rows += [json.loads(line) for line in text.splitlines()]
    return rows


def summary_of(folder: Path) -> dict[str, Any]:
    """What the summary of an output folder tells about the documents."""
    summary = json.loads((folder / "summary.json").read_bytes())
    return {name: value for name, value in summary.items() if name not in _OF_THE_RUN}
