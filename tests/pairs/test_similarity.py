import doctest

import numpy as np
import pytest
from hypothesis import given, strategies as st

from neardup.pairs import similarity
from neardup.pairs.similarity import cosine, jaccard, weighted_jaccard

KEYS = st.integers(0, 8)
SETS = st.sets(KEYS)
COUNTS = st.dictionaries(KEYS, st.integers(1, 1000))
WEIGHTS = st.dictionaries(KEYS, st.floats(0, 1e6).filter(lambda w: w == 0 or w > 1e-6))


def vector(weights):
    return np.array([weights.get(key, 0) for key in range(9)], float)


def test_examples_in_the_docstrings():
    result = doctest.testmod(similarity)
    assert result.attempted
    assert not result.failed


@given(SETS, SETS)
def test_jaccard_is_intersection_over_union(a, b):
    assert jaccard(a, b) == (len(a & b) / len(a | b) if a | b else 0.0)


@given(COUNTS, COUNTS)
def test_weighted_jaccard_is_the_sum_of_minima_over_the_sum_of_maxima(a, b):
    u, v = vector(a), vector(b)
    expected = np.minimum(u, v).sum() / np.maximum(u, v).sum() if a or b else 0.0
    assert weighted_jaccard(a, b) == pytest.approx(expected)


@given(WEIGHTS, WEIGHTS)
def test_cosine_is_that_of_numpy(a, b):
    u, v = vector(a), vector(b)
    norms = np.linalg.norm(u) * np.linalg.norm(v)
    assert cosine(a, b) == pytest.approx(u @ v / norms if norms else 0.0)


@pytest.mark.parametrize("similar", [weighted_jaccard, cosine])
@given(a=WEIGHTS, b=WEIGHTS)
def test_bounds_and_symmetry(similar, a, b):
    assert 0.0 <= similar(a, b) <= 1.0
    assert similar(a, b) == pytest.approx(similar(b, a))


@given(SETS, SETS)
def test_jaccard_bounds_and_symmetry(a, b):
    assert 0.0 <= jaccard(a, b) == jaccard(b, a) <= 1.0


@given(WEIGHTS.filter(lambda weights: any(weights.values())))
def test_a_document_is_exactly_like_itself(a):
    assert jaccard(a.keys(), a.keys()) == weighted_jaccard(a, a) == cosine(a, a) == 1.0


@given(SETS, WEIGHTS)
def test_an_empty_document_is_like_nothing(some, weights):
    assert jaccard(set(), some) == jaccard(some, set()) == 0.0
    assert weighted_jaccard({}, weights) == weighted_jaccard(weights, {}) == 0.0
    assert cosine({}, weights) == cosine(weights, {}) == 0.0


@given(SETS, SETS)
def test_weights_of_one_give_the_similarity_of_sets(a, b):
    ones_a, ones_b = dict.fromkeys(a, 1), dict.fromkeys(b, 1)
    assert weighted_jaccard(ones_a, ones_b) == pytest.approx(jaccard(a, b))
