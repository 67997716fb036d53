"""Run every benchmark with its own defaults, then write docs/benchmarks.md."""

from __future__ import annotations

from benchmarks import (
    choosing,
    choosing_page,
    dedup,
    dedup_quality,
    distance,
    end_to_end,
    exact,
    explore,
    fingerprint,
    index,
    join,
    passes,
    report,
    serve,
    similar_index,
    startup,
    strings,
    sweep,
    tune,
    weighted,
)

BENCHMARKS = (
    fingerprint,
    passes,
    weighted,
    strings,
    join,
    index,
    similar_index,
    serve,
    explore,
    dedup,
    dedup_quality,
    exact,
    sweep,
    tune,
    choosing,
    distance,
    end_to_end,
    startup,
)


def main() -> None:
    for benchmark in BENCHMARKS:
        benchmark.main([])
    report.main([])
    choosing_page.main([])


if __name__ == "__main__":
    main()
