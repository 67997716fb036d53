"""The chance of a pair to become a candidate, by its similarity: the S-curve of a plan."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.candidates import MaskPlan, Plan
from neardup.errors import SettingError
from neardup.report.lab_curves import Curve

Numbers = NDArray[np.float64]

# Angles at which a plan without a formula is asked, which takes it up to some milliseconds each;
# between them its chance is a straight line. It is steepest where documents are most alike.
_ANGLES = np.linspace(0, 1, 65) ** 2 * (np.pi / 2)


def chances(plan: Plan, cosines: Any, n: int | None = None) -> Numbers | None:
    """How likely pairs of these cosines become candidates; None where the plan cannot tell.

    `n` is the number of fingerprints, which `rotate` needs to know.

    >>> from neardup.candidates import plan_of
    >>> chances(plan_of("bands:20x16", 320), [1.0, 0.9, 0.5]).round(3).tolist()
    [1.0, 0.826, 0.03]
    """
    angles = np.arccos(np.clip(np.asarray(cosines, np.float64), 0.0, 1.0))
    if isinstance(plan, MaskPlan) and _are_apart(plan):
        return _of_separate_masks(plan, 1 - angles / np.pi)
    told = _told(plan, n)
    return None if told is None else np.interp(angles, _ANGLES, told)


def plan_curve(plan: Plan, measure: str, n: int) -> Curve:
    """The S-curve of a plan by a similarity, in steps of 0.005."""
    found = chances(plan, cosine_of(np.linspace(0, 1, 201), measure), n)
    if found is None:
        raise SettingError(
            f"{plan} has no curve by similarity: {plan.promise}; take another plan, such as "
            "bands:20x16"
        )
    return Curve(plan.name, found)


def cosine_of(similarity: Any, measure: str) -> Numbers:
    """The smallest cosine of pairs that are so similar; two sets of one size have just that.

    Sets with Jaccard index j share 2j / (1 + j) of their mean size.
    """
    values = np.asarray(similarity, np.float64)
    return values if measure == "cosine" else 2 * values / (1 + values)


@lru_cache(maxsize=256)
def _told(plan: Plan, n: int | None) -> tuple[float, ...] | None:
    """What a plan says from no angle to a right one."""
    told = [plan.recall(float(np.cos(angle)), n) for angle in _ANGLES]
    known = tuple(chance for chance in told if chance is not None)
    return known if len(known) == len(told) else None


def _are_apart(plan: MaskPlan) -> bool:
    """Whether no bit is in two masks, so that the masks agree independently."""
    together = 0
    for mask in plan.masks:
        if together & mask:
            return False
        together |= mask
    return True


def _of_separate_masks(plan: MaskPlan, agrees: Numbers) -> Numbers:
    """1 − Π (1 − p^K), over masks of K bits each."""
    missed = np.zeros(agrees.shape)  # as a logarithm, so that rare finds keep their digits
    widths, counts = np.unique([mask.bit_count() for mask in plan.masks], return_counts=True)
    with np.errstate(divide="ignore"):
        for width, count in zip(widths.tolist(), counts.tolist(), strict=True):
            missed += count * np.log1p(-(agrees**width))
    return np.asarray(-np.expm1(missed))
