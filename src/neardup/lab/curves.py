"""S-curves: the probability that a plan finds a pair, by the similarity of the pair."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.atomic import replacing
from neardup.errors import SettingError
from neardup.figures import INK, line_style, new_figure, picture_format, tidy, write_figure
from neardup.pairs.by_fingerprints import MaskPlan, Plan
from neardup.pairs.recall import cosine_of

_SIGNS = "●○■□▲△◆◇"
_COLUMNS, _LINES = 61, 21  # odd, so that 0, 0.5 and 1 fall on a cell
_MARKED_STEPS = 8


Numbers = NDArray[np.float64]
# Angles at which a plan without a formula is evaluated, at up to a few milliseconds each, with
# linear interpolation between them. They are denser near 0, where the curve is steepest.
_ANGLES = np.linspace(0, 1, 65) ** 2 * (np.pi / 2)


@dataclass(frozen=True, eq=False)
class Curve:
    """The probability to be found, by similarity from 0 to 1 in even steps."""

    name: str
    chances: NDArray[np.float64]

    def at(self, similarity: float) -> float:
        """The probability for a pair of this similarity."""
        return float(np.interp(similarity, self.similarities, self.chances))

    def reaches(self, chance: float) -> float | None:
        """The lowest similarity at which the probability reaches `chance`, or None."""
        high = np.flatnonzero(self.chances >= chance)
        return float(self.similarities[high[0]]) if len(high) else None

    @property
    def similarities(self) -> NDArray[np.float64]:
        return np.linspace(0, 1, len(self.chances))


def curve_text(curves: Sequence[Curve], measure: str, threshold: float | None) -> str:
    """The curves as text; where two overlap, the later one is shown."""
    grid = [[" "] * _COLUMNS for _ in range(_LINES)]
    if threshold is not None:
        for line in grid:
            line[round(threshold * (_COLUMNS - 1))] = "┊"
    for number, curve in enumerate(curves):
        sign = _SIGNS[number % len(_SIGNS)]
        for column in range(_COLUMNS):
            height = curve.at(column / (_COLUMNS - 1))
            grid[_LINES - 1 - round(height * (_LINES - 1))][column] = sign
    lines = ["chance to be found"]
    for place, row in enumerate(grid):
        label = f"{1 - place / (_LINES - 1):.2f}" if place % 5 == 0 else ""
        lines.append(f"{label:>4} {'┤' if label else '│'}{''.join(row).rstrip()}")
    lines.append("     └" + "".join("┬" if c % 12 == 0 else "─" for c in range(_COLUMNS)))
    ticks = "".join(f"{c / (_COLUMNS - 1):<12.1f}" for c in range(0, _COLUMNS, 12))
    lines.append(f"      {ticks}{measure}".rstrip())
    lines += [
        f"  {_SIGNS[number % len(_SIGNS)]} {curve.name}" for number, curve in enumerate(curves)
    ]
    if threshold is not None:
        lines.append(f"  ┊ threshold {threshold:g}")
    return "\n".join(lines)


def draw_curves(
    curves: Sequence[Curve], measure: str, threshold: float | None, path: str | os.PathLike[str]
) -> None:
    """Draw the curves; the legend has the probability of each plan at the threshold."""
    suffix = picture_format(path)
    figure = new_figure(7.2, 5.2)
    axes = figure.subplots()
    for number, curve in enumerate(curves):
        label = curve.name
        if threshold is not None:
            label += f": {curve.at(threshold):.3f} at the threshold"
        marked = slice(number * 3 % _MARKED_STEPS, None, _MARKED_STEPS)
        style: dict[str, Any] = {**line_style(number), "markevery": marked, "label": label}
        axes.plot(curve.similarities, curve.chances, **style)
    if threshold is not None:
        axes.axvline(threshold, color=INK, linewidth=1, linestyle=(0, (1, 2)))
        side = "right" if threshold > 0.5 else "left"
        gap = -0.01 if threshold > 0.5 else 0.01
        label = f"threshold {threshold:g}"
        axes.text(threshold + gap, 1.045, label, ha=side, va="center", fontsize=9, color=INK)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1.09 if threshold is not None else 1.03)
    tidy(axes, f"similarity of a pair ({measure})", "chance to be found")
    figure.legend(loc="outside lower center", ncols=1, frameon=False, fontsize=9, handlelength=4)
    with replacing(path) as unfinished:
        write_figure(figure, unfinished, suffix)


def chances(plan: Plan, cosines: Any, n: int | None = None) -> Numbers | None:
    """The probability that pairs of these cosines become candidates; None if it is unknown.

    `n` is the number of fingerprints, which `rotate` needs.

    >>> from neardup.pairs.by_fingerprints import plan_of
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
    found = chances(plan, [cosine_of(step / 200, measure) for step in range(201)], n)
    if found is None:
        raise SettingError(
            f"{plan} has no curve by similarity: {plan.promise}; choose another plan, such as "
            "bands:20x16"
        )
    return Curve(plan.name, found)


@lru_cache(maxsize=256)
def _told(plan: Plan, n: int | None) -> tuple[float, ...] | None:
    """The probabilities of a plan at `_ANGLES`, from 0 to a right angle."""
    told = [plan.recall(float(np.cos(angle)), n) for angle in _ANGLES]
    known = tuple(chance for chance in told if chance is not None)
    return known if len(known) == len(told) else None


def _are_apart(plan: MaskPlan) -> bool:
    """Whether the masks share no bit, so that they agree independently."""
    together = 0
    for mask in plan.masks:
        if together & mask:
            return False
        together |= mask
    return True


def _of_separate_masks(plan: MaskPlan, agrees: Numbers) -> Numbers:
    """1 − Π (1 − p^K), over masks of K bits each."""
    missed = np.zeros(agrees.shape)  # as a logarithm, to keep the digits of small probabilities
    widths, counts = np.unique([mask.bit_count() for mask in plan.masks], return_counts=True)
    with np.errstate(divide="ignore"):
        for width, count in zip(widths.tolist(), counts.tolist(), strict=True):
            missed += count * np.log1p(-(agrees**width))
    return np.asarray(-np.expm1(missed))
