"""Windows of lengths: which pairs a border keeps apart."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from scripts.reproductions_page.results import Json

import neardup as nd
from neardup.lab.reproduce.documents import KnownIds
from neardup.lab.reproduce.sphere import disjoint_windows, windowed_pairs
from neardup.pairs.by_fingerprints import LengthPlan, plan_of
from neardup.pairs.by_fingerprints.plan import pairs_of
from neardup.presets import preset

# The arXiv abstracts are all of nearly one length, so windows do nothing there.
CORPORA = ("django_docs", "licenses", "tang_poems")
RATIOS = (1.0, 1.00001, 1.02, 1.04, 1.06, 1.08, 1.10, 1.12, 1.14, 1.16, 1.18, 1.2)


def borders(data: Path) -> Json:
    """For each corpus, what the published windows lose of near and of known pairs."""
    return {"ratios": list(RATIOS), "rows": [_measured(data / name) for name in CORPORA]}


def _measured(folder: Path) -> Json:
    known = preset("sphere")
    documents = pq.read_table(folder / "docs.parquet", columns=["id", "text"])
    found = nd.fingerprint(documents["text"], **known.recipe)
    plan = plan_of(known.candidates, found.bits)
    assert isinstance(plan, LengthPlan)
    windows = disjoint_windows(found.words, plan.share)
    counted = windowed_pairs(found, plan.share, windows, known.max_distance, None)
    pairs = KnownIds.read(folder / "pairs.parquet").among(documents["id"].combine_chunks())
    shorter, longer = np.sort([found.words[pairs.a], found.words[pairs.b]], axis=0).astype(float)
    apart = windows[pairs.a] != windows[pairs.b]
    similar = longer <= shorter * float(1 + plan.share)
    ratio = longer / np.maximum(shorter, 1)
    by_ratio = []
    for low, high in pairwise(RATIOS):
        inside = similar & (ratio >= low) & ((ratio < high) | (high == RATIOS[-1]))
        by_ratio.append([int(inside.sum()), int((inside & apart).sum())])
    filled = ~found.empty
    sizes = np.bincount(windows[filled])
    return {
        "corpus": folder.name,
        "documents": len(found),
        "windows": int((sizes > 0).sum()),
        "all_with_all": int(pairs_of(int(filled.sum()))),
        "in_windows": int((sizes * (sizes - 1) // 2).sum()),
        "similar_lengths": plan.comparisons(found.words[filled]),
        "limits": list(counted.limits),
        "pairs": counted.pairs.tolist(),
        "lost": counted.lost.tolist(),
        "known": len(pairs),
        "known_similar": int(similar.sum()),
        "known_lost": int((similar & apart).sum()),
        "by_ratio": by_ratio,
    }
