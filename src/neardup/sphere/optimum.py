"""How far apart lines can be at best: proven optima, and bounds that nothing exceeds."""

from __future__ import annotations

import math

# Lines in three dimensions: the diagonals of the cube (4), of the icosahedron (6, and 5 of them),
# of cube and octahedron together (7). 4, 6 and 7 meet a bound below; for 5 and 8 see Mixon and
# Parshall, "The optimal packing of eight points in the real projective plane", arXiv:1902.10177.
# The cosine for 8 is the larger positive root of
# 1 + 5x − 8x² − 80x³ − 78x⁴ + 146x⁵ − 80x⁶ − 584x⁷ + 677x⁸ + 1537x⁹.
_COSINES_3D = {
    4: 1 / 3,
    5: math.sqrt(1 / 5),
    6: math.sqrt(1 / 5),
    7: math.sqrt(1 / 3),
    8: 0.6475889787341786,
}


def best_angle(dimension: int, count: int) -> float | None:
    """The largest smallest angle between lines in degrees, where it is proven, else None.

    >>> best_angle(2, 5), best_angle(3, 3), best_angle(42, 64)
    (36.0, 90.0, None)
    """
    if count <= dimension:
        return 90.0
    if dimension == 2:
        return 180.0 / count
    if dimension == 3 and count in _COSINES_3D:
        return math.degrees(math.acos(_COSINES_3D[count]))
    return None


def angle_bound(dimension: int, count: int) -> float:
    """An angle in degrees that so many lines never exceed, whether it can be reached or not.

    These are the simplex and the orthoplex bound (Conway, Hardin and Sloane 1996, after Rankin)
    and, in three dimensions, L. Fejes Tóth's bound of 1943 for the 2 · count ends.

    >>> round(angle_bound(42, 64), 2), round(angle_bound(3, 16), 2)
    (84.77, 38.69)
    """
    proven = best_angle(dimension, count)
    if proven is not None:
        return proven
    cosine = math.sqrt((count - dimension) / (dimension * (count - 1)))
    if count > dimension * (dimension + 1) // 2:
        cosine = max(cosine, math.sqrt(1 / dimension))
    if dimension == 3:
        third = math.pi / 6 * (2 * count) / (2 * count - 2)
        cosine = max(cosine, (1 / math.tan(third) ** 2 - 1) / 2)
    return math.degrees(math.acos(cosine))
