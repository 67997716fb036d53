"""What `find_pairs` takes, gives and refuses; one result by any number of threads or passes."""

import logging
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.pairs.by_fingerprints.truth import near_pairs, triples

import neardup as nd
from neardup.pairs.by_fingerprints import passes

WAYS = ["auto", "all", "blocks:3", "blocks:3/5", "bands:4x8", "rotate:8:2", "probe:1", "prefix:6"]


def clustered(seed, count, words=1):
    """Near ones and equal ones, of 64 bits a word."""
    rng = np.random.default_rng(seed)
    centres = rng.integers(0, 2**64, (max(1, count // 6), words), np.uint64)
    rows = centres[rng.integers(0, len(centres), count)]
    flips = np.uint64(1) << rng.integers(0, 64, (2, count, words), np.uint64)
    return (
        rows
        ^ flips[0] * (rng.random((count, words)) < 0.6)
        ^ (flips[1] * (rng.random((count, words)) < 0.3))
    )


def limit_of(way):
    return 1 if way.startswith("probe") else 3


@pytest.fixture
def small_portions(monkeypatch):
    monkeypatch.setattr(passes, "PAIRS_AT_ONCE", 7)
    monkeypatch.setattr(passes, "_FIRST_ROWS", 5)
    monkeypatch.setattr(passes, "_FEWEST_ROWS", 4)


@pytest.mark.parametrize("words", [1, 3])
@pytest.mark.parametrize("way", WAYS)
def test_streams_threads_and_passes_give_the_table(way, words, small_portions):
    left, right = clustered(1, 90, words), clustered(1, 40, words)
    right = np.concatenate([right, left[:10]])
    for other in (None, right):
        for limit in (limit_of(way), None):
            if limit is None and way == "auto":
                continue
            table = nd.find_pairs(left, other, limit, way, threads=1)
            assert table.num_rows > 0
            batches = list(nd.find_pairs(left, other, limit, way, stream=True))
            assert len(batches) > 1
            assert [row for batch in batches for row in triples(batch)] == triples(table)
            assert nd.find_pairs(left, other, limit, way, threads=3).equals(table)
            for memory in ("1MB", 60_000 * words, 9_000 * words):
                if way.startswith("rotate") and memory != "1MB":
                    continue
                by_passes = nd.find_pairs(left, other, limit, way, memory=memory)
                assert by_passes.combine_chunks().equals(table)


@given(st.integers(0, 1000), st.integers(0, 40), st.sampled_from(WAYS))
@settings(max_examples=60)
def test_groups_expand_to_the_table(seed, count, way):
    rows = clustered(seed, count)
    found = nd.find_pairs(rows, None, limit_of(way), way, group=True)
    members = {place: [place] for place in range(count)}
    for member, representative in zip(*found.groups.to_pydict().values(), strict=True):
        assert representative < member
        assert np.array_equal(rows[member], rows[representative])
        members[representative].append(member)
        del members[member]
    assert len(np.unique(rows, axis=0)) == len(members)
    pairs = triples(found.pairs)
    assert pairs == sorted(pairs)
    expanded = [
        (min(x, y), max(x, y), d) for a, b, d in pairs for x in members[a] for y in members[b]
    ]
    expanded += [(x, y, 0) for same in members.values() for x in same for y in same if x < y]
    assert sorted(expanded) == triples(nd.find_pairs(rows, None, limit_of(way), way))


def test_groups_of_two_collections():
    left, right = np.array([5, 5, 9], np.uint64), np.array([4, 9, 4, 9], np.uint64)
    found = nd.find_pairs(left, right, max_distance=1, group=True)
    assert triples(found.pairs) == [(0, 0, 1), (2, 1, 0)]
    assert found.groups.to_pydict() == {"member": [1], "representative": [0]}
    assert found.right_groups.to_pydict() == {"member": [2, 3], "representative": [0, 1]}


def test_many_identical_ones_cost_a_row_each():
    found = nd.find_pairs(np.full(20_000, 7, np.uint64), max_distance=3, group=True)
    assert found.pairs.num_rows == 0
    assert found.groups.num_rows == 19_999


def test_identical_ones_stream_in_portions(monkeypatch):
    monkeypatch.setattr(passes, "PAIRS_AT_ONCE", 5_000)
    batches = nd.find_pairs(np.full(1000, 7, np.uint64), max_distance=3, stream=True)
    sizes = [batch.num_rows for batch in batches]
    assert sum(sizes) == 499_500
    assert max(sizes) <= 5_000


def test_empty_documents_are_near_nothing():
    prints = nd.fingerprint(["...", "to be or not", "!", "to be or not", ""])
    assert triples(nd.find_pairs(prints, max_distance=64)) == [(1, 3, 0)]
    assert triples(nd.find_pairs(prints, prints[1:3], 64)) == [(1, 0, 0), (3, 0, 0)]
    grouped = nd.find_pairs(prints, max_distance=64, group=True)
    assert grouped.groups.to_pydict() == {"member": [3], "representative": [1]}
    streamed = list(nd.find_pairs(prints, max_distance=64, stream=True))
    assert [triples(batch) for batch in streamed] == [[(1, 3, 0)]]


def test_rows_of_any_layout_and_integer():
    values = [3, 1, 2, 3]
    truth = near_pairs(values, limit=1)
    for array in (
        np.array(values, np.uint64),
        np.array(values, np.uint64).reshape(-1, 1),
        np.array([[v, 9] for v in values], np.uint64)[:, :1],
        np.array(values, np.uint16),
        np.array(values),
        values,
    ):
        assert triples(nd.find_pairs(array, max_distance=1)) == truth


def test_a_distance_of_all_bits_gives_every_pair():
    table = nd.find_pairs(clustered(3, 30), max_distance=64)
    assert table.num_rows == 30 * 29 // 2


def test_the_choice_is_logged(caplog):
    with caplog.at_level(logging.INFO, "neardup"):
        nd.find_pairs(clustered(3, 30), max_distance=64)
    assert "all: any two fingerprints of 64 bits differ in at most 64 bits" in caplog.text


SOME = np.arange(4, dtype=np.uint64)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "'auto' needs max_distance"),
        ({"max_distance": -1}, "max_distance=-1 must be a whole number"),
        ({"max_distance": 1.5}, r"max_distance=1\.5 must be a whole number"),
        ({"max_distance": True}, "max_distance=True must be"),
        ({"max_distance": 1, "threads": 0}, "threads=0"),
        ({"max_distance": 1, "memory": "much"}, "memory='much' is no amount"),
        ({"max_distance": 1, "memory": 0}, "memory=0 must be more than nothing"),
        ({"max_distance": 1, "memory": 10}, "too little to work in; give at least"),
        ({"candidates": "rotate:4", "memory": 10}, "works on the whole collection"),
        ({"max_distance": 1, "candidates": "length:0.2"}, "needs the documents' word counts"),
        ({"max_distance": 4, "candidates": "blocks:3"}, "up to distance 3, but max_distance=4"),
        ({"max_distance": 4, "candidates": "probe:2"}, "up to distance 2, but max_distance=4"),
        ({"max_distance": 1, "group": True, "stream": True}, "cannot be combined"),
        ({"right": np.zeros((2, 2), np.uint64), "max_distance": 1}, "64 bits and right of 128"),
        ({"right": nd.fingerprint(["a b c"]), "max_distance": 1}, "both be Fingerprints or both"),
        ({"left": np.zeros((2, 2, 2), np.uint64), "max_distance": 1}, r"left has shape \(2, 2, 2"),
        ({"left": np.zeros(3), "max_distance": 1}, "unsigned integers, not float64"),
    ],
)
def test_what_cannot_work_is_refused_in_a_sentence(arguments, message):
    with pytest.raises(nd.SettingError, match=message):
        nd.find_pairs(**{"left": SOME, **arguments})


def test_too_little_memory_is_refused_before_the_first_batch():
    with pytest.raises(nd.SettingError, match="too little to work in"):
        nd.find_pairs(SOME, max_distance=1, stream=True, memory=10)


def test_a_distance_may_be_a_numpy_integer():
    distance: Any = np.int64(1)
    assert nd.find_pairs(SOME, max_distance=distance).num_rows == 4


def test_schemes_are_not_mixed():
    with pytest.raises(nd.SchemeMismatchError, match=r"word:3.*word:2"):
        nd.find_pairs(nd.fingerprint(["a"]), nd.fingerprint(["a"], "word:2"), 3)
