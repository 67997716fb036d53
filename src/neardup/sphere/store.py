"""Spheres as .npz files, with a mark of what they are and a digest of what they hold."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.atomic import replacing
from neardup.errors import InputError
from neardup.sphere.sphere import Sphere

FORMAT = "neardup sphere 1"
_ARRAYS = {"vectors": "<f8", "energies": "<f8", "exponents": "<i8", "angles": "<f8"}
_ABOUT = "about.json"


def save(sphere: Sphere, path: str | os.PathLike[str]) -> None:
    """Write a sphere; the same sphere gives the same bytes, unlike with numpy.savez."""
    about = {
        "format": FORMAT,
        "dimension": sphere.dimension,
        "count": sphere.count,
        "seed": sphere.seed,
        "attempts": sphere.attempts,
        "converged": sphere.converged,
        "displacement": sphere.displacement,
        "imbalance": sphere.imbalance,
        "content_hash": sphere.content_hash,
    }
    with replacing(path) as unfinished, zipfile.ZipFile(unfinished, "w") as archive:
        # A ZipInfo without a date is from 1980, whenever it was written.
        archive.writestr(zipfile.ZipInfo(_ABOUT), json.dumps(about, indent=2))
        for name, kind in _ARRAYS.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), _npy(getattr(sphere, name), kind))


def load(path: str | os.PathLike[str]) -> Sphere:
    """Read a sphere, or say why the file is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            about = json.loads(archive.read(_ABOUT))
            found = about.get("format") if isinstance(about, dict) else None
            if found != FORMAT:
                raise _refusal(path, f"its format is {found!r}, wanted {FORMAT!r}")
            arrays = {name: _array(archive, name, kind) for name, kind in _ARRAYS.items()}
            sphere = Sphere(
                **arrays,
                seed=int(about["seed"]),
                attempts=int(about["attempts"]),
                converged=bool(about["converged"]),
                displacement=float(about["displacement"]),
                imbalance=float(about["imbalance"]),
            )
            shape = (about["count"], about["dimension"])
            if arrays["vectors"].shape != shape or sphere.content_hash != about["content_hash"]:
                raise _refusal(path, "its vectors are not those that were saved")
            return sphere
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except KeyError as error:
        raise _refusal(path, f"it lacks {error.args[0]}") from None
    except (OSError, EOFError, ValueError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise _refusal(path, str(error)) from None


def _npy(array: NDArray[Any], kind: str) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array, kind), version=(1, 0))
    return buffer.getvalue()


def _array(archive: zipfile.ZipFile, name: str, kind: str) -> Any:
    buffer = io.BytesIO(archive.read(f"{name}.npy"))
    array = np.lib.format.read_array(buffer, allow_pickle=False)
    if array.dtype != np.dtype(kind) or array.ndim != (2 if name == "vectors" else 1):
        raise ValueError(f"{name} is {array.dtype} with {array.ndim} dimensions")
    array.setflags(write=False)
    return array


def _refusal(path: str | os.PathLike[str], reason: str) -> InputError:
    return InputError(
        f"{path} is no sphere or is damaged: {reason}; make one with `neardup sphere -o FILE.npz`"
    )
