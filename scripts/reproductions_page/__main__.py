"""Reproduce the five systems and write docs/how-it-works/reproductions.md.

    python -m scripts.reproductions_page [caim] [slides] [blog] [irrs] [sphere] [recall] ...

Each part is stored in benchmarks/results/reproductions.json as soon as it is measured, so an
interrupted run can continue. Without names, only the missing parts are measured. The pictures and
the page are then made from that file alone.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

from benchmarks.result import machine, package_versions
from scripts.reproductions_page import page, pictures, results, systems
from scripts.reproductions_page.borders import borders
from scripts.reproductions_page.dimensions import dimensions
from scripts.reproductions_page.edits import edits
from scripts.reproductions_page.recall import recall
from scripts.reproductions_page.rotation import rotation

DATA = Path(__file__).parents[3] / "shared" / "data"
PARTS = {
    **{name: getattr(systems, name) for name in ("caim", "slides", "blog", "irrs", "sphere")},
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
        prog="python -m scripts.reproductions_page",
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
