"""Files of pairs to label, as `neardup tune` writes them."""

import numpy as np
import pyarrow as pa

from neardup.labels import PairsToLabel, write_pairs_to_label

TEXTS = {
    "k1": "name: Anna Berg\ncity: Bern",
    "k2": "name: Anna Bergh\ncity: Bern",
    "k3": "name: A. Berg\ncity: Basel",
    "k4": "name: Otto Kern\ncity: Chur",
    "k5": "name: Otto Kern\ncity: Chur",
}
PAIRS = [("k4", "k5"), ("k2", "k1"), ("k1", "k3"), ("k3", "k4")]


def pairs_of(pairs=PAIRS, texts=TEXTS, similarity=None):
    return PairsToLabel(
        pa.array([a for a, _ in pairs]),
        pa.array([b for _, b in pairs]),
        pa.array([texts[a] for a, _ in pairs]),
        pa.array([texts[b] for _, b in pairs]),
        np.linspace(1, 0.1, len(pairs)) if similarity is None else np.array(similarity),
        [f"word:1 tfidf stratum {place}" for place in range(len(pairs))],
    )


def written(path, about=None, **pairs):
    write_pairs_to_label(path, pairs_of(**pairs), about=about or {})
    return path
