"""What to sweep: a grid of bands, other plans, thresholds and settings, checked before reading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neardup.collection.settings import DedupSettings
from neardup.errors import SettingError
from neardup.fingerprints.scheme import require_bits
from neardup.hashes import HashFamily, hash_family
from neardup.hashes.family import common_words
from neardup.hashes.rows import cut, row_words
from neardup.pairs.by_fingerprints import BandPlan, Plan, plan_of
from neardup.settings import SETTINGS, require_known

DEFAULT_BITS = 64
_TRIED_WORDS = 100


# Settings of `dedup` that a sweep varies itself or does not use.
_NOT_SWEPT = (
    *("bits", "projection", "threshold", "candidates", "recall"),
    *("keep", "cluster", "pairs", "floor", "model"),
)
_SETTINGS = (*(name for name in SETTINGS if name not in _NOT_SWEPT), "preset")


def swept_plans(
    bands: int | Iterable[int] | None,
    band_bits: int | Iterable[int] | None,
    plans: Iterable[str | Plan] | None,
    bits: int | None = None,
) -> list[Plan]:
    """Every number of bands with every width, then the named plans, without repetitions.

    Bands have as many bits as they need, other plans `bits` (default 64).

    >>> [plan.name for plan in swept_plans([2, 3], 10, ["blocks:3"])]
    ['bands:2x10', 'bands:3x10', 'blocks:3']
    """
    if (bands is None) != (band_bits is None):
        raise SettingError(
            "give bands (the number of tables) and band_bits (the bits of a table) together"
        )
    if bits is not None:
        require_bits(bits)
    chosen: list[Plan] = []
    for width in _numbers(band_bits, "band_bits"):
        chosen += [named_plan(f"bands:{count}x{width}") for count in _numbers(bands, "bands")]
    for plan in plans or ():
        if not isinstance(plan, Plan):
            plan = named_plan(plan, None if plan.startswith("bands:") else bits)
        chosen.append(plan)
    if not chosen:
        raise SettingError(
            "there is nothing to sweep: give bands and band_bits, for example 2,3,4 and 10,12,18, "
            "or plans, for example blocks:3"
        )
    return list({(plan.name, plan.bits): plan for plan in chosen}.values())


def named_plan(name: str, bits: int | None = None) -> Plan:
    """A plan by its name; without `bits`, bands have as many as they need and others 64."""
    bands = re.fullmatch(r"bands:(\d{1,6})x(\d{1,6})", name, re.ASCII)
    if bits is not None:
        require_bits(bits)
    else:
        bits = max(1, int(bands[1]) * int(bands[2])) if bands else DEFAULT_BITS
    return plan_of(name, bits)


def shape_of(plan: Plan) -> tuple[int, int] | tuple[None, None]:
    """The number of bands of a plan and the bits of each; (None, None) for other plans."""
    if not isinstance(plan, BandPlan):
        return None, None
    return plan.tables, plan.masks[0].bit_count()


def cut_from(family: HashFamily, widths: Sequence[int]) -> dict[int, int]:
    """For each width of fingerprint, the wider one it is a prefix of, or itself.

    A fingerprint of md5 or nd1 begins with every narrower one, so the widest serves for all.
    Families that take the low bits of a number differ. This is tested on common words.

    >>> from neardup.hashes import hash_family
    >>> cut_from(hash_family("md5"), [20, 54]), cut_from(hash_family("dek"), [20, 54])
    ({54: 54, 20: 54}, {54: 54, 20: 20})
    """
    found: dict[int, int] = {}
    for width in sorted(set(widths), reverse=True):
        wider = (made for made in dict.fromkeys(found.values()) if _begins(family, width, made))
        found[width] = next(wider, width)
    return found


def first_bits(rows: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    """The first bits of each row, as rows of their own."""
    return cut(np.array(rows[:, : row_words(bits)], order="C"), bits)


def _begins(family: HashFamily, width: int, wider: int) -> bool:
    words = common_words()[:_TRIED_WORDS]
    return np.array_equal(
        first_bits(family.digest(words, wider), width), family.digest(words, width)
    )


def _numbers(chosen: int | Iterable[int] | None, name: str) -> list[int]:
    values: list[Any] = [] if chosen is None else [chosen]
    if isinstance(chosen, Iterable):
        values = list(chosen)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise SettingError(f"{name}={value!r} must be a whole number, at least 1")
    return [int(value) for value in values]


@dataclass(frozen=True, eq=False)
class SweepRequest:
    """Plans, thresholds in descending order, and settings for the lowest threshold.

    The scheme of the settings has as many bits as the widest plan.
    """

    plans: tuple[Plan, ...]
    thresholds: tuple[float, ...]
    settings: DedupSettings

    @classmethod
    def of(
        cls,
        *,
        bands: int | Iterable[int] | None = None,
        band_bits: int | Iterable[int] | None = None,
        plans: Iterable[str | Plan] | None = None,
        bits: int | None = None,
        threshold: float | Iterable[float] | None = None,
        **settings: Any,
    ) -> SweepRequest:
        """Check the request; without bands and plans, the plan of the preset is swept."""
        require_known(settings, _SETTINGS)
        chosen = {name: value for name, value in settings.items() if value is not None}
        levels: list[Any] = list(threshold) if isinstance(threshold, Iterable) else [threshold]
        if not levels:
            raise SettingError("threshold is an empty list; give one or more")
        checked = [_settings(chosen, level) for level in levels]
        lowest = min(checked, key=lambda one: one.threshold)
        if plans is None and bands is None and band_bits is None and "preset" in chosen:
            plans = [lowest.candidates]
        swept = swept_plans(bands, band_bits, plans, bits)
        widest = max(plan.bits for plan in swept)
        hash_family(lowest.scheme.hash).require_bits(widest)
        return cls(
            tuple(swept),
            tuple(sorted({one.threshold for one in checked}, reverse=True)),
            replace(lowest, scheme=replace(lowest.scheme, bits=widest)),
        )


def _settings(chosen: dict[str, Any], threshold: Any) -> DedupSettings:
    if threshold is not None:
        chosen = {**chosen, "threshold": threshold}
    settings = DedupSettings.of(**chosen)
    if settings.similarity == "hamming":
        raise SettingError(
            "a sweep counts pairs by their true similarity, which hamming is not; give similarity "
            "(jaccard, weighted-jaccard, cosine, containment or inclusion) and a threshold"
        )
    if settings.is_scored:
        raise SettingError(
            f"a sweep counts pairs by the similarity of their features, which "
            f"similarity={settings.similarity!r} is not; give similarity='weighted-jaccard'"
        )
    if settings.scheme.projection is not None:
        raise SettingError(
            f"{settings.scheme.projection} gives fingerprints of one width, but a sweep needs "
            "several; use a preset without a projection"
        )
    return settings
