"""Spheres computed once and kept in the user's cache folder."""

from __future__ import annotations

import os
import sys
import warnings
from functools import lru_cache
from pathlib import Path

from neardup.errors import InputError, NeardupError
from neardup.sphere.sphere import Sphere
from neardup.sphere.spread import spread

VARIABLE = "NEARDUP_CACHE"


def cache_folder() -> Path:
    """Where computed things are kept: $NEARDUP_CACHE, or the system's place for caches."""
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


def sphere_vectors(dimension: int, count: int, seed: int = 0) -> Sphere:
    """The sphere of `spread`, computed on first use and kept in the cache folder.

    A damaged file is computed again, and a folder that cannot be written is no error; both are
    warned of.
    """
    return _kept(dimension, count, seed, cache_folder())


@lru_cache(maxsize=16)
def _kept(dimension: int, count: int, seed: int, folder: Path) -> Sphere:
    path = folder / f"sphere-{dimension}x{count}-{seed}.npz"
    try:
        exists = path.exists()
    except OSError:  # a folder we may not look into; saving will say so
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
            f"the sphere {dimension}x{count} cannot be kept for the next time ({error}); "
            f"set {VARIABLE} to a folder that can be written",
            stacklevel=3,
        )
    return sphere
