"""Distance 3 on texts that were edited: what it finds, by how much of a text has changed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from scripts.reproductions_page.results import Json

import neardup as nd
from neardup.lab.reproduce.documents import KnownIds
from neardup.presets import preset

EDGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
LIMITS = (3, 6, 10)
RECIPES = {
    "blog": preset("blog").recipe,
    "word:3": {"features": "word:3"},
    "word:1 tfidf": {"features": "word:1", "weights": "tfidf"},
}


def edits(data: Path) -> Json:
    """Pages of two releases that are not the same: the share within some distances."""
    folder = data / "django_docs"
    documents = pq.read_table(folder / "docs.parquet")
    pairs = pq.read_table(folder / "pairs.parquet")
    known = KnownIds.read(folder / "pairs.parquet").among(documents["id"].combine_chunks())
    changed = ~np.asarray(pairs["identical"])
    alike = pairs["jaccard_words"].to_numpy()
    rows = []
    for name, recipe in RECIPES.items():
        found = nd.fingerprint(documents["text"], **recipe)
        distance = np.asarray(nd.hamming(found[known.a], found[known.b]))
        for low, high in pairwise(EDGES):
            inside = changed & (alike >= low) & ((alike < high) | (high == EDGES[-1]))
            shares = [float((distance[inside] <= limit).mean()) for limit in LIMITS]
            mean = float(distance[inside].mean())
            pairs_inside = int(inside.sum())
            rows.append(
                {
                    "recipe": name,
                    "low": low,
                    "high": high,
                    "pairs": pairs_inside,
                    "mean": mean,
                    "within": shares,
                }
            )
    return {"changed": int(changed.sum()), "limits": list(LIMITS), "rows": rows}
