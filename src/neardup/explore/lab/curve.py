"""S-curves: how likely plans find a pair, by its similarity, and what the search costs."""

from __future__ import annotations

import re
import shlex
from math import comb

from neardup.errors import SettingError
from neardup.explore.lab.asked import Asked
from neardup.frozen import dataclass
from neardup.lab.curves import Curve, plan_curve
from neardup.lab.sweep.request import named_plan
from neardup.pairs.by_fingerprints import Plan
from neardup.pairs.costs import Costs

MOST_BITS = 1024
MEASURES = ("cosine", "jaccard", "weighted-jaccard")
PLANS = (
    "bands:4x16",
    "bands:8x8",
    "bands:20x16",
    "bands:40x16",
    "blocks:3",
    "blocks:3/6",
    "probe:2",
    "prefix:16",
    "rotate:16:4",
    "all",
)
_MOST_DOCUMENTS = 2**32 - 1
_TABLED = 11  # similarities 0, 0.1, … 1
# These keep a curve below about 100 ms; a curve of a thousand bits may take a minute.
_MOST_OVERLAP = 10_000
_MOST_ROTATED_BITS = 64
_WIDEST_WINDOW = 64
_LIMITLESS = "`neardup curve` has no such limit"


@dataclass(frozen=True, eq=False)
class ShownPlan:
    """A plan with its curve and its costs for `n` random fingerprints on one thread."""

    plan: Plan
    curve: Curve
    at_threshold: float
    half: float | None
    most: float | None
    candidates: float | None
    seconds: float | None
    memory: int

    @property
    def tabled(self) -> list[float]:
        """The probabilities at 0, 0.1, … 1."""
        return [self.curve.at(step / (_TABLED - 1)) for step in range(_TABLED)]

    @property
    def candidates_said(self) -> str:
        return "unknown" if self.candidates is None else in_words(self.candidates)


def in_words(value: float) -> str:
    """A large number as people say it, with three digits.

    >>> in_words(153_456_789.0), in_words(950.0), in_words(0.0123), in_words(0.0)
    ('153 million', '950', '0.0123', '0')
    """
    for size, name in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if value >= size:
            return f"{float(f'{value / size:.3g}'):,.5g} {name}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@dataclass(frozen=True)
class ShownCurves:
    """One plan or two."""

    plans: tuple[ShownPlan, ...]
    measure: str
    threshold: float
    n: int
    commands: tuple[str, ...]

    @property
    def summary(self) -> str:
        """The outcome in a sentence."""
        found = " and ".join(
            f"{one.plan.name} finds {100 * one.at_threshold:.2f} %" for one in self.plans
        )
        return f"Of the pairs with a {self.measure} of {self.threshold:g}, {found}."

    def values(self) -> dict[str, object]:
        """The numbers, for programs."""
        return {
            "similarity": self.measure,
            "threshold": self.threshold,
            "n": self.n,
            "curves": [
                {
                    "plan": one.plan.name,
                    "bits": one.plan.bits,
                    "at_threshold": one.at_threshold,
                    "half_from": one.half,
                    "most_from": one.most,
                    "expected_candidates": one.candidates,
                    "seconds": one.seconds,
                    "memory_bytes": one.memory,
                }
                for one in self.plans
            ],
        }


def look(asked: Asked) -> ShownCurves | None:
    """The curves of one or two plans; None if a field is wrong."""
    bits = asked.optional_whole("bits", 1, MOST_BITS)
    measure = asked.choice("similarity", MEASURES)
    threshold = asked.number("threshold", 0.8)
    n = asked.whole("n", 1_000_000, 1, _MOST_DOCUMENTS)
    plans = []
    for field, default in (("plan", "bands:20x16"), ("second", "bands:8x8")):
        name = asked.word(field, default)
        if not name and field == "second":
            continue
        with asked.beside(field):
            plan = _plan(name, bits)
            curve = plan_curve(plan, measure, n)
            plans.append(_shown(plan, curve, threshold, n))
    if asked.errors:
        return None
    return ShownCurves(tuple(plans), measure, threshold, n, _commands(plans, asked, bits))


def _plan(name: str, bits: int | None) -> Plan:
    """The plan; one whose curve would take long is refused before anything is made."""
    if name in ("", "auto", "exact"):
        raise SettingError(
            "name a plan, such as bands:20x16 or blocks:3; auto and exact have no curve"
        )
    kind, _, rest = name.partition(":")
    numbers = [int(digits[:9]) for digits in re.findall("[0-9]+", rest)]
    width = bits or 64
    if kind == "bands" and bits is None and len(numbers) == 2:
        width = numbers[0] * numbers[1]
    if width > MOST_BITS:
        raise SettingError(
            f"{name} needs {width:,} bits; the limit here is {MOST_BITS:,}, and {_LIMITLESS}"
        )
    if kind == "rotate" and (
        width > _MOST_ROTATED_BITS or max(numbers[1:], default=0) > _WIDEST_WINDOW
    ):
        raise SettingError(
            f"{name} on {width} bits takes long to compute: rotations are limited here to "
            f"{_MOST_ROTATED_BITS} bits and a window of {_WIDEST_WINDOW}; {_LIMITLESS}"
        )
    if kind == "blocks" and len(numbers) == 2 and max(numbers) <= width:
        tables = comb(numbers[1], numbers[0])
        if tables * width > _MOST_OVERLAP:
            raise SettingError(
                f"{name} on {width} bits takes long to compute: it has {_many(tables)} tables, of "
                f"which {_MOST_OVERLAP // width} are allowed here; {_LIMITLESS}"
            )
    return named_plan(name, bits)


def _many(tables: int) -> str:
    return f"{tables:,}" if tables < 10**6 else "millions of"


def _shown(plan: Plan, curve: Curve, threshold: float, n: int) -> ShownPlan:
    return ShownPlan(
        plan,
        curve,
        curve.at(threshold),
        curve.reaches(0.5),
        curve.reaches(0.95),
        plan.expected_candidates(n),
        plan.seconds(n, Costs.load()),
        plan.memory(n),
    )


def _commands(plans: list[ShownPlan], asked: Asked, bits: int | None) -> tuple[str, ...]:
    """The curves in a terminal, and the costs, for each number of bits."""
    drawn = ["neardup", "curve"]
    for one in plans:
        drawn += ["--plan", one.plan.name]
    drawn += [] if bits is None else ["--bits", str(bits)]
    drawn += ["--threshold", asked.typed["threshold"].strip()]
    measure, n = asked.typed["similarity"], asked.typed["n"].strip()
    drawn += [] if measure == MEASURES[0] else ["--similarity", measure]
    drawn += ["--n", n] if any(one.plan.needs_all for one in plans) else []
    widths = dict.fromkeys(one.plan.bits for one in plans)
    priced = [
        [
            *("neardup", "plan", *(one.plan.name for one in plans if one.plan.bits == width)),
            *("--bits", str(width), "--n", n),
        ]
        for width in widths
    ]
    return tuple(map(shlex.join, [drawn, *priced]))
