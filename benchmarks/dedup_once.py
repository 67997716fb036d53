"""One deduplication by one tool, in a process of its own: what it cost, and how well it found.

The clock runs from the start of the process to its end, from the file to the files it writes.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks import child
from benchmarks.dedup_corpora import SHINGLE, Collection, Ints
from benchmarks.dedup_peers import SKETCH

OURS = "neardup"
TEXT_DEDUP = "text-dedup"
# It brings some seventy packages, Spark among them, so it has an environment of its own.
TEXT_DEDUP_PYTHON = Path(sys.prefix) / "peers" / TEXT_DEDUP / "bin" / "python"

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Once:
    """What one run cost, what it reported, and what of that is true.

    `recall` is of the planted pairs that reach the threshold, `precision` of the reported ones;
    without any, they are None. `in_clusters` are documents, which only neardup reports.
    text-dedup reports no pairs: for it, they are the documents it removed.
    """

    cpu_seconds: float
    wall_seconds: float
    peak_megabytes: float
    pairs: int
    recall: float | None
    precision: float | None
    in_clusters: int | None


def once(tool: str, collection: Collection, threshold: float) -> Once:
    """Run a tool on a collection with one thread, judge what it wrote, and delete that."""
    with tempfile.TemporaryDirectory(dir=collection.path.parent) as folder:
        output = Path(folder) / "out"
        run = child.run(_command(tool, collection.path, output, threshold))
        cost = (run.cpu, run.wall, run.peak_megabytes)
        if tool == TEXT_DEDUP:
            removed = _removed(output, len(collection.words))
            a, b = _planted(collection, threshold).T
            found = removed[a] | removed[b]
            return Once(*cost, int(removed.sum()), _share(found), None, None)
        pairs = _reported(output)
        clusters = output / "clusters.parquet"
        in_clusters = pq.read_metadata(clusters).num_rows if clusters.exists() else None
    return Once(*cost, len(pairs), *judged(pairs, collection, threshold), in_clusters)


def _command(tool: str, source: Path, output: Path, threshold: float) -> Sequence[str]:
    if tool == OURS:
        ours = [child.neardup_command(), "dedup", str(source), "-o", str(output)]
        return [*ours, "--threshold", str(threshold), "--threads", "1", "--quiet"]
    if tool != TEXT_DEDUP:
        peer = [sys.executable, "-m", "benchmarks.dedup_peers", tool]
        return [*peer, str(source), str(output), str(threshold)]
    options = {
        "path": "json",
        "data_files": source,
        "split": "train",
        "cache_dir": output.with_name("cache"),
        "output": output,
        "column": "text",
        "ngram": SHINGLE,
        "num_perm": SKETCH,
        "threshold": threshold,
        "hash_func": "xxh3",
        "num_proc": 1,
    }
    given = [str(part) for name, value in options.items() for part in (f"--{name}", value)]
    return [str(TEXT_DEDUP_PYTHON), "-m", "text_dedup.minhash", *given]


def _reported(output: Path) -> Ints:
    """The pairs a tool wrote, by the rows of their documents."""
    ours = output / "pairs.parquet"
    if ours.exists():
        table = pq.read_table(ours, columns=["a", "b"])
    elif (output / "pairs.jsonl").stat().st_size:
        table = pa.json.read_json(output / "pairs.jsonl")
    else:
        return np.zeros((0, 2), np.int64)
    columns = [table[name].cast(pa.int64()).to_numpy() for name in ("a", "b")]
    return np.sort(np.stack(columns, axis=1), axis=1)


def _removed(output: Path, n: int) -> Flags:
    """Which rows are not among the documents that text-dedup kept."""
    removed = np.ones(n, np.bool_)
    for path in output.glob("*.arrow"):
        kept = pa.ipc.open_stream(path).read_all()
        removed[kept["id"].cast(pa.int64()).to_numpy()] = False
    return removed


def judged(
    pairs: Ints, collection: Collection, threshold: float
) -> tuple[float | None, float | None]:
    """Recall of the planted pairs that reach the threshold, and precision."""
    found = np.isin(_keys(_planted(collection, threshold)), _keys(pairs))
    true = collection.jaccard(pairs) >= threshold
    return _share(found), _share(true)


def _planted(collection: Collection, threshold: float) -> Ints:
    """The planted pairs that reach the threshold."""
    return collection.planted[collection.jaccard(collection.planted) >= threshold]


def _keys(pairs: Ints) -> Ints:
    return np.asarray((pairs[:, 0] << 32) | pairs[:, 1])


def _share(holds: Flags) -> float | None:
    return float(holds.mean()) if len(holds) else None
