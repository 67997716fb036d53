"""Measuring: the options of a benchmark, one thread for everyone, interleaved rounds."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.result import RESULTS

THREAD_SETTINGS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


@dataclass(frozen=True)
class Timing:
    """The best of several rounds, in seconds."""

    cpu: float
    wall: float


def one_thread_each() -> None:
    """Hold every library that is imported from now on to one thread."""
    os.environ.update(dict.fromkeys(THREAD_SETTINGS, "1"))


def interleaved(runs: Sequence[Callable[[], object]], rounds: int) -> list[Timing]:
    """Time each run once a round, so that noise and a changing clock hit all of them alike."""
    seen: list[list[Timing]] = [[] for _ in runs]
    for round_number in range(1, rounds + 1):
        print(f"round {round_number} of {rounds}", file=sys.stderr)
        for run, timings in zip(runs, seen, strict=True):
            timings.append(_timed(run))
    return [Timing(min(t.cpu for t in ts), min(t.wall for t in ts)) for ts in seen]


def _timed(run: Callable[[], object]) -> Timing:
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    run()
    return Timing(time.process_time() - cpu, time.perf_counter() - wall)


def options(benchmark: str, about: str | None, rounds: int | None) -> argparse.ArgumentParser:
    """The options that benchmarks share; without `rounds`, the one is measured only once."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{benchmark}", description=about)
    if rounds is not None:
        parser.add_argument("--rounds", type=int, default=rounds, help="rounds to take the best of")
    parser.add_argument(
        "--out", type=Path, default=RESULTS, help="folder for the result (benchmarks/results)"
    )
    return parser
