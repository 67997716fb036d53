"""Project sums of features onto the vectors of a sphere, which are computed once and cached."""

from __future__ import annotations

import os
import sys
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neardup.errors import InputError, NeardupError, SettingError
from neardup.sphere.sphere import Sphere
from neardup.sphere.spread import spread

VARIABLE = "NEARDUP_CACHE"


_ACCUMULATED = 2**15  # entries that fit into the processor's cache while they are summed


def cache_folder() -> Path:
    """The cache folder: $NEARDUP_CACHE, or the cache folder of the system."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "neardup" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "neardup"
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG specification says to ignore a relative path.
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "neardup"


def is_computed(dimension: int, count: int, seed: int = 0) -> bool:
    """Whether the vectors are in the cache folder; computing them can take minutes."""
    return _place(cache_folder(), dimension, count, seed).exists()


def _place(folder: Path, dimension: int, count: int, seed: int) -> Path:
    return folder / f"sphere-{dimension}x{count}-{seed}.npz"


def sphere_vectors(dimension: int, count: int, seed: int = 0) -> Sphere:
    """The sphere of `spread`, computed on first use and then read from the cache folder.

    If the file is damaged, a warning is issued and the sphere is computed again; if the folder
    cannot be written, a warning is issued.
    """
    return _kept(dimension, count, seed, cache_folder())


@lru_cache(maxsize=16)
def _kept(dimension: int, count: int, seed: int, folder: Path) -> Sphere:
    path = _place(folder, dimension, count, seed)
    try:
        exists = path.exists()
    except OSError:  # no permission to read the folder; saving will report it
        exists = False
    if exists:
        try:
            sphere = Sphere.load(path)
            if (sphere.dimension, sphere.count, sphere.seed) == (dimension, count, seed):
                return sphere
            reason = f"{path} holds the sphere {sphere.dimension}x{sphere.count}-{sphere.seed}"
        except InputError as error:
            reason = str(error)
        warnings.warn(f"{reason}; it is computed again", stacklevel=3)
    sphere = spread(dimension, count, seed)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sphere.save(path)
    except (OSError, NeardupError) as error:
        warnings.warn(
            f"the sphere {dimension}x{count} cannot be cached ({error}); "
            f"set {VARIABLE} to a writable folder",
            stacklevel=3,
        )
    return sphere


def dots(sums: NDArray[np.float64], sphere: Sphere) -> NDArray[np.float64]:
    """The dot product of each row with each vector: (rows, dimension) → (rows, count).

    Products are rounded and then added from the first dimension to the last, so that a row's
    result depends neither on the other rows nor on a linear algebra library.
    """
    sums = np.ascontiguousarray(sums, np.float64)
    if sums.ndim != 2 or sums.shape[1] != sphere.dimension:
        raise SettingError(
            f"sums of shape {sums.shape} do not fit a sphere of dimension {sphere.dimension}; "
            "expected one row for each document and one column for each dimension"
        )
    result = np.empty((len(sums), sphere.count))
    columns = np.ascontiguousarray(sphere.vectors.T)
    rows = max(1, _ACCUMULATED // sphere.count)
    for first in range(0, len(sums), rows):
        block = sums[first : first + rows]
        added = np.zeros((len(block), sphere.count))
        for dimension, column in enumerate(columns):
            added += block[:, dimension, None] * column
        result[first : first + rows] = added
    return result


def project(
    sums: NDArray[np.float64], sphere: Sphere, *, ties_up: bool = False
) -> NDArray[np.bool_]:
    """The signs of the dot products: True where positive, or zero under `ties_up`."""
    products = dots(sums, sphere)
    return products >= 0 if ties_up else products > 0
