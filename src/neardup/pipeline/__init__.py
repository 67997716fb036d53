"""Whole runs, top to bottom: what the commands do, as functions."""

from neardup.pipeline.fingerprint_files import FingerprintSummary, fingerprint_files
from neardup.pipeline.idf_files import IdfSummary, idf_of_files
from neardup.pipeline.pair_files import PairsSummary, find_pairs_in_files

__all__ = [
    "FingerprintSummary",
    "IdfSummary",
    "PairsSummary",
    "find_pairs_in_files",
    "fingerprint_files",
    "idf_of_files",
]
