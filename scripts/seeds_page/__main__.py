"""Run the seeds again, measure what they did not, and write docs/seeds.md.

    python -m scripts.seeds_page [s0] [s1] [s2] [s3] [s4] [recall] [rotation] [borders] ...

Each part is kept in benchmarks/results/seeds.json as soon as it is measured, so a run that was
stopped goes on with the others; without any name, those that are not there yet are measured.
Then the pictures and the page are made from that file alone.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

from benchmarks.result import machine, package_versions
from scripts.seeds_page import page, pictures, reproductions, results
from scripts.seeds_page.borders import borders
from scripts.seeds_page.dimensions import dimensions
from scripts.seeds_page.edits import edits
from scripts.seeds_page.recall import recall
from scripts.seeds_page.rotation import rotation

DATA = Path(__file__).parents[3] / "shared" / "data"
PARTS = {
    **{name: getattr(reproductions, name) for name in ("s0", "s1", "s2", "s3", "s4")},
    "recall": recall,
    "rotation": rotation,
    "borders": borders,
    "edits": edits,
    "dimensions": dimensions,
}
PACKAGES = ("neardup", "numpy", "pyarrow", "jieba")


def main() -> None:
    """Measure what is asked for or missing, then draw and write."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.seeds_page",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", help="parts to measure, even if they are known")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the corpora")
    chosen = parser.parse_args()
    if unknown := set(chosen.parts) - set(PARTS):
        parser.error(f"no part is named {unknown.pop()}; there are {', '.join(PARTS)}")
    known = results.load()
    for name in chosen.parts or [name for name in PARTS if name not in known]:
        began = time.perf_counter()
        part = PARTS[name](chosen.data)
        print(f"{time.perf_counter() - began:7.1f} s  {name}", file=sys.stderr)
        about = {
            "date": datetime.now(timezone.utc).date().isoformat(),
            "machine": machine(),
            "versions": {"python": platform.python_version(), **package_versions(PACKAGES)},
        }
        known = {**results.load(), name: {**about, **part}}
        known = {name: known[name] for name in PARTS if name in known}
        results.save(known)
    if missing := set(PARTS) - set(known):
        parser.error(f"the page needs the part {missing.pop()} too")
    pictures.draw_all(known)
    page.write(known)


if __name__ == "__main__":
    main()
