"""Plans by their names, as options and arguments give them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from neardup.errors import SettingError
from neardup.pairs.by_fingerprints.blocks import BandPlan, BlockPlan, PrefixPlan
from neardup.pairs.by_fingerprints.every import EveryPair
from neardup.pairs.by_fingerprints.length import LengthPlan
from neardup.pairs.by_fingerprints.masks import MaskPlan
from neardup.pairs.by_fingerprints.plan import Plan
from neardup.pairs.by_fingerprints.probe import ProbePlan
from neardup.pairs.by_fingerprints.rotate import RotatePlan

KNOWN = (
    "auto, all, blocks:K, blocks:K/M, bands:MxK, rotate:R, rotate:R:WINDOW, probe:K, prefix:D "
    "or length:SHARE"
)

_NUMBER = r"(\d{1,6})"
_FORMS: list[tuple[str, Callable[[Sequence[str], int], Plan]]] = [
    ("all", lambda _, bits: EveryPair(bits)),
    (f"blocks:{_NUMBER}", lambda part, bits: BlockPlan.of_blocks(int(part[0]), None, bits)),
    (
        f"blocks:{_NUMBER}/{_NUMBER}",
        lambda part, bits: BlockPlan.of_blocks(int(part[0]), int(part[1]), bits),
    ),
    (
        f"bands:{_NUMBER}x{_NUMBER}",
        lambda part, bits: BandPlan.of_bands(int(part[0]), int(part[1]), bits),
    ),
    (f"prefix:{_NUMBER}", lambda part, bits: PrefixPlan.of_prefix(int(part[0]), bits)),
    (f"probe:{_NUMBER}", lambda part, bits: ProbePlan.of_flips(int(part[0]), bits)),
    (f"rotate:{_NUMBER}", lambda part, bits: RotatePlan.of_rotations(int(part[0]), 1, bits)),
    (
        f"rotate:{_NUMBER}:{_NUMBER}",
        lambda part, bits: RotatePlan.of_rotations(int(part[0]), int(part[1]), bits),
    ),
    (
        r"length:(\d{1,3}(?:\.\d{1,6})?)",
        lambda part, bits: LengthPlan.of_share(Fraction(part[0]), bits),
    ),
]


def plan_of(candidates: Any, bits: int) -> Plan:
    """The plan for fingerprints of `bits` bits: by name, of masks, or as it is.

    >>> plan_of("bands:3x18", 64).tables
    3
    """
    if isinstance(candidates, Plan):
        if candidates.bits != bits:
            raise SettingError(
                f"the plan {candidates} is for {candidates.bits} bits, but these fingerprints "
                f"have {bits}"
            )
        return candidates
    if isinstance(candidates, str):
        return _by_name(candidates, bits)
    if isinstance(candidates, Sequence | np.ndarray) and np.ndim(candidates) == 1:
        return MaskPlan.of(list(candidates), bits)
    raise SettingError(
        f"candidates={candidates!r} is neither a plan, its name, nor a list of masks; "
        f"choose {KNOWN}"
    )


def _by_name(name: str, bits: int) -> Plan:
    for form, make in _FORMS:
        found = re.fullmatch(form, name, re.ASCII)
        if found:
            return make(found.groups(), bits)
    raise SettingError(f"candidates={name!r} is unknown; choose {KNOWN}")
