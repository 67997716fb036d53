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
from benchmarks.result import Json, Result, package_versions

BENCHMARK = "explore"
DOCUMENTS = 1_000_000
WORDS = 100
FLOOR = "0.6"
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
    conditions |= {"open_seconds": asked["open_seconds"], "megabytes": asked["megabytes"]}
    Result.of(BENCHMARK, arguments, versions, conditions, queries).save(chosen.out)


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
