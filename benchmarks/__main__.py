"""Run benchmarks with their own defaults, all or those that are named, then write the pages."""

from __future__ import annotations

import argparse

from benchmarks import (
    choosing,
    choosing_page,
    containment,
    contamination,
    dedup,
    dedup_quality,
    distance,
    end_to_end,
    exact,
    explore,
    fingerprint,
    index,
    join,
    labels,
    passages,
    passes,
    report,
    serve,
    similar_index,
    spark,
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
    spark,
    exact,
    containment,
    sweep,
    tune,
    labels,
    passages,
    contamination,
    choosing,
    distance,
    end_to_end,
    startup,
)


def main() -> None:
    by_name = {module.__name__.rpartition(".")[2]: module for module in BENCHMARKS}
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(by_name))
    names = parser.parse_args().names
    unknown = [name for name in names if name not in by_name]
    if unknown:
        parser.error(f"{unknown[0]!r} is no benchmark; choose from {', '.join(by_name)}")
    for name in names or by_name:
        by_name[name].main([])
    report.main([])
    choosing_page.main([])


if __name__ == "__main__":
    main()
