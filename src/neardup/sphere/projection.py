"""Project sums of features onto the vectors of a sphere: a bit is the side of a plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.sphere.sphere import Sphere

_ACCUMULATED = 2**15  # entries that stay in a processor's cache while they are summed


def dots(sums: NDArray[np.float64], sphere: Sphere) -> NDArray[np.float64]:
    """The dot product of each row with each vector: (rows, dimension) → (rows, count).

    Products are rounded and then added from the first dimension to the last, so that a row's
    result depends neither on the other rows nor on a linear algebra library.
    """
    sums = np.ascontiguousarray(sums, np.float64)
    if sums.ndim != 2 or sums.shape[1] != sphere.dimension:
        raise SettingError(
            f"sums of shape {sums.shape} do not fit a sphere of dimension {sphere.dimension}; "
            "wanted one row for each document and one column for each dimension"
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
