"""`neardup fingerprint` from a Parquet file to stored fingerprints, with two threads.

Needs disk for two files of `--size` and, to write the one with a single row group, about three
times `--size` of memory; the files are deleted again. Reads /proc, so it runs on Linux.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import child, corpora, measure
from benchmarks.corpora import Corpus
from benchmarks.result import Json, Result, package_versions

BENCHMARK = "end_to_end"
THREADS = 2
FINGERPRINT_BYTES = 8
KERNEL = "kernel"
KERNEL_ROUNDS = 5
USUAL_ROW_GROUP = 65_536


def repeated(corpus: Corpus, megabytes: float) -> Corpus:
    """At least `megabytes` of text: copies of the corpus, no two documents the same."""
    ids: list[pa.Array] = []
    texts: list[pa.Array] = []
    size = 0.0
    while size < megabytes:
        copy = len(texts) + 1
        ids.append(_prefixed(f"{copy}/", corpus.ids))
        texts.append(_prefixed(f"Copy {copy}. ", corpus.texts))
        size += corpus.megabytes
    whole = Corpus(corpus.name, corpus.source, pa.concat_arrays(ids), pa.concat_arrays(texts))
    return whole.first(megabytes)


def _prefixed(prefix: str, column: pa.Array) -> pa.Array:
    joined, nothing = pa.scalar(prefix, pa.large_string()), pa.scalar("", pa.large_string())
    return pc.binary_join_element_wise(joined, column, nothing)


def write_inputs(corpus: Corpus, folder: Path) -> dict[str, Path]:
    """The Parquet files to read, by what is special about them."""
    table = pa.table({"id": corpus.ids, "text": corpus.texts})
    row_groups = {"row groups of 65,536": USUAL_ROW_GROUP, "a single row group": len(table)}
    paths = {}
    for number, (name, rows) in enumerate(row_groups.items()):
        paths[name] = folder / f"input-{number}.parquet"
        pq.write_table(table, paths[name], row_group_size=rows)
    return paths


def fingerprint_file(path: Path) -> child.ChildRun:
    """Run `neardup fingerprint` on a file, and delete what it wrote."""
    output = path.with_suffix(".fingerprints")
    command = [child.neardup_command(), "fingerprint", str(path), "-o", str(output)]
    measured = child.run([*command, "--threads", str(THREADS)])
    output.unlink()
    return measured


def kernel_row(corpus: Corpus) -> Json:
    """What the kernel does with the same text in memory, on as many threads."""
    import neardup as nd

    run = partial(nd.fingerprint, corpus.texts, threads=THREADS)
    (timing,) = measure.interleaved([run], KERNEL_ROUNDS)
    return _row(KERNEL, corpus, timing.wall, timing.cpu)


def _row(name: str, corpus: Corpus, wall: float, cpu: float) -> Json:
    return {
        "name": name,
        "documents": len(corpus.texts),
        "megabytes": round(corpus.megabytes, 1),
        "wall_seconds": round(wall, 3),
        "cpu_seconds": round(cpu, 3),
        "megabytes_per_second": round(corpus.megabytes / wall, 1),
    }


def file_row(name: str, path: Path, corpus: Corpus, rounds: int) -> Json:
    """The quickest run over a file, and the highest of the peaks of memory."""
    runs = [fingerprint_file(path) for _ in range(rounds)]
    best = min(runs, key=lambda run: run.wall)
    peak = max(run.peak_megabytes for run in runs)
    fingerprints = len(corpus.texts) * FINGERPRINT_BYTES / 1e6
    return {
        **_row(name, corpus, best.wall, best.cpu),
        "file_megabytes": round(path.stat().st_size / 1e6, 1),
        "peak_megabytes": round(peak, 1),
        "peak_megabytes_without_fingerprints": round(peak - fingerprints, 1),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = measure.options(BENCHMARK, __doc__, rounds=3)
    parser.add_argument("--size", type=float, default=2000, help="megabytes of text (2000)")
    chosen = parser.parse_args(arguments)

    corpus = corpora.load("English")
    big = repeated(corpus, chosen.size)
    rows = [kernel_row(corpus.first(chosen.size))]
    with tempfile.TemporaryDirectory(prefix="neardup-benchmark-") as folder:
        for name, path in write_inputs(big, Path(folder)).items():
            rows.append(file_row(name, path, big, chosen.rounds))
    versions = package_versions(["neardup", "numpy", "pyarrow"])
    conditions = {
        "rounds": chosen.rounds,
        "threads": THREADS,
        "corpora": [big.description()],
    }
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


if __name__ == "__main__":
    main()
