"""Candidates: fingerprints → the pairs worth a closer look."""

from neardup.pairs.by_fingerprints.blocks import BandPlan, BlockPlan, EveryPair, PrefixPlan
from neardup.pairs.by_fingerprints.length import LengthPlan
from neardup.pairs.by_fingerprints.masks import MaskPlan
from neardup.pairs.by_fingerprints.plan import Plan
from neardup.pairs.by_fingerprints.planner import Choice, choose, plan_of
from neardup.pairs.by_fingerprints.probe import ProbePlan
from neardup.pairs.by_fingerprints.rotate import RotatePlan
from neardup.pairs.by_fingerprints.search import PairGroups, Search, find_pairs

__all__ = [
    "BandPlan",
    "BlockPlan",
    "Choice",
    "EveryPair",
    "LengthPlan",
    "MaskPlan",
    "PairGroups",
    "Plan",
    "PrefixPlan",
    "ProbePlan",
    "RotatePlan",
    "Search",
    "choose",
    "find_pairs",
    "plan_of",
]
