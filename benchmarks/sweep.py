"""The course lab's grid against its straightforward version; and predictions against counts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import corpora, measure
from benchmarks.course_lab import lab_sweep
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result, package_versions
from benchmarks.target import Target

BENCHMARK = "sweep"
TIME, COUNTS, PREDICTION = "time", "counts", "prediction"
OURS, VERIFIED, PLAIN = "neardup sweep --exact", "neardup sweep", "straightforward Python, NumPy"
# The ten settings of the lab report, and its threshold.
GRID = [(m, k) for k in (10, 12, 18) for m in (2, 3, 4)] + [(2, 27)]
THRESHOLD = 0.9
LEAST = 20
SHARED = corpora.ARXIV.parent
PLANS = ("bands:2x10", "bands:4x10", "bands:4x16", "bands:8x16", "bands:8x24", "rotate:16:4")
TEXTS: Json = {"similarity": "jaccard", "threshold": 0.8}
COLLECTIONS: dict[str, Json] = {
    "arxiv/features.parquet": {"features": "terms", "threshold": 0.8},
    "arxiv/docs.parquet": TEXTS,
    "django_docs/docs.parquet": TEXTS,
    "tang_poems/docs.parquet": TEXTS,
    "licenses/docs.parquet": TEXTS,
}
MOST_OFF, MOST_TIMES = 0.05, 2.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    chosen = measure.options(BENCHMARK, __doc__, rounds=2).parse_args(arguments)
    if not corpora.arxiv_is_here():
        raise SystemExit(f"{corpora.ARXIV} is missing, which this is measured on")
    predictions = list(_prediction_rows())  # a minute, before many
    rows = [*_grid_rows(chosen.rounds), *predictions]
    versions = package_versions(["neardup", "numpy"])
    conditions = {"rounds": chosen.rounds, "threshold": THRESHOLD, "settings": len(GRID)}
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


def _grid_rows(rounds: int) -> Iterator[Json]:
    """The whole grid, from the file to the counts; the straightforward version runs once."""
    path = corpora.ARXIV / "features.parquet"
    plain: list[Any] = []
    exact, verified = (partial(_sweep, path, exact) for exact in (True, False))
    ours = measure.interleaved([exact, verified], rounds)
    theirs = measure.interleaved([lambda: plain.extend(lab_sweep(path, GRID, THRESHOLD))], 1)
    names = (OURS, VERIFIED, PLAIN)
    for name, timing in zip(names, [*ours, *theirs], strict=True):
        yield {
            "kind": TIME,
            "name": name,
            "wall_seconds": round(timing.wall, 2),
            "cpu_seconds": round(timing.cpu, 2),
        }
    for row, other in zip(exact().rows, plain, strict=True):
        counts = (row.bands, row.band_bits, row.candidates, row.true)
        if counts != (other.bands, other.band_bits, other.candidates, other.true):
            raise SystemExit(f"{row.plan}: {counts} differs from {other}")
        yield {
            "kind": COUNTS,
            "bands": row.bands,
            "band_bits": row.band_bits,
            "candidates": row.candidates,
            "true": row.true,
            "recall": round(row.recall or 0.0, 4),
        }


def _sweep(path: Path, exact: bool) -> Any:
    import neardup as nd

    plans = [f"bands:{m}x{k}" for m, k in GRID]
    return nd.sweep(
        path, plans=plans, features="terms", hash="md5", threshold=THRESHOLD, exact=exact
    )


def _prediction_rows() -> Iterator[Json]:
    """What the model says of each collection, and what is so."""
    import neardup as nd

    for name, settings in COLLECTIONS.items():
        print(name, file=sys.stderr)
        for row in nd.sweep(SHARED / name, plans=PLANS, exact=True, **settings).rows:
            yield {
                "kind": PREDICTION,
                "collection": name,
                "plan": row.plan,
                "candidates": row.candidates,
                "predicted_candidates": round(row.predicted_candidates or 0.0),
                "recall": round(row.recall or 0.0, 4),
                "predicted_recall": round(row.predicted_recall or 0.0, 4),
            }


def section(result: Result) -> str:
    """The part of the page."""
    times = [row for row in result.rows if row["kind"] == TIME]
    ours = result.row(kind=TIME, name=OURS)["cpu_seconds"]
    return "\n".join(
        [
            "## Sweeping plans\n",
            provenance(result),
            f"The grid of the `caim` lab ({result.conditions['settings']} settings of M tables × K "
            "bits, 55,760 arXiv abstracts as terms and weights, MD5, cosine ≥ "
            f"{result.conditions['threshold']}), from the file to the counts. `--exact` adds the "
            "recall; without it every candidate is verified. The straightforward version "
            "(`benchmarks/course_lab.py`) ran once, on one core; neardup used all cores. Both "
            "count the same pairs. The last column compares CPU seconds of all threads.\n",
            table(
                ("", "wall s", "CPU s", "times"),
                [
                    (
                        row["name"],
                        f"{row['wall_seconds']:.1f}",
                        f"{row['cpu_seconds']:.1f}",
                        f"{row['cpu_seconds'] / ours:.1f}",
                    )
                    for row in times
                ],
            ),
            table(
                ("M × K", "candidates", "true", "recall"),
                [
                    (
                        f"{row['bands']} × {row['band_bits']}",
                        f"{row['candidates']:,}",
                        f"{row['true']:,}",
                        f"{row['recall']:.3f}",
                    )
                    for row in result.rows
                    if row["kind"] == COUNTS
                ],
            ),
            "**Predicted and measured**, at similarity ≥ 0.8, with `word:3` and Jaccard except for "
            "the terms. [Predictions](how-it-works/predictions.md) explains the model and its "
            "limits.\n",
            table(
                ("", "plan", "candidates", "predicted", "recall", "predicted"),
                [
                    (
                        row["collection"],
                        f"`{row['plan']}`",
                        f"{row['candidates']:,}",
                        f"{row['predicted_candidates']:,}",
                        f"{row['recall']:.3f}",
                        f"{row['predicted_recall']:.3f}",
                    )
                    for row in result.rows
                    if row["kind"] == PREDICTION
                ],
            ),
        ]
    )


def targets(result: Result) -> Iterator[Target]:
    """What was set out to reach, judged by the result."""
    ours, plain = (result.row(kind=TIME, name=name)["cpu_seconds"] for name in (OURS, PLAIN))
    times = plain / ours
    what = "`neardup sweep --exact`, the grid of `caim`"
    yield Target(what, f"≤ 1/{LEAST} of straightforward Python", f"1/{times:.1f}", times >= LEAST)
    for name in COLLECTIONS:
        rows = [row for row in result.rows if row.get("collection") == name]
        off = max(abs(row["recall"] - row["predicted_recall"]) for row in rows)
        yield Target(
            f"recall predicted, {name}", f"within {MOST_OFF}", f"{off:.3f} off", off <= MOST_OFF
        )
        factor = max(
            max(row["candidates"], row["predicted_candidates"])
            / max(1, min(row["candidates"], row["predicted_candidates"]))
            for row in rows
        )
        yield Target(
            f"candidates predicted, {name}",
            f"within a factor {MOST_TIMES:g}",
            f"{factor:.2f}",
            factor <= MOST_TIMES,
        )


if __name__ == "__main__":
    main()
