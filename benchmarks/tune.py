"""Whether `tune` foresees what `dedup` then finds: on real collections, with the exact truth.

Needs the collections beside the repository. Each is tuned from a sample of its documents, twice:
as it is, and with bands alone. Then `neardup dedup --config` runs
with the file that came out, in a process of its own, and so does each alternative.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from benchmarks import child, corpora, measure
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result, package_versions
from benchmarks.target import Target

BENCHMARK = "tune"
DATA = corpora.ARXIV.parent
SAMPLE = 10_000
RECALL = 0.95
EVERY_WAY, BANDS = "auto", "bands"
MOST_OFF, MOST_TIMES = 0.05, 2.0


@dataclass(frozen=True)
class Case:
    """A collection with what is asked of it; without features, `tune` chooses them."""

    collection: str
    documents: str
    sample: int
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def path(self) -> Path:
        """Where it lies."""
        return DATA / self.collection / f"{self.documents}.parquet"


CASES = (
    Case("arxiv", "features", SAMPLE, (("features", "terms"),)),
    Case("arxiv", "docs", SAMPLE, (("features", "word:3"),)),
    Case("tang_poems", "docs", SAMPLE, (("features", "word:2"),)),
    Case("django_docs", "docs", 1000, (("features", "word:3"),)),
    Case("licenses", "docs", SAMPLE, (("features", "word:3"),)),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    chosen = measure.options(BENCHMARK, __doc__, rounds=None).parse_args(arguments)
    if not corpora.arxiv_is_here():
        raise SystemExit(f"{DATA} is missing, which this is measured on")
    rows = [row for case in CASES for row in _rows(case)]
    versions = package_versions(["neardup", "numpy", "pyarrow"])
    conditions = {"recall": RECALL, "threshold": 0.8}
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


def _rows(case: Case) -> Iterator[Json]:
    import neardup as nd

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        truth = None
        for ways in (EVERY_WAY, BANDS):
            asked = dict(case.settings) | {"candidates": ways, "recall": RECALL}
            print(f"{case.collection}, {asked}", file=sys.stderr)
            tuning = nd.tune(case.path, threshold=0.8, sample=case.sample, **asked)
            assert tuning.choice is not None  # fields and models alone have no choice
            if truth is None:
                exact = {**tuning.settings, "candidates": "exact"}
                truth = _similar(_run(case, exact, folder)[0])
            for option in (tuning.choice, *tuning.alternatives):
                settings = {**tuning.settings, "candidates": option.candidates}
                settings |= {"bits": option.bits}
                output, run = _run(case, settings, folder)
                found = _similar(output)
                summary = json.loads((output / "summary.json").read_text(encoding="utf-8"))
                yield {
                    "collection": case.collection,
                    "documents": tuning.documents,
                    "sampled": tuning.sampled,
                    "pairs_in_sample": tuning.similar_in_sample,
                    "features": tuning.settings["features"],
                    "ways": ways,
                    "chosen": option is tuning.choice,
                    "plan": option.candidates,
                    "pairs": len(truth),
                    "predicted_pairs": round(tuning.similar_pairs),
                    "recall": len(found & truth) / len(truth),
                    "predicted_recall": option.recall.value,
                    "recall_low": option.recall.low,
                    "recall_high": option.recall.high,
                    "candidates": summary["candidates"],
                    "predicted_candidates": round(option.candidate_pairs),
                    "seconds": round(sum(summary["seconds"].values()), 2),
                    "predicted_seconds": round(option.seconds, 2),
                    "peak_megabytes": round(run.peak_megabytes),
                    "predicted_megabytes": round(option.memory_bytes / 1e6),
                }


OPTIONS = ("--pairs", "all", "--overwrite", "--quiet")


def _run(case: Case, settings: dict[str, Any], folder: Path) -> tuple[Path, child.ChildRun]:
    """`neardup dedup --config` with these settings; what it wrote, and what it took."""
    config, output = folder / "settings.toml", folder / "out"
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in settings.items()]
    config.write_text("".join(lines), encoding="utf-8")
    command = [child.neardup_command(), "dedup", str(case.path), "-o", str(output)]
    return output, child.run([*command, "--config", str(config), *OPTIONS])


def _similar(output: Path) -> set[tuple[str, str]]:
    """The pairs that were found, without those of exact copies, which every way finds.

    Copies have a similarity of 1, and so have a few documents of the same proportions; these are
    left out alike everywhere.
    """
    pairs = pq.read_table(output / "pairs.parquet")
    unequal = np.flatnonzero(pairs["similarity"].to_numpy() < 1)
    a, b = (pairs[name].take(unequal).to_pylist() for name in ("a", "b"))
    return set(zip(a, b, strict=True))


def section(result: Result) -> str:
    """The part of the page."""
    rows = [
        (
            f"{row['collection']}, `{row['features']}`" + (" **·**" if row["chosen"] else ""),
            f"{row['sampled']:,} of {row['documents']:,}",
            row["ways"],
            f"`{row['plan']}`",
            f"{row['predicted_recall']:.3f} ({row['recall_low']:.3f}–{row['recall_high']:.3f})",
            f"{row['recall']:.3f}",
            f"{row['predicted_candidates']:,}",
            f"{row['candidates']:,}",
            f"{row['predicted_seconds']:.1f} / {row['seconds']:.1f}",
            f"{row['predicted_megabytes']:,} / {row['peak_megabytes']:,}",
        )
        for row in result.rows
    ]
    header = (
        "",
        "sample",
        "considered",
        "plan",
        "recall predicted",
        "measured",
        "candidates predicted",
        "measured",
        "s",
        "MB",
    )
    return "\n".join(
        (
            "## Predictions of `tune`\n",
            provenance(result),
            f"`neardup tune` on a sample, with a threshold of {result.conditions['threshold']} and "
            f"a recall of {result.conditions['recall']}, then `neardup dedup --config` on the "
            "whole collection. The sample has distinct documents only, and recall counts pairs of "
            "distinct documents. A dot marks the recommendation of `tune`: once with all plans "
            "considered (`auto`), once with bands only. Seconds and megabytes are predicted / "
            "measured, on all cores of a machine that was also busy with other work. Their "
            "constants were fitted to these collections, so their agreement proves nothing; recall "
            "and candidates are counted on the sample and have no constants. Each collection was "
            "sampled once, so the coverage of the intervals was not measured.\n",
            table(header, rows),
        )
    )


def targets(result: Result) -> Iterator[Target]:
    """What was set out to reach, judged by the result."""
    off = max(abs(row["recall"] - row["predicted_recall"]) for row in result.rows)
    yield Target(
        "`tune`, every plan and collection",
        f"recall predicted within {MOST_OFF}",
        f"at most {off:.3f} off",
        off <= MOST_OFF,
    )
    times = max(_times(row) for row in result.rows)
    yield Target(
        "`tune`, every plan and collection",
        f"candidates predicted within a factor {MOST_TIMES:.0f}",
        f"at most {times:.2f}",
        times <= MOST_TIMES,
    )
    for row in (row for row in result.rows if row["chosen"]):
        what = f"`tune`, then `dedup`: {row['collection']}, `{row['features']}`, {row['ways']}"
        recall = row["recall"]
        wanted = result.conditions["recall"]
        yield Target(what, f"recall ≥ {wanted}", f"{recall:.3f}", recall >= wanted)


def _times(row: Json) -> float:
    foreseen, counted = row["predicted_candidates"], row["candidates"]
    return float(max(foreseen, counted) / max(1, min(foreseen, counted)))


if __name__ == "__main__":
    main()
