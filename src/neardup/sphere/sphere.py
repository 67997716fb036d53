"""The sphere: evenly spread unit vectors, each of which stands for a line through the origin."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.atomic import replacing
from neardup.errors import InputError

FORMAT = "neardup sphere 1"
_ARRAYS = {"vectors": "<f8", "energies": "<f8", "exponents": "<i8", "angles": "<f8"}
_ABOUT = "about.json"


GRID = 2.0**-32  # vectors are rounded to it


def save(sphere: Sphere, path: str | os.PathLike[str]) -> None:
    """Write a sphere; unlike numpy.savez, with the same bytes for the same sphere."""
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
        # A ZipInfo without a date always has the date 1980-01-01.
        archive.writestr(zipfile.ZipInfo(_ABOUT), json.dumps(about, indent=2))
        for name, kind in _ARRAYS.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), _npy(getattr(sphere, name), kind))


def load(path: str | os.PathLike[str]) -> Sphere:
    """Read a sphere; an InputError says why if the file is not one."""
    try:
        with zipfile.ZipFile(path) as archive:
            about = json.loads(archive.read(_ABOUT))
            found = about.get("format") if isinstance(about, dict) else None
            if found != FORMAT:
                raise _refusal(path, f"its format is {found!r}, expected {FORMAT!r}")
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
                raise _refusal(path, "its vectors are not as they were written")
            return sphere
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except KeyError as error:
        raise _refusal(path, f"a part is missing ({error.args[0]})") from None
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
        f"{path} is not a sphere or is damaged: {reason}; create one with "
        "`neardup sphere -o FILE.npz`"
    )


@dataclass(frozen=True, eq=False)
class Sphere:
    """Lines through the origin as unit vectors, and how they converged.

    For a dimension, count and seed, the vectors are the same on every machine, bit for bit.
    `energies`, `exponents` and `angles` have an entry per iteration: the mean repulsion of two ends
    (the inverse of a distance), the exponent of the repulsion, and the smallest angle.
    `displacement` is the largest movement of a charge in the last iteration, and `imbalance` the
    largest remaining net force, relative to the sum of all forces on a charge.
    """

    vectors: NDArray[np.float64]
    seed: int
    attempts: int  # number of starts tried; this is the one with the largest smallest angle
    converged: bool
    displacement: float
    imbalance: float
    energies: NDArray[np.float64]
    exponents: NDArray[np.int64]
    angles: NDArray[np.float64]

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    @property
    def count(self) -> int:
        return len(self.vectors)

    @property
    def iterations(self) -> int:
        return len(self.energies)

    @property
    def content_hash(self) -> str:
        """A digest of the vectors, the same on every machine: 32 hexadecimal digits."""
        whole = np.rint(self.vectors / GRID).astype("<i8")
        about = f"neardup sphere {self.dimension}x{self.count}\n".encode()
        return hashlib.blake2b(about + whole.tobytes(), digest_size=16).hexdigest()

    def excess_energies(self) -> NDArray[np.float64]:
        """The energy of each iteration relative to the lowest of its exponent, minus 1."""
        excess = np.zeros(self.iterations)
        for exponent in np.unique(self.exponents):
            these = self.exponents == exponent
            excess[these] = self.energies[these] / self.energies[these].min() - 1.0
        return excess

    def pair_angles(self) -> NDArray[np.float64]:
        """The angles between all pairs of lines in degrees, at most 90."""
        rows = self.vectors / np.linalg.norm(self.vectors, axis=1, keepdims=True)
        first, second = np.triu_indices(self.count, 1)
        cosines = np.abs(rows @ rows.T)[first, second]
        angles: NDArray[np.float64] = np.degrees(np.arccos(np.minimum(cosines, 1.0)))
        return angles

    def smallest_angle(self) -> float:
        """The angle between the two nearest lines in degrees; 90 if there is only one line."""
        return float(min(self.pair_angles(), default=90.0))

    def save(self, path: str | os.PathLike[str]) -> None:
        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Sphere:
        return load(path)
