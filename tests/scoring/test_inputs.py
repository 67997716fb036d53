"""The inputs of a model are what the guide says: a slow twin computes them from words."""

import math
import re
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from neardup.collection.model import TEXT_INPUTS
from neardup.collection.rarity import Rarity
from neardup.scoring.inputs import Documents

ALPHABET = ["red", "Blue", "x100", "42", "hp", "q6511x", "tea", "of", "2", "né", "—", "!", "東京"]
TEXTS = st.lists(
    st.lists(st.sampled_from(ALPHABET), max_size=8).map(" ".join), min_size=2, max_size=8
)


def words(text):
    found = re.findall(r"[^\W_]+", text.lower())
    return [part for word in found for part in (word if word in ("東京",) else [word])]


def shingles(text):
    folded = " ".join(text.lower().split())
    if not words(text):
        return []
    return [folded[at : at + 3] for at in range(max(1, len(folded) - 2))]


def counts(units):
    return {unit: units.count(unit) for unit in units}


def jaccard(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b)) if set(a) | set(b) else 0.0


def weighted(a, b):
    larger = sum(max(a.get(key, 0), b.get(key, 0)) for key in a.keys() | b.keys())
    return sum(min(a[key], b[key]) for key in a.keys() & b.keys()) / larger if larger else 0.0


def cosine(a, b):
    dot = sum(a[key] * b[key] for key in a.keys() & b.keys())
    lengths = [math.sqrt(sum(w * w for w in one.values())) for one in (a, b)]
    return dot / (lengths[0] * lengths[1]) if dot else 0.0


def contained(a, b):
    less = min(sum(a.values()), sum(b.values()))
    return sum(a[key] for key in a.keys() & b.keys()) / less if less else 0.0


class Twin:
    def __init__(self, texts):
        self.idf = {}
        for kind, units in (("word", words), ("char", shingles)):
            filled = [set(units(text)) for text in texts if units(text)]
            every = set().union(*filled) if filled else set()
            self.idf |= {
                (kind, unit): math.log(1 + len(filled) / sum(unit in one for one in filled))
                for unit in every
            }
        self.most = math.log(1 + max(1, sum(bool(words(text)) for text in texts)))

    def rare(self, units):
        return {unit: self.idf["word", unit] for unit in units}

    def tfidf(self, kind, units):
        return {unit: n * self.idf[kind, unit] for unit, n in counts(units).items()}

    def values(self, a, b):
        ours, theirs = words(a), words(b)
        digits = [{word for word in one if re.search("[0-9]", word)} for one in (ours, theirs)]
        rare = [self.rare(one) for one in digits]
        shared = set(ours) & set(theirs)
        runs = [list(pairwise(one)) or [tuple(one)] * bool(one) for one in (ours, theirs)]
        return [
            jaccard(ours, theirs),
            weighted(self.tfidf("word", ours), self.tfidf("word", theirs)),
            cosine(self.tfidf("word", ours), self.tfidf("word", theirs)),
            contained(self.rare(ours), self.rare(theirs)),
            jaccard(*runs),
            jaccard(shingles(a), shingles(b)),
            cosine(self.tfidf("char", shingles(a)), self.tfidf("char", shingles(b))),
            weighted(*rare) if all(digits) else math.nan,
            contained(*rare) if all(digits) else math.nan,
            max((self.idf["word", word] for word in shared), default=0.0) / self.most,
            float(bool(ours and theirs) and first(a) == first(b)),
            min(len(a), len(b)) / max(len(a), len(b)) if a or b else 0.0,
        ]


def first(text):
    return re.search(r"[^\W_]+", text.lower())[0]


@given(TEXTS)
def test_the_similarities_of_whole_texts_are_those_of_the_twin(texts):
    column = pa.array(texts, pa.large_string())
    documents, twin = Documents(column, Rarity.of([[column]])), Twin(texts)
    a, b = np.triu_indices(len(texts), 1)
    found = np.column_stack(documents.text_values(documents, a, b))
    for row, (x, y) in enumerate(zip(a, b, strict=True)):
        expected = twin.values(texts[x], texts[y])
        for name, ours, theirs in zip(TEXT_INPUTS, found[row], expected, strict=True):
            assert ours == pytest.approx(theirs, abs=1e-9, nan_ok=True), (name, texts[x], texts[y])


@given(TEXTS)
def test_the_order_of_two_documents_does_not_matter(texts):
    column = pa.array(texts, pa.large_string())
    documents = Documents(column, Rarity.of([[column]]))
    a, b = np.triu_indices(len(texts), 1)
    one, other = (np.column_stack(documents.text_values(documents, *ab)) for ab in ((a, b), (b, a)))
    assert np.allclose(one, other, rtol=0, atol=1e-12, equal_nan=True)


def test_the_rarest_words_of_long_texts_count():
    long = " ".join(f"w{number}" for number in range(500))
    texts = pa.array([f"{long} rare", f"rare {long}", long, long], pa.large_string())
    documents = Documents(texts, Rarity.of([[texts]]))
    found = documents.text_values(documents, np.array([0, 2]), np.array([1, 3]))
    rarest = found[list(TEXT_INPUTS).index("rarest shared word")]
    assert rarest.tolist() == pytest.approx([math.log(3) / math.log(5), math.log(2) / math.log(5)])
