"""One deduplication by one tool, in a process of its own: what it cost, and how well it found.

The clock runs from the start of the process to its end, from the file to the files it writes.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.json
import pyarrow.parquet as pq

from benchmarks import child
from benchmarks.dedup_corpora import Collection, Ints

OURS = "neardup"


@dataclass(frozen=True)
class Once:
    """What one run cost, what it reported, and what of that is true.

    `recall` is of the planted pairs that reach the threshold, `precision` of the reported ones;
    without any, they are None. `in_clusters` are documents, which only neardup reports.
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
    output = collection.path.with_suffix(".out")
    run = child.run(_command(tool, collection.path, output, threshold))
    pairs = _reported(output)
    clusters = output / "clusters.parquet"
    in_clusters = pq.read_metadata(clusters).num_rows if clusters.exists() else None
    shutil.rmtree(output)
    recall, precision = judged(pairs, collection, threshold)
    return Once(run.cpu, run.wall, run.peak_megabytes, len(pairs), recall, precision, in_clusters)


def _command(tool: str, source: Path, output: Path, threshold: float) -> Sequence[str]:
    if tool != OURS:
        peer = [sys.executable, "-m", "benchmarks.dedup_peers", tool]
        return [*peer, str(source), str(output), str(threshold)]
    options = ["--threshold", str(threshold), "--threads", "1", "--quiet"]
    return [child.neardup_command(), "dedup", str(source), "-o", str(output), *options]


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


def judged(
    pairs: Ints, collection: Collection, threshold: float
) -> tuple[float | None, float | None]:
    """Recall of the planted pairs that reach the threshold, and precision."""
    planted = collection.planted[collection.jaccard(collection.planted) >= threshold]
    found = np.isin(_keys(planted), _keys(pairs))
    true = collection.jaccard(pairs) >= threshold
    return _share(found), _share(true)


def _keys(pairs: Ints) -> Ints:
    return np.asarray((pairs[:, 0] << 32) | pairs[:, 1])


def _share(holds: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float | None:
    return float(holds.mean()) if len(holds) else None
