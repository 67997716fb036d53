import random

import numpy as np
import pytest
from hypothesis import given, strategies as st

from neardup.comparison import alignment as alignment_module
from neardup.comparison.alignment import Budget, align, shortest_script

WORDS = st.lists(st.integers(0, 5), max_size=40)


def numbers(words):
    return np.array(words, np.int32)


def assert_aligned(blocks, a, b):
    i_end = j_end = 0
    for i, j, n in blocks:
        assert n > 0
        assert i >= i_end
        assert j >= j_end
        assert list(a[i : i + n]) == list(b[j : j + n])
        i_end, j_end = i + n, j + n
    assert i_end <= len(a)
    assert j_end <= len(b)


def longest_common(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], diagonal + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


@given(WORDS, WORDS)
def test_the_shortest_script_keeps_the_longest_common_subsequence(a, b):
    blocks = shortest_script(a, b, len(a) + len(b), Budget(10**6))
    assert blocks is not None
    assert_aligned(blocks, a, b)
    assert sum(n for _, _, n in blocks) == longest_common(a, b)


def test_the_shortest_script_gives_up_past_its_edits_or_budget():
    a, b = [0] * 10, [1] * 10
    assert shortest_script(a, b, 19, Budget(10**6)) is None
    assert shortest_script(a, b, 20, Budget(10)) is None
    assert shortest_script(a, b, 20, Budget(10**6)) == []


@pytest.mark.parametrize("short_gap", [0, 100])
@given(a=WORDS, b=WORDS)
def test_blocks_ascend_and_are_equal(short_gap, a, b):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment_module, "_SHORT_GAP", short_gap)
        found = align(numbers(a), numbers(b))
    assert found.complete
    assert_aligned(found.blocks, a, b)


@given(WORDS, WORDS, st.integers(0, 60))
def test_a_spent_budget_is_confessed_and_still_right(a, b, steps):
    found = align(numbers(a), numbers(b), steps)
    assert_aligned(found.blocks, a, b)
    if not found.complete:
        assert align(numbers(a), numbers(b)).complete


@given(WORDS)
def test_a_document_is_aligned_with_itself_in_one_block(a):
    assert align(numbers(a), numbers(a)).blocks == (((0, 0, len(a)),) if a else ())


def test_edits_far_apart_in_a_long_text_are_found_exactly():
    rng = random.Random(7)
    a = [rng.randrange(5000) for _ in range(50_000)]
    b = a.copy()
    places = range(1000, 50_000, 1000)
    for place in places:
        b[place] = 9999
    found = align(numbers(a), numbers(b))
    assert found.complete
    assert sum(n for _, _, n in found.blocks) == len(a) - len(places)


def test_a_moved_stretch_leaves_the_longer_rest_in_place():
    a = list(range(3000))
    b = a[200:] + a[:200]
    assert align(numbers(a), numbers(b)).blocks == ((200, 0, 2800),)


def test_repetitive_text_with_few_edits_is_found():
    a = [1, 2] * 5000
    b = a.copy()
    b[1000] = b[9000] = 3
    found = align(numbers(a), numbers(b))
    assert found.complete
    assert sum(n for _, _, n in found.blocks) == len(a) - 2


def test_a_lone_word_between_long_changes_is_no_block():
    assert align(numbers([0, 1, 2, 3, 9, 4, 5, 6]), numbers([0, 7, 7, 7, 9, 8, 8, 8])).blocks == (
        (0, 0, 1),
    )


def test_long_unrelated_documents_stay_within_the_budget():
    rng = np.random.default_rng(7)
    a, b = (rng.zipf(1.3, 300_000).clip(max=100_000).astype(np.int32) for _ in range(2))
    found = align(a, b, steps=1_000_000)
    assert not found.complete
    assert_aligned(found.blocks, a, b)
