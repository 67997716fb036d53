"""Draw the pictures of docs/reference/sphere.md, and print the tables it shows.

    python scripts/sphere_pictures.py

The times in the tables are of the machine it runs on; everything else is the same everywhere.
"""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from neardup.sphere import angle_bound, best_angle, project, spread
from neardup.sphere.picture import draw
from neardup.sphere.sphere import Sphere

IMAGES = Path(__file__).parents[1] / "docs" / "images"
PICTURES = [(2, 7), (3, 16), (42, 64)]
SIZES = [
    *((2, count) for count in (3, 7, 16, 64, 100)),
    *((3, count) for count in (3, 4, 5, 6, 7, 8, 10, 14, 16, 32, 64)),
    *((4, 5), (7, 28), (42, 42), (16, 32), (42, 64), (64, 128)),
]
PAIRS = 20_000


def angle_table() -> None:
    """What is reached, beside what can be."""
    print(
        "| dimension | lines | smallest angle | optimum | bound | starts | iterations | seconds |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for size in SIZES:
        begin = time.perf_counter()
        sphere = spread(*size)
        seconds = time.perf_counter() - begin
        assert sphere.converged, size
        proven = best_angle(*size)
        optimum = "" if proven is None else f"{proven:.4f}°"
        print(
            f"| {size[0]} | {size[1]} | {sphere.smallest_angle():.4f}° | {optimum} "
            f"| {angle_bound(*size):.4f}° | {sphere.attempts} | {sphere.iterations:,} "
            f"| {seconds:.2f} |"
        )


def scatter_table(sphere: Sphere) -> None:
    """How much distances scatter, for pairs of documents of a given cosine."""
    rng = np.random.default_rng(0)
    random = rng.standard_normal((sphere.count, sphere.dimension))
    aimless = replace(sphere, vectors=random)
    print("| cosine | expected | 64 bits of hash | 42 bits of hash, 64 random vectors | sphere |")
    print("|---|---|---|---|---|")
    for cosine in (0.0, 0.5, 0.8, 0.9, 0.95):
        plain = [sums > 0 for sums in pair(rng, cosine, sphere.count)]
        narrow = pair(rng, cosine, sphere.dimension)
        cells = [distances(*plain)]
        cells += [distances(*(project(s, by) for s in narrow)) for by in (aimless, sphere)]
        told = " | ".join(f"{cell.mean():.1f} ± {cell.std():.2f}" for cell in cells)
        print(f"| {cosine} | {sphere.count * np.arccos(cosine) / np.pi:.1f} | {told} |")


def pair(rng: np.random.Generator, cosine: float, dimension: int) -> list[NDArray[np.float64]]:
    """The sums of two documents with many features of which they share some."""
    shared = rng.standard_normal((PAIRS, dimension))
    return [
        np.sqrt(cosine) * shared + np.sqrt(1 - cosine) * rng.standard_normal((PAIRS, dimension))
        for _ in range(2)
    ]


def distances(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The bits in which each pair differs."""
    return np.asarray(np.count_nonzero(first != second, axis=1))


def main() -> None:
    """Draw and print."""
    IMAGES.mkdir(exist_ok=True)
    for dimension, count in PICTURES:
        path = IMAGES / f"sphere-{dimension}x{count}.png"
        draw(spread(dimension, count), path)
        # A page needs no more than 64 colours; this takes a third of the space.
        Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)
    angle_table()
    print()
    scatter_table(spread(42, 64))


if __name__ == "__main__":
    main()
