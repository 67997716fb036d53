"""One deduplication by one tool, in a process of its own: what it cost, and how well it found.

The clock runs from the start of the process to its end, from the file to the files it writes. A
run that reaches the limits is stopped there, and finds nothing.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks import child
from benchmarks.dedup_corpora import NO_PAIRS, SEED, SHINGLE, Collection, Generated, Ints
from benchmarks.dedup_peers import SKETCH

OURS = "neardup"
TWO_THREADS = "neardup, 2 threads"
# The last version that listed all pairs, commit 1648860, in a folder that an environment variable
# names: `pip install --target FOLDER .` in a checkout of it.
BEFORE = "neardup before stars"
BEFORE_FOLDER = os.environ.get("NEARDUP_BEFORE")
OWN = (OURS, TWO_THREADS, BEFORE)
_START = (
    "import sys; sys.path.insert(0, {folder!r}); "
    "sys.meta_path[:] = [one for one in sys.meta_path if 'ScikitBuild' not in type(one).__name__]; "
    "from neardup.cli.entry import main; main()"
)
TEXT_DEDUP = "text-dedup"
# It brings some seventy packages, Spark among them, so it has an environment of its own.
TEXT_DEDUP_PYTHON = Path(sys.prefix) / "peers" / TEXT_DEDUP / "bin" / "python"

LIMITS = child.Limits(wall_seconds=600, megabytes=20_000)
# Of more reported pairs than this, so many are drawn and judged.
MOST_JUDGED = 500_000

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Once:
    """What one run cost, what it reported, and what of that is true.

    A planted pair is found if one of its two documents is removed: `recall` is of the planted pairs
    that reach the threshold, `precision` of the reported pairs; without any, they are None.
    text-dedup reports no pairs. `in_clusters` and `after_features_seconds`, the time of the stages
    between the features and the output, are what only neardup says.
    """

    cpu_seconds: float
    wall_seconds: float
    peak_megabytes: float
    stopped_at: str | None = None
    removed: int | None = None
    pairs: int | None = None
    recall: float | None = None
    precision: float | None = None
    in_clusters: int | None = None
    after_features_seconds: float | None = None


def once(tool: str, collection: Collection, threshold: float) -> Once:
    """Run a tool on a collection, judge what it wrote, and delete that."""
    with tempfile.TemporaryDirectory(dir=collection.path.parent) as folder:
        output = Path(folder) / "out"
        run = child.run(_command(tool, collection.path, output, threshold), LIMITS)
        cost = Once(run.cpu, run.wall, run.peak_megabytes, run.stopped_at)
        if run.stopped_at is not None:
            return cost
        pairs = None if tool == TEXT_DEDUP else _reported(output)
        removed = _removed(tool, output, collection.documents, pairs)
        said = _said(output) if tool in OWN else {}
    found: dict[str, Any] = {
        "removed": int(removed.sum()),
        "pairs": None if pairs is None else len(pairs),
    }
    if isinstance(collection, Generated):
        recall = recall_of(removed, collection, threshold)
        precision = None if pairs is None else precision_of(pairs, collection, threshold)
        return replace(cost, **found, **said, recall=recall, precision=precision)
    return replace(cost, **found, **said)


def _said(output: Path) -> dict[str, Any]:
    """What only neardup says of a run."""
    seconds = json.loads((output / "summary.json").read_text(encoding="utf-8"))["seconds"]
    stages = list(seconds)
    after = [stage for stage in stages[stages.index("features") + 1 :] if stage != "output"]
    return {
        "in_clusters": pq.read_metadata(output / "clusters.parquet").num_rows,
        "after_features_seconds": round(sum(seconds[stage] for stage in after), 3),
    }


def _command(tool: str, source: Path, output: Path, threshold: float) -> Sequence[str]:
    if tool in OWN:
        threads = "2" if tool == TWO_THREADS else "1"
        command = [child.neardup_command()]
        if tool == BEFORE:
            command = [sys.executable, "-c", _START.format(folder=BEFORE_FOLDER)]
        ours = [*command, "dedup", str(source), "-o", str(output)]
        return [*ours, "--threshold", str(threshold), "--threads", threads, "--quiet"]
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
    """The pairs a tool wrote, by the rows of their documents, the earlier one first."""
    ours = output / "pairs.parquet"
    if ours.exists():
        return _rows_of(pq.ParquetFile(ours).iter_batches(columns=["a", "b"]))
    if (output / "pairs.jsonl").stat().st_size:
        return _rows_of(pa.json.open_json(output / "pairs.jsonl"))
    return NO_PAIRS


def _rows_of(batches: Iterable[pa.RecordBatch]) -> Ints:
    parts = [
        np.stack([batch[name].cast(pa.int64()).to_numpy() for name in ("a", "b")], axis=1)
        for batch in batches
    ]
    return np.sort(np.concatenate([NO_PAIRS, *parts]), axis=1)


def _removed(tool: str, output: Path, n: int, pairs: Ints | None) -> Flags:
    """Which rows a tool removed."""
    removed = np.zeros(n, np.bool_)
    if tool in OWN:
        clusters = pq.read_table(output / "clusters.parquet", columns=["id", "kept"])
        gone = clusters.filter(pc.invert(clusters["kept"]))
        removed[gone["id"].cast(pa.int64()).to_numpy()] = True
    elif pairs is not None:
        removed[pairs[:, 1]] = True
    else:
        removed[:] = True
        for path in output.glob("*.arrow"):
            kept = pa.ipc.open_stream(path).read_all()
            removed[kept["id"].cast(pa.int64()).to_numpy()] = False
    return removed


def recall_of(removed: Flags, collection: Generated, threshold: float) -> float | None:
    """Of the planted pairs that reach the threshold, the share with a removed document."""
    a, b = _planted(collection, threshold).T
    return _share(removed[a] | removed[b])


def precision_of(pairs: Ints, collection: Generated, threshold: float) -> float | None:
    """The share of pairs that reach the threshold, of `MOST_JUDGED` of them if there are more."""
    if len(pairs) > MOST_JUDGED:
        pairs = pairs[np.random.RandomState(SEED).randint(0, len(pairs), MOST_JUDGED)]
    return _share(collection.jaccard(pairs) >= threshold)


def _planted(collection: Generated, threshold: float) -> Ints:
    """The planted pairs that reach the threshold."""
    return collection.planted[collection.jaccard(collection.planted) >= threshold]


def _share(holds: Flags) -> float | None:
    return float(holds.mean()) if len(holds) else None
