"""Run every benchmark with its own defaults, then write docs/benchmarks.md."""

from __future__ import annotations

from benchmarks import distance, end_to_end, fingerprint, join, report, startup, weighted


def main() -> None:
    for benchmark in (fingerprint, weighted, join, distance, end_to_end, startup):
        benchmark.main([])
    report.main([])


if __name__ == "__main__":
    main()
