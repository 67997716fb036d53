from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from neardup.comparison import overlap as overlap_module
from neardup.comparison.overlap import find_overlap
from neardup.kernels.reference import text
from neardup.pairs.similarity import cosine, jaccard, weighted_jaccard

UNITS = st.lists(st.integers(0, 3), max_size=30)
SIZES = st.integers(1, 40)


def numbers(units):
    return np.array(units, np.int32)


def counts(units, size):
    return Counter(text.shingles(units, size))


@pytest.mark.parametrize("slots", [0, 4])
@given(a=UNITS, b=UNITS, size=SIZES)
def test_features_are_those_of_the_reference(slots, a, b, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(overlap_module, "_SLOTS_PER_VALUE", slots)
        found = find_overlap(numbers(a), numbers(b), size)
    in_a, in_b = counts(a, size), counts(b, size)
    assert found.distinct_a == len(in_a)
    assert found.distinct_b == len(in_b)
    assert found.shared == len(in_a.keys() & in_b.keys())
    assert found.features_a.size == in_a.total()
    assert found.features_b.size == in_b.total()


@given(UNITS, UNITS, SIZES)
def test_similarities_are_those_of_the_plain_functions(a, b, size):
    found = find_overlap(numbers(a), numbers(b), size)
    in_a, in_b = counts(a, size), counts(b, size)
    ones_a, ones_b = dict.fromkeys(in_a, 1), dict.fromkeys(in_b, 1)
    assert found.jaccard("set") == pytest.approx(jaccard(in_a.keys(), in_b.keys()))
    assert found.cosine("set") == pytest.approx(cosine(ones_a, ones_b))
    assert found.jaccard("count") == pytest.approx(weighted_jaccard(in_a, in_b))
    assert found.cosine("count") == pytest.approx(cosine(in_a, in_b))


@given(UNITS, UNITS, SIZES)
def test_places_are_of_features_the_other_document_lacks(a, b, size):
    places = find_overlap(numbers(a), numbers(b), size).places_only_in_a(size, 3)
    shingles_a, in_b = text.shingles(a, size), counts(b, size)
    only_here = counts(a, size).keys() - in_b.keys()
    assert bool(places) == bool(only_here)
    assert all(shingles_a[place] in only_here for place in places)
    assert len({shingles_a[place] for place in places}) == len(places) <= 3


def test_places_of_the_second_document():
    found = find_overlap(numbers([1, 2]), numbers([1, 2, 3, 4]), 1)
    assert found.places_only_in_a(1, 5) == []
    assert found.places_only_in_b(1, 5) == [2, 3]
