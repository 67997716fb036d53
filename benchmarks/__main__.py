"""Run every benchmark with its own defaults, then write docs/benchmarks.md."""

from __future__ import annotations

from benchmarks import (
    dedup,
    dedup_quality,
    distance,
    end_to_end,
    fingerprint,
    join,
    report,
    startup,
    weighted,
)

BENCHMARKS = (
    fingerprint,
    weighted,
    join,
    dedup,
    dedup_quality,
    distance,
    end_to_end,
    startup,
)


def main() -> None:
    for benchmark in BENCHMARKS:
        benchmark.main([])
    report.main([])


if __name__ == "__main__":
    main()
