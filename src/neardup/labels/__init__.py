"""Labels: which pairs of documents are duplicates, as people know it, and the pairs to ask about.

`read_labels` takes a table of pairs, decisions, or both; `write_pairs_to_label` writes a file that
people fill in, or answer with `neardup review`.
"""

from neardup.labels.model import Labels as Labels, PlacedLabels as PlacedLabels
from neardup.labels.read import read_labels as read_labels
from neardup.labels.to_label import (
    PairsToLabel as PairsToLabel,
    write_pairs_to_label as write_pairs_to_label,
)
