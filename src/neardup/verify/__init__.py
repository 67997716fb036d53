"""True similarity: what two documents really share, and where they differ."""

from neardup.verify.comparison import Comparison, Side
from neardup.verify.diff import Edit
from neardup.verify.similarity import cosine, jaccard, weighted_jaccard

__all__ = [
    "Comparison",
    "Edit",
    "Side",
    "cosine",
    "jaccard",
    "weighted_jaccard",
]
