"""What is to be swept: plans, thresholds and settings, checked before anything is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from neardup.candidates import Plan
from neardup.errors import SettingError
from neardup.hashes import hash_family
from neardup.lab.sweep_plans import swept_plans
from neardup.pipeline.dedup.settings import DedupSettings

_SETTINGS = (
    *("features", "weights", "hash", "tie", "similarity"),
    *("text", "id", "threads", "memory", "preset", "max_document"),
)


@dataclass(frozen=True, eq=False)
class SweepRequest:
    """Plans, thresholds from the highest down, and settings for the lowest of them.

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
        """Check everything; a preset also says what to sweep, where nothing else does."""
        chosen = {name: value for name, value in settings.items() if value is not None}
        for name in chosen:
            if name not in _SETTINGS:
                raise SettingError(f"sweep has no setting {name!r}; it has {', '.join(_SETTINGS)}")
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
            "(jaccard, weighted-jaccard or cosine) and a threshold"
        )
    if settings.scheme.projection is not None:
        raise SettingError(
            f"{settings.scheme.projection} gives fingerprints of one width, but a sweep takes "
            "several; take a preset without a projection"
        )
    return settings
