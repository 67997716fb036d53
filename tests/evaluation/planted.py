"""Small collections with known clusters, and every rate by brute force over all pairs."""

from __future__ import annotations

import random
from itertools import combinations

import neardup as nd
from neardup.evaluation.scores import PairCounts

WORDS = [f"w{number}" for number in range(60)]


def collection(seed, count=60):
    """Rows with `id`, `text` and `kind`; copies, edited copies, empty texts, wrong kinds."""
    chance = random.Random(seed)
    rows = []
    for number in range(count):
        if rows and chance.random() < 0.6:
            origin = chance.choice(rows)
            words = origin["text"].split()
            for _ in range(chance.choice([0, 0, 1, 2, 4])):
                if words:
                    words[chance.randrange(len(words))] = chance.choice(WORDS)
            kind = origin["kind"] if chance.random() < 0.9 else f"k{number}"
            text = " ".join(words)
        else:
            text = " ".join(chance.choices(WORDS, k=chance.choice([0, 4, 8, 12])))
            kind = f"k{number}"
        rows.append({"id": f"d{number}", "text": text, "kind": kind})
    return rows


def found_pairs(result):
    """The pairs of ids that are in one cluster."""
    clusters = {}
    for row in result.clusters.to_pylist():
        clusters.setdefault(row["cluster"], []).append(row["id"])
    return {frozenset(pair) for one in clusters.values() for pair in combinations(one, 2)}


def true_pairs(rows):
    return {
        frozenset((a["id"], b["id"])) for a, b in combinations(rows, 2) if a["kind"] == b["kind"]
    }


def counts(found, true):
    return PairCounts(len(found & true), len(found), len(true))


def labels_of(pairs, same=None):
    """A table of labels; `same` are the pairs that are the same, if not all are."""
    import pyarrow as pa

    sides = [sorted(pair) for pair in sorted(pairs, key=sorted)]
    table = {"a": [a for a, _ in sides], "b": [b for _, b in sides]}
    if same is not None:
        table["same"] = [frozenset(pair) in same for pair in sides]
    return pa.table(table)


SETTINGS = {
    "star": {"features": "word:1", "threshold": 0.5},
    "all pairs": {"features": "word:1", "threshold": 0.5, "pairs": "all"},
    "floor": {"features": "word:1", "threshold": 0.6, "floor": 0.3},
    "components": {"features": "word:1", "threshold": 0.5, "cluster": "components"},
    "all components": {
        "features": "word:1",
        "threshold": 0.5,
        "cluster": "components",
        "pairs": "all",
    },
    "dense": {"features": "word:1", "threshold": 0.4, "cluster": "dense", "pairs": "all"},
    "keep none": {"features": "word:1", "threshold": 0.5, "keep": "none", "pairs": "all"},
    "keep two": {"features": "word:1", "threshold": 0.5, "keep": "each:2"},
    "hamming": {"features": "word:1", "similarity": "hamming", "threshold": 12, "pairs": "all"},
    "hamming evidence": {"features": "word:1", "similarity": "hamming", "threshold": 12},
    "no pairs": {"features": "word:1", "threshold": 0.5, "pairs": "none"},
    "tfidf": {"features": "word:1", "weights": "tfidf", "threshold": 0.3, "pairs": "all"},
}


def result_of(rows, name):
    return nd.dedup(rows, id="id", text="text", **SETTINGS[name])
