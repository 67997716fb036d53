"""Draw the pictures of docs/concepts.

    python -m scripts.concept_pictures [--check]

With --check nothing is written; the exit code tells whether the pictures are up to date.
"""

import sys

from scripts.concept_pictures.pictures import FOLDER, draw, stale

if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(" ".join(stale()) or 0)
    draw(FOLDER)
