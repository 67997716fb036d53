"""The page docs/how-it-works/scheme-comparison.md: prose from template.md, numbers measured."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

from benchmarks.markdown import table
from scripts.scheme_quality.distances import COMMON_BITS, Distances, area_under_curve, told_area
from scripts.scheme_quality.results import Json

PAGE = Path(__file__).parents[2] / "docs" / "how-it-works" / "scheme-comparison.md"
TEMPLATE = Path(__file__).parent / "template.md"
LIMITS = (3, 6, 10)
RARE = Fraction(1, 10_000)
# {{arxiv | word:3 | auc}}, {{arxiv | table}}
_BLANK = re.compile(r"\{\{ *(\w+) *\|(?: *([^|{}]+?) *\|)? *(\w+) *\}\}")


def page(corpora: dict[str, Json]) -> str:
    """The whole page, every blank of the template filled in."""

    def filled(blank: re.Match[str]) -> str:
        corpus, scheme, what = blank.groups()
        measured = corpora[corpus]
        if scheme is not None:
            return QUANTITIES[what](row(measured, scheme))
        return scheme_table(measured) if what == "table" else told(measured, what)

    return _BLANK.sub(filled, TEMPLATE.read_text(encoding="utf-8"))


def write(corpora: dict[str, Json]) -> None:
    """Write docs/how-it-works/scheme-comparison.md."""
    PAGE.write_text(page(corpora), encoding="utf-8")


def row(measured: Json, scheme: str) -> Json:
    """What was measured of one scheme."""
    found: list[Json] = [row for row in measured["rows"] if row["name"] == scheme]
    if not found:
        raise SystemExit(f"{TEMPLATE.name} asks for the scheme {scheme!r}, which is not measured")
    return found[0]


def told(measured: Json, what: str) -> str:
    """A fact about a corpus: a number, or where and when it was measured."""
    if what == "provenance":
        machine = measured["machine"]
        versions = ", ".join(f"{name} {number}" for name, number in measured["versions"].items())
        return f"{machine['cpu']}, {machine['cores']} cores; {versions}; {measured['date']}"
    return f"{measured[what]:,}"


def scheme_table(measured: Json) -> str:
    """A line for each scheme."""
    header = ["scheme", "true pairs", "random pairs", "AUC"]
    header += [f"≤ {limit}: found / false" for limit in LIMITS]
    header += ["found at 1 in 10,000", "documents/s"]
    lines = [
        [
            f"`{row['name']}`",
            *(spread(Distances(tuple(row[kind]))) for kind in ("true", "random")),
            QUANTITIES["auc"](row),
            *(f"{_found(row, limit)} / {_false(row, limit)}" for limit in LIMITS),
            f"{QUANTITIES['rare'](row)} ({QUANTITIES['limit'](row)})",
            rough(measured["documents"] / row["seconds"]),
        ]
        for row in measured["rows"]
    ]
    return table(header, lines).rstrip("\n")


def spread(distances: Distances) -> str:
    """The mean, and between which distances nine of ten pairs lie."""
    low, high = (distances.quantile(share) for share in (Fraction(1, 20), Fraction(19, 20)))
    return f"{distances.mean:.1f} ({low:g}–{high:g})"


def rough(rate: float) -> str:
    """A rate with two digits, as a single run on a busy machine deserves no more."""
    return f"{float(f'{rate:.1e}'):,.0f}"


def percent(share: Fraction) -> str:
    """A share with one decimal, or as many as it takes to show that it is neither 0 nor all."""
    hundredths = float(100 * share)
    if share in (0, 1):
        return f"{hundredths:.0f} %"
    if hundredths < 0.1:
        return f"{hundredths:.2g} %"
    if hundredths > 99.9:
        return f"{100 - float(f'{100 - hundredths:.1g}'):g} %"
    return f"{hundredths:.1f} %"


def _found(row: Json, limit: float | None) -> str:
    return "none" if limit is None else percent(Distances(tuple(row["true"])).within(limit))


def _false(row: Json, limit: float) -> str:
    return percent(Distances(tuple(row["random"])).within(limit))


def _limit(row: Json) -> float | None:
    return Distances(tuple(row["random"])).limit(RARE)


def _told_limit(row: Json) -> str:
    limit = _limit(row)
    return "0 is too far" if limit is None else f"≤ {limit:g}"


def _told_bits(row: Json) -> str:
    """The same limit in bits of the fingerprint, as a user gives it."""
    limit, bits = _limit(row), len(row["random"]) - 1
    return "none" if limit is None else f"{limit * bits / COMMON_BITS:g} of {bits}"


QUANTITIES: dict[str, Callable[[Json], str]] = {
    "auc": lambda row: told_area(area_under_curve(row["true"], row["random"]), 5),
    "mean": lambda row: f"{Distances(tuple(row['true'])).mean:.1f}",
    "random_mean": lambda row: f"{Distances(tuple(row['random'])).mean:.1f}",
    "rare": lambda row: _found(row, _limit(row)),
    "limit": _told_limit,
    "bits": _told_bits,
    **{f"found{limit}": partial(_found, limit=limit) for limit in LIMITS},
    **{f"false{limit}": partial(_false, limit=limit) for limit in LIMITS},
}
