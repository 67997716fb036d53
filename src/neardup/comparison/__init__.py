"""True similarity: what two documents really share, and where they differ."""

from neardup.comparison.diff import Edit
from neardup.comparison.result import ComparedDocument, Comparison
from neardup.pairs.similarity import cosine, jaccard, weighted_jaccard

__all__ = [
    "ComparedDocument",
    "Comparison",
    "Edit",
    "cosine",
    "jaccard",
    "weighted_jaccard",
]
