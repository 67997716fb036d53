"""Containment and inclusion ≥ 0.8 beside the Jaccard index and LSH Ensemble, one thread.

The joins list every pair of distinct texts; `dedup` keeps the longest ones. LSH Ensemble finds the
documents of which a query shares at least 0.8 of itself, by estimates, so its pairs are compared
with the exact ones by inclusion. Its time includes the sketches, that of `exact_pairs` and `dedup`
the features; the join alone begins with features.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from benchmarks import corpora, dedup_peers, measure
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result, package_versions
from benchmarks.target import Target

if TYPE_CHECKING:
    from neardup.kernels.set_join import Hashes, Offsets

BENCHMARK = "containment"
PEER = "datasketch MinHashLSHEnsemble"
MEASURES = ("jaccard", "containment", "inclusion")
ALONE, JOIN, DEDUP = "the join alone", "exact_pairs", "dedup"
THRESHOLD = 0.8
PARTITIONS = 32
# Of each collection the first distinct texts: pages of one template are in very many pairs.
COLLECTIONS = {"arxiv": 20_000, "django_docs": 4_000, "rustdoc": 2_000}
MOST_TIMES = 5.0
_MORE_ROUNDS = 3

Pairs = set[tuple[int, int]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = measure.options(BENCHMARK, __doc__, rounds=3)
    parser.add_argument("--documents", type=int, help="at most so many of each collection")
    chosen = parser.parse_args(arguments)
    known = {name: corpora.DATA / name / "docs.parquet" for name in COLLECTIONS}
    missing = [str(path) for path in known.values() if not path.exists()]
    if missing:
        raise SystemExit(f"{missing[0]} is missing, which this is measured on")
    measure.one_thread_each()
    if not _has_peer():
        print(f"{PEER} is not installed, so it has no rows", file=sys.stderr)
    rows: list[Json] = []
    for name, path in known.items():
        most = min(COLLECTIONS[name], chosen.documents or COLLECTIONS[name])
        texts = pq.read_table(path, columns=["text"])["text"].to_pylist()
        rows += _rows(name, list(dict.fromkeys(texts))[:most], chosen.rounds)
    versions = package_versions(["neardup", *(["datasketch"] if _has_peer() else [])])
    conditions = {"rounds": chosen.rounds, "threshold": THRESHOLD, "partitions": PARTITIONS}
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


def _has_peer() -> bool:
    return find_spec("datasketch") is not None


def _rows(collection: str, texts: list[str], rounds: int) -> Iterator[Json]:
    """Each contestant once a round, with what it found."""
    found: dict[tuple[str, str], object] = {}

    def kept(key: tuple[str, str], run: Callable[[], object]) -> None:
        found[key] = run()

    runs = {key: partial(kept, key, run) for key, run in _contestants(texts)}
    alone = [run for (task, _), run in runs.items() if task == ALONE]
    others = [run for (task, _), run in runs.items() if task != ALONE]
    # The joins alone take a fraction of a second, so that they need more rounds.
    timings = measure.interleaved(alone, _MORE_ROUNDS * rounds)
    timings += measure.interleaved(others, rounds)
    truth = found[JOIN, "inclusion"]
    for (task, name), timing in zip(runs, timings, strict=True):
        result = found[task, name]
        row: Json = {
            "collection": collection,
            "task": task,
            "name": name,
            "documents": len(texts),
            "found": len(result) if isinstance(result, set) else result,
            "cpu_seconds": round(timing.cpu, 3),
            "wall_seconds": round(timing.wall, 3),
        }
        if name == PEER and isinstance(result, set) and isinstance(truth, set):
            right = len(result & truth)
            row["recall"] = round(right / max(1, len(truth)), 4)
            row["precision"] = round(right / max(1, len(result)), 4)
        yield row


def _contestants(texts: list[str]) -> Iterator[tuple[tuple[str, str], Callable[[], object]]]:
    from neardup.features.hashed import text_sets
    from neardup.features.spec import FeatureSpec, TextColumn
    from neardup.kernels.columns import text_column

    sets = text_sets([TextColumn(text_column(texts))], FeatureSpec.parse("word:3"))
    for name in MEASURES:
        yield (ALONE, name), partial(_joined_alone, sets.offsets, sets.hashes, name)
    for name in MEASURES:
        yield (JOIN, name), partial(_joined, texts, name)
    if _has_peer():
        yield (JOIN, PEER), partial(_estimated, texts)
    for name in MEASURES:
        yield (DEDUP, name), partial(_removed, texts, name)


def _joined(texts: list[str], similarity: str) -> Pairs:
    import neardup as nd

    found = nd.exact_pairs(texts, THRESHOLD, similarity, threads=1)  # type: ignore[arg-type]
    return set(zip(found["a"].to_pylist(), found["b"].to_pylist(), strict=True))


def _joined_alone(offsets: Offsets, hashes: Hashes, similarity: str) -> int:
    """The number of pairs."""
    from neardup.kernels.set_join import join_similar

    return len(join_similar(offsets, hashes, None, measure=similarity, threshold=THRESHOLD))


def _removed(texts: list[str], similarity: str) -> int:
    """The number of removed documents."""
    import neardup as nd

    chosen: Json = {"similarity": similarity, "threshold": THRESHOLD, "keep": "longest"}
    return int(nd.dedup(texts, threads=1, pairs="none", **chosen).summary["removed"])


def _estimated(texts: list[str]) -> Pairs:
    """Every document as a query; those that it finds, without itself."""
    from datasketch import MinHashLSHEnsemble

    shingles = dedup_peers.WORDS
    sketches = dedup_peers.datasketch_sketches(texts, shingles)
    sizes = [len(set(shingles.encoded(text))) for text in texts]
    ensemble = MinHashLSHEnsemble(
        threshold=THRESHOLD, num_perm=dedup_peers.SKETCH, num_part=PARTITIONS
    )
    asked = [row for row, size in enumerate(sizes) if size]
    ensemble.index((row, sketches[row], sizes[row]) for row in asked)
    return {
        (row, other)
        for row in asked
        for other in ensemble.query(sketches[row], sizes[row])
        if other != row
    }


def section(result: Result) -> str:
    """The part of the page."""
    parts = [
        "## Containment, one thread\n",
        provenance(result),
        "Every pair of distinct texts (the join alone, and `exact_pairs` with the making of "
        "features), and the removals of `dedup --keep longest`, from "
        f"{result.conditions['threshold']} on. `inclusion` has a "
        "direction, so that two documents can be two pairs. datasketch's LSH Ensemble estimates "
        "inclusion; its recall and precision are against the exact pairs.\n",
    ]
    for collection in dict.fromkeys(row["collection"] for row in result.rows):
        own = [row for row in result.rows if row["collection"] == collection]
        lines = []
        for row in own:
            jaccard = result.row(collection=collection, task=row["task"], name="jaccard")
            lines.append(
                (
                    row["task"] if row["name"] in MEASURES else "",
                    f"**{row['name']}**" if row["name"] in MEASURES else row["name"],
                    f"{row['found']:,}",
                    f"{row['recall']:.3f}" if "recall" in row else "1",
                    f"{row['precision']:.3f}" if "precision" in row else "1",
                    f"{row['cpu_seconds']:.2f}",
                    f"{row['cpu_seconds'] / max(jaccard['cpu_seconds'], 1e-3):.1f} ×",
                )
            )
        heads = ("", "measure", "found", "recall", "precision", "CPU s", "of Jaccard's")
        parts += [f"**{collection}, {own[0]['documents']:,} documents**\n", table(heads, lines)]
    return "\n".join(parts)


def targets(result: Result) -> Iterator[Target]:
    """What was set out to reach, judged by the result."""
    for collection in dict.fromkeys(row["collection"] for row in result.rows):
        jaccard, ours = (
            result.row(collection=collection, task=ALONE, name=name)["cpu_seconds"]
            for name in ("jaccard", "containment")
        )
        times = ours / max(jaccard, 1e-3)
        what = f"join by containment ≥ {THRESHOLD}, {collection}"
        wanted = f"≤ {MOST_TIMES:g} × the time of Jaccard"
        yield Target(what, wanted, f"{times:.1f} ×", times <= MOST_TIMES)


if __name__ == "__main__":
    main()
