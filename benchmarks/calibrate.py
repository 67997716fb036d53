"""Measure what the steps of a search cost: writes neardup/pairs/costs.json.

One thread, random fingerprints of 64 bits and made-up documents, the best of several rounds; about
a minute.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np

from benchmarks import child, measure
from neardup.collection.source import fingerprinter_of
from neardup.features.weighted import WeightedFeatures, in_order
from neardup.fingerprints import Scheme
from neardup.kernels.set_join import join_similar, predict_similar, similarities
from neardup.pairs import costs
from neardup.pairs.by_fingerprints import Plan, plan_of
from neardup.pairs.by_fingerprints.rows import Rows
from neardup.pairs.costs import Costs

BITS = 64
MANY, SOME, FEW = 1_000_000, 200_000, 20_000
COSTS = Path(costs.__file__).with_name("costs.json")

# Made-up documents: features by rank, log-uniform, which is about Zipf's law, as words have.
DOCUMENTS, FEATURES, VOCABULARY = 30_000, 150, 1 << 16
FEW_POSTINGS, MANY_POSTINGS = 0.8, 0.5  # thresholds
VERIFIED, WIDE = 200_000, 1024
REFERENCE_COMPARE = 0.298  # nanoseconds of one comparison, on a quiet machine

MEMORY = """
import numpy as np
from neardup.kernels.hamming_join import group_rows, join_masks, join_within
rows = np.random.default_rng(1).integers(0, 2**64, ({n}, 1), np.uint64)
masks = np.array([[2**32 - 1]], np.uint64)
{search}
"""
SEARCHES = (
    "",
    "group_rows(rows)",
    "join_within(rows, bits=64, distance=3)",
    "join_masks(rows, masks=masks, max_distance=3)",
)


def random_rows(n: int) -> Rows:
    """Random fingerprints, the same ones every time."""
    return Rows(np.random.default_rng(1).integers(0, 2**64, (n, 1), np.uint64), BITS)


def searching(name: str, n: int, max_distance: int) -> Callable[[], object]:
    """One search, to be timed."""
    plan: Plan = plan_of(name, BITS)
    return partial(plan.join, random_rows(n), None, max_distance=max_distance, threads=1)


def measured(rounds: int) -> Costs:
    """Costs under which the model says what was measured."""
    runs = [
        searching("all", FEW, 3),
        searching("blocks:3", MANY, 3),
        searching("blocks:3/6", SOME, 3),
        searching("prefix:6", SOME, 16),  # so far that buckets are scanned, not divided again
        searching("rotate:4", SOME, 0),
        searching("probe:1", SOME, 1),
    ]
    timings = measure.interleaved(runs, rounds)
    every, blocks, tables, prefix, rotate, probe = (timing.cpu * 1e9 for timing in timings)
    table = tables / (SOME * 20)
    sort = rotate / (SOME * 4)
    looked_at = plan_of("prefix:6", BITS).expected_candidates(SOME)
    assert looked_at is not None, "a prefix plan knows its expected candidates"
    found = Costs(
        compare=every / (FEW * (FEW - 1) / 2),
        move=1.0,
        table=table,
        look=max(0.01, (prefix - SOME * table) / looked_at),
        sort=sort,
        probe=max(1.0, (probe - SOME * sort) / (SOME * (BITS + 1))),
        row_bytes=row_bytes(),
        **measured_features(rounds),
    )
    return _at_reference_speed(replace(found, move=_fitting_move(found, blocks / 1e9)))


def _at_reference_speed(found: Costs) -> Costs:
    """The same costs on a machine at the speed of the stored ones.

    A choice depends on ratios, and a busy machine is slower in all steps: one that takes twice as
    long for a comparison is taken to be half as fast.
    """
    speed = REFERENCE_COMPARE / found.compare
    scaled = {
        name: value if name == "row_bytes" else value * speed
        for name, value in asdict(found).items()
    }
    return Costs(**scaled)


def made_up() -> WeightedFeatures:
    """Documents of made-up features with counts, the same ones every time."""
    random = np.random.default_rng(2)
    numbers = (float(VOCABULARY) ** random.random((DOCUMENTS, FEATURES))).astype(np.uint64)
    hashes = numbers * np.uint64(0x9E3779B97F4A7C15)
    offsets = np.arange(0, hashes.size + 1, FEATURES, dtype=np.int64)
    counts = random.integers(1, 4, hashes.size).astype(np.float64)
    return in_order(offsets, hashes.ravel(), counts, np.full(DOCUMENTS, FEATURES, np.uint32))


def measured_features(rounds: int) -> dict[str, float]:
    """Nanoseconds of the exact join, of making fingerprints, and of true similarities.

    A join at a lower threshold looks at more postings of the same features, so the difference of
    two joins is the price of postings, and the rest that of features.
    """
    documents = made_up()
    features = len(documents.hashes)
    fingerprinter = fingerprinter_of(Scheme.of("word:3", "count", WIDE), 1)
    a, b = np.random.default_rng(3).integers(0, DOCUMENTS, (2, VERIFIED))
    weights = {"jaccard": None, "weighted-jaccard": documents.weights}
    joins = [
        partial(
            function,
            documents.offsets,
            documents.hashes,
            weights[kind],
            measure=kind,
            threshold=threshold,
            threads=1,
        )
        for function in (join_similar, predict_similar)
        for kind in weights
        for threshold in (FEW_POSTINGS, MANY_POSTINGS)
    ]
    runs: list[Callable[[], object]] = [
        *joins[:4],
        partial(fingerprinter.rows_of_features, documents),
        partial(similarities, *documents.arrays, np.sort(a), b, measure="cosine", threads=1),
    ]
    timings = measure.interleaved(runs, rounds)
    *spent, making, verifying = (timing.cpu * 1e9 for timing in timings)
    postings = [cast(int, predict()) for predict in joins[4:]]
    posting = (spent[1] - spent[0]) / (postings[1] - postings[0])
    return {
        "feature": max(1.0, (spent[0] - posting * postings[0]) / features),
        "posting": posting,
        "weighted_posting": (spent[3] - spent[2]) / (postings[3] - postings[2]),
        "majority": making / (features * WIDE / 64),
        "verify": verifying / (VERIFIED * 2 * features / DOCUMENTS),
    }


def _fitting_move(found: Costs, seconds: float) -> float:
    """The cost of a move under which the model predicts the time of the join."""
    low, high = 0.01, 1000.0
    for _ in range(60):
        middle = (low * high) ** 0.5
        tried = replace(found, move=middle)
        if tried.within(MANY, MANY * (MANY - 1) / 2, BITS, 3) < seconds:
            low = middle
        else:
            high = middle
    return low


def row_bytes() -> float:
    """The most bytes kept for each fingerprint, by the peaks of processes of their own."""
    n = 2 * MANY
    idle, *searching = (
        child.run([sys.executable, "-c", MEMORY.format(n=n, search=search)]).peak_megabytes
        for search in SEARCHES
    )
    return (max(searching) - idle) * 1e6 / n


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the costs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibrate", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="rounds to take the best of")
    parser.add_argument("--out", type=Path, default=COSTS, help="the file to write")
    chosen = parser.parse_args(arguments)
    values = {name: float(f"{cost:.3g}") for name, cost in asdict(measured(chosen.rounds)).items()}
    chosen.out.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    print(f"wrote {chosen.out}: {values}", file=sys.stderr)


if __name__ == "__main__":
    main()
