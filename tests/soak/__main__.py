"""Load a server for some minutes, kill it many times, print tables; exit with 1 on a finding.

python -m tests.soak [--minutes M] [--kills N] [--seed S] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks.result import RESULTS, Json, Result, package_versions
from tests.soak import kills, load
from tests.soak.server import SERVER, SUPERVISOR, WORKER, WRITER

RESULT = "soak"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=0, help="of mixed load")
    parser.add_argument("--kills", type=int, default=0, help="under load")
    parser.add_argument(
        "--documents",
        type=int,
        help=f"about so many are held ({load.DOCUMENTS:,}; with kills {kills.DOCUMENTS:,})",
    )
    parser.add_argument(
        "--victims",
        nargs="+",
        choices=(WORKER, WRITER, SERVER, SUPERVISOR),
        default=kills.VICTIMS,
        help="what is killed, in turn; server is all of its processes (worker writer server)",
    )
    parser.add_argument("--seed", type=int, default=None, help="default: the clock")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for soak.json")
    options = parser.parse_args()
    if not options.minutes and not options.kills:
        parser.error("give --minutes, --kills or both")
    seed = int(time.time()) if options.seed is None else options.seed
    outcomes = []
    if options.minutes:
        outcomes.append(load.run(options.minutes, options.documents or load.DOCUMENTS))
    if options.kills:
        documents = options.documents or kills.DOCUMENTS
        outcomes.append(kills.run(options.kills, seed, tuple(options.victims), documents))
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    for outcome in outcomes:
        print("\n".join(table(outcome.row)), flush=True)
    for finding in findings:
        print(f"FINDING: {finding}", file=sys.stderr)
    save([outcome.row for outcome in outcomes], options.out)
    return 1 if findings else 0


def table(row: Json) -> Iterator[str]:
    """A row in lines."""
    yield f"\n{row['part']}"
    for name, value in row.items():
        if name == "up_seconds":
            for victim, times in value.items():
                if times:
                    about = f"median {median(times):.2f} s, maximum {max(times):.2f} s"
                    yield f"  up after the death of the {victim:<12} {len(times):>4} times, {about}"
        elif name not in ("part", "kinds"):
            yield f"  {name.replace('_', ' '):<28} {value}"


def save(rows: list[Json], folder: Path) -> None:
    """Write the rows; a part that was not measured now stays as it was."""
    measured = {row["part"] for row in rows}
    if (folder / f"{RESULT}.json").exists():
        before = Result.load(RESULT, folder).rows
        rows = [row for row in before if row["part"] not in measured] + rows
    rows = sorted(rows, key=lambda row: row["part"] != "load")
    result = Result.of(RESULT, [], package_versions(["neardup", "uvicorn"]), {}, rows)
    replace(result, command=" ".join(["python", "-m", "tests.soak", *sys.argv[1:]])).save(folder)


if __name__ == "__main__":
    sys.exit(main())
