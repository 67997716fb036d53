"""Candidates: fingerprints → the pairs worth a closer look."""

from neardup.candidates.blocks import BandPlan, BlockPlan, PrefixPlan
from neardup.candidates.every import EveryPair
from neardup.candidates.length import LengthPlan
from neardup.candidates.masks import MaskPlan
from neardup.candidates.names import plan_of
from neardup.candidates.plan import Plan
from neardup.candidates.planner import Choice, choose
from neardup.candidates.probe import ProbePlan
from neardup.candidates.rotate import RotatePlan
from neardup.candidates.search import PairGroups, Search, find_pairs

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
