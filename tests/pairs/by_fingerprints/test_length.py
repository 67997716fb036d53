"""Windows over word counts: exact at their borders, and counted before they are compared."""

import logging

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.pairs.by_fingerprints.truth import triples

import neardup as nd
from neardup.pairs.by_fingerprints import LengthPlan, length, passes, plan_of

counts = st.lists(st.integers(0, 60), max_size=25)


def prints(words, values=None):
    rows = np.arange(len(words)) % 4 if values is None else np.array(values)
    return nd.Fingerprints(rows.astype(np.uint64), "nd1/word:3/set/64", np.array(words, np.uint32))


def truth(left, right=None, share=(1, 5), limit=64):
    """Longer ≤ shorter + share × shorter, in whole numbers."""
    found = []
    others = left if right is None else right
    for a, x in enumerate(left.words.tolist()):
        for b, y in enumerate(others.words.tolist()):
            if (right is None and b <= a) or min(x, y) == 0:
                continue
            distance = (int(left.array[a, 0]) ^ int(others.array[b, 0])).bit_count()
            if (max(x, y) - min(x, y)) * share[1] <= min(x, y) * share[0] and distance <= limit:
                found.append((a, b, distance))
    return found


@given(counts, counts, st.sampled_from([("0.2", (1, 5)), ("0", (0, 1)), ("1.5", (3, 2))]))
@settings(max_examples=120)
def test_no_pair_inside_the_share_is_lost(words, others, share):
    text, ratio = share
    left, right = prints(words), prints(others)
    for limit in (None, 1):
        most = 64 if limit is None else limit
        table = nd.find_pairs(left, None, limit, f"length:{text}")
        assert triples(table) == truth(left, None, ratio, most)
        both = nd.find_pairs(left, right, limit, f"length:{text}")
        assert triples(both) == truth(left, right, ratio, most)
        streamed = nd.find_pairs(left, None, limit, f"length:{text}", stream=True)
        assert [row for batch in streamed for row in triples(batch)] == triples(table)


def test_two_collections_in_many_stretches(monkeypatch):
    monkeypatch.setattr(length, "_STRETCH", 3)
    rng = np.random.default_rng(1)
    left, right = prints(rng.integers(1, 90, 60)), prints(rng.integers(1, 90, 50))
    assert triples(nd.find_pairs(left, right, 1, "length:0.2")) == truth(left, right, limit=1)


def test_little_memory_gives_the_same_pairs(monkeypatch):
    monkeypatch.setattr(passes, "_FIRST_ROWS", 7)
    monkeypatch.setattr(passes, "_FEWEST_ROWS", 4)
    rng = np.random.default_rng(2)
    left, right = prints(rng.integers(0, 90, 80)), prints(rng.integers(0, 90, 50))
    for other in (None, right):
        for limit in (None, 1):
            table = nd.find_pairs(left, other, limit, "length:0.2", memory=5_000)
            assert triples(table) == truth(left, other, limit=64 if limit is None else limit)


@pytest.mark.parametrize(("short", "long", "together"), [(30, 33, True), (30, 34, False)])
def test_the_border_is_exact(short, long, together):
    """In floating point 30 × 1.1 is 33.00000000000000355, and 0.1 itself is inexact."""
    found = nd.find_pairs(prints([short, long]), candidates="length:0.1").num_rows
    assert found == together


def test_identical_fingerprints_of_other_lengths_are_no_pair():
    same = prints([10, 100, 10, 11], values=[5, 5, 5, 5])
    assert triples(nd.find_pairs(same, candidates="length:0.2")) == [
        (0, 2, 0),
        (0, 3, 0),
        (2, 3, 0),
    ]
    grouped = nd.find_pairs(same, candidates="length:0.2", group=True)
    assert triples(grouped.pairs) == [(0, 3, 0)]
    assert grouped.groups.to_pydict() == {"member": [2], "representative": [0]}


@given(counts, counts)
def test_comparisons_are_counted_beforehand(words, others):
    plan = plan_of("length:0.2", 64)
    assert isinstance(plan, LengthPlan)
    words, others = ([w + 1 for w in many] for many in (words, others))
    assert plan.comparisons(np.array(words, np.int64)) == len(truth(prints(words)))
    assert plan.comparisons(np.array(words, np.int64), np.array(others, np.int64)) == len(
        truth(prints(words), prints(others))
    )


def test_the_number_of_comparisons_is_logged_before_they_start(caplog):
    with caplog.at_level(logging.INFO, "neardup"):
        nd.find_pairs(prints([10, 11, 12, 50]), candidates="length:0.2", max_distance=0)
    assert "; 3 comparisons" in caplog.text
