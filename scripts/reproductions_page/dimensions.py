"""Spheres of few and many dimensions beside plain bits, on real texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scripts.reproductions_page.results import Json
from scripts.scheme_quality import corpora
from scripts.scheme_quality.distances import Distances

import neardup as nd
from neardup.fingerprints import hamming

CORPORA = {"arxiv": corpora.arxiv, "tang_poems": corpora.tang_poems}
DIMENSIONS = (16, 24, 32, 42, 64, 96, 128)
BITS = 64


def dimensions(data: Path) -> Json:
    """The distances of true and random pairs by word:3, for each number of dimensions."""
    rows = []
    for name, load in CORPORA.items():
        corpus = load(data / name)
        projections = [f"sphere:{dimension}x{BITS}" for dimension in DIMENSIONS]
        for projection in (None, *projections):
            found = nd.fingerprint(corpus.documents["text"], projection=projection)
            true, random = (
                Distances.of(np.asarray(hamming(found[a], found[b])), found.bits).counts
                for a, b in (corpus.true, corpus.random)
            )
            rows.append({"corpus": name, "projection": projection, "true": true, "random": random})
    return {"dimensions": list(DIMENSIONS), "rows": rows}
