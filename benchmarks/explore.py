"""A stored run opened again: how long its index takes, and the answers to what pages ask.

The run has one cluster for ten documents, and lists pairs below its threshold. Each query is asked
with several pages, words or documents; the first call of each kind, which reads what the others
find in memory, is among them. Memory is that of the process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import child, measure
from benchmarks.generated import language
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result, package_versions
from benchmarks.target import Target

BENCHMARK = "explore"
DOCUMENTS = 1_000_000
WORDS = 100
FLOOR = "0.6"
_TIMES = ("best_ms", "median_ms", "worst_ms")
_BLOCK = 20_000
# This share of the documents begins a cluster, which gets one to seven more.
_CENTRES, _MORE = 0.12, (1, 1, 1, 2, 2, 3, 4, 7)
# Words that an edited copy has exchanged, of 100: Jaccard of word:3 is 1 to about 0.6.
_EDITS = (0, 1, 1, 2, 2, 3, 4, 5, 6, 8)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make a run, open it, ask, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = measure.options(BENCHMARK, __doc__, rounds=None)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="neardup-bench-") as folder:
        source, out = Path(folder) / "documents.parquet", Path(folder) / "out"
        write_documents(source, chosen.documents)
        made = [child.neardup_command(), "dedup", str(source), "-o", str(out), "--floor", FLOOR]
        print("dedup", file=sys.stderr)
        subprocess.run([*made, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
        rows = [_asked("build", out), _asked("ask", out)]
        size = sum(file.stat().st_size for file in out.iterdir())
        index = (out / "explore.sqlite").stat().st_size
    conditions = {
        "documents": summary["documents"],
        "clusters": summary["clusters"],
        "removed": summary["removed"],
        "pairs": summary["pairs"],
        "words": WORDS,
        "run_megabytes": round((size - index) / 1e6, 1),
        "index_megabytes": round(index / 1e6, 1),
    }
    versions = package_versions(["neardup", "pyarrow", "numpy"])
    built, asked = rows
    queries = [{**built, "name": "build the index"}, *asked["queries"]]
    named = ("open_seconds", "first_page_ms", "largest_page_kilobytes", "megabytes")
    conditions |= {name: asked[name] for name in named}
    Result.of(BENCHMARK, arguments, versions, conditions, queries).save(chosen.out)


def section(result: Result) -> str:
    """The part of the page."""
    given, (built, *asked) = result.conditions, result.rows
    about = (
        f"A run of {given['documents']:,} documents of {given['words']} words in "
        f"{given['clusters']:,} clusters, with {given['pairs']:,} pairs from {FLOOR} on "
        f"({given['run_megabytes']:,.0f} MB). Its index ({given['index_megabytes']:,.0f} MB) was "
        f"built once in {built['seconds']:.0f} s, with a peak memory of "
        f"{built['megabytes']:.0f} MB; opening it takes {given['open_seconds']:.3f} s, and the "
        f"first page {given['first_page_ms']:.0f} ms more. After all of the following, the "
        "process has "
        f"needed {given['megabytes']:.0f} MB at its peak. The largest page has "
        f"{given['largest_page_kilobytes']:.0f} kB. A *page* is made as the server of `neardup "
        "explore` asks for it; the others are the queries that pages are made of. Every row has "
        "several addresses or words; the first call of each kind is among them.\n"
    )
    rows = [
        (row["name"], str(row["calls"]), *(f"{row[name]:.1f}" for name in _TIMES)) for row in asked
    ]
    header = ("", "calls", "best ms", "median ms", "worst ms")
    parts = ("## The explorer\n", provenance(result), about, table(header, rows))
    return "\n".join(parts)


def targets(result: Result) -> Iterator[Target]:
    """What the explorer set out to reach."""
    given, asked = result.conditions, result.rows[1:]
    slowest = max(asked, key=lambda row: float(row["worst_ms"]))
    of = f"explorer, {given['documents']:,} documents: "
    first, opened = given["first_page_ms"], given["open_seconds"]
    yield Target(f"{of}start", "≤ 1 s", f"{opened:.3f} s", opened <= 1)
    yield Target(f"{of}first page", "≤ 300 ms", f"{first:.0f} ms", first <= 300)
    measured = f"{slowest['worst_ms']:.0f} ms ({slowest['name']})"
    yield Target(f"{of}slowest page or query", "≤ 200 ms", measured, slowest["worst_ms"] <= 200)
    memory, largest = given["megabytes"], given["largest_page_kilobytes"]
    yield Target(f"{of}memory", "≤ 500 MB", f"{memory:.0f} MB", memory <= 500)
    yield Target(f"{of}largest page", "≤ 100 kB", f"{largest:.0f} kB", largest <= 100)


def _asked(task: str, out: Path) -> Json:
    """What a new process measures."""
    print(task, file=sys.stderr)
    command = [sys.executable, "-m", "benchmarks.explore_once", task, str(out)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    found: Json = json.loads(done.stdout)
    return found


def write_documents(path: Path, count: int) -> None:
    """Documents with ids, titles, categories and texts; copies are anywhere within a block."""
    schema = pa.schema(
        [("id", pa.string()), ("title", pa.string()), ("kind", pa.string()), ("text", pa.string())]
    )
    with pq.ParquetWriter(path, schema) as writer:
        for first, texts in zip(range(0, count, _BLOCK), _blocks(count), strict=True):
            numbers = range(first, first + len(texts))
            columns = {
                "id": [f"doc-{number:07}" for number in numbers],
                "title": [" ".join(text.split(" ", 4)[:4]) for text in texts],
                "kind": [f"kind {number * 7 % 31}" for number in numbers],
                "text": texts,
            }
            writer.write_table(pa.table(columns, schema))


def _blocks(count: int) -> Iterator[list[str]]:
    state = np.random.RandomState(18)
    vocabulary = np.array(language("English").words(state), object)
    weights = 1 / np.arange(1, len(vocabulary) + 1)
    weights /= weights.sum()
    for first in range(0, count, _BLOCK):
        wanted = min(_BLOCK, count - first)
        documents = vocabulary[state.choice(len(vocabulary), (wanted, WORDS), p=weights)]
        end = wanted
        for centre in range(int(wanted * _CENTRES)):
            for _ in range(_MORE[state.randint(len(_MORE))]):
                end -= 1
                copied = documents[centre].copy()
                at = state.randint(WORDS, size=_EDITS[state.randint(len(_EDITS))])
                copied[at] = vocabulary[state.randint(len(vocabulary), size=len(at))]
                documents[end] = copied
        yield [" ".join(words) for words in documents[state.permutation(wanted)].tolist()]


if __name__ == "__main__":
    main()
