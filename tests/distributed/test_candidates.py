"""No similar pair is lost on the way to the task that compares it."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from tests.distributed.both_engines import run_distributed

from neardup.distributed.candidates import compared_sizes, first_of
from neardup.distributed.run import Sizes
from neardup.features.weighted import WeightedFeatures
from neardup.kernels.reference.shared_features import frequency_of

THRESHOLDS = [0.1, 0.3, 0.5, 2 / 3, 0.75, 0.8, 0.9, 1.0]
MEASURES = ["jaccard", "weighted-jaccard", "cosine"]
Document = dict[int, float]


def similarity(measure: str, a: Document, b: Document) -> float:
    """The similarity by its definition."""
    shared = a.keys() & b.keys()
    if measure == "jaccard":
        return len(shared) / len(a.keys() | b.keys())
    if measure == "cosine":
        lengths = [math.sqrt(math.fsum(w * w for w in one.values())) for one in (a, b)]
        return math.fsum(a[key] * b[key] for key in shared) / (lengths[0] * lengths[1])
    least = math.fsum(min(a[key], b[key]) for key in shared)
    return least / (math.fsum(a.values()) + math.fsum(b.values()) - least)


# Few features, so that documents are often similar; some are in many documents, some in one.
features = st.integers(0, 25).map(lambda number: number * number // 25)
weights = st.sampled_from([1.0, 1.0, 2.0, 0.5, 3.25, 1e-3, 100.0])
documents = st.lists(
    st.dictionaries(features, weights, min_size=1, max_size=12), min_size=2, max_size=12
)


def weighted(some: list[Document], measure: str) -> WeightedFeatures:
    hashes = [sorted(key * 0x9E3779B97F4A7C15 % 2**64 for key in one) for one in some]
    by_hash = [{key * 0x9E3779B97F4A7C15 % 2**64: w for key, w in one.items()} for one in some]
    values = [by_hash[n][key] for n, keys in enumerate(hashes) for key in keys]
    return WeightedFeatures(
        np.cumsum([0, *map(len, some)]),
        np.array([key for keys in hashes for key in keys], np.uint64),
        None if measure == "jaccard" else np.array(values),
        np.ones(len(some), np.uint32),
    )


@given(documents, st.sampled_from(MEASURES), st.sampled_from(THRESHOLDS))
def test_similar_documents_share_a_first_feature(some, measure, threshold):
    made = weighted(some, measure)
    count = Counter(made.hashes.tolist())
    frequency = np.array([frequency_of(count[key]) for key in made.hashes.tolist()], np.uint8)
    positions, owners = first_of(made, frequency, measure, threshold)
    assert len(positions) == len(owners)
    owner = np.repeat(np.arange(len(some)), np.diff(made.offsets))
    assert (owner[positions] == owners).all()
    assert (frequency[positions] > 1).all()
    first = [set(made.hashes[positions[owners == n]]) for n in range(len(some))]
    size = compared_sizes(made, measure)
    for a, b in combinations(range(len(some)), 2):
        if similarity(measure, some[a], some[b]) >= threshold:
            assert first[a] & first[b], (a, b)
            # And their sizes are not too different to be linked.
            sizes = sorted((size[a], size[b]))
            assert sizes[0] >= threshold * sizes[1] * (1 - 1e-9)


@given(documents, st.sampled_from(MEASURES))
def test_documents_of_rare_features_alone_are_left_out(some, measure):
    made = weighted(some, measure)
    positions, _ = first_of(made, np.ones(len(made.hashes), np.uint8), measure, 0.5)
    assert not len(positions)


@settings(max_examples=60)
@given(
    documents,
    st.sampled_from(MEASURES),
    st.sampled_from(THRESHOLDS),
    st.integers(1, 6),
    st.integers(1, 60),
)
def test_all_pairs_of_a_run_are_those_of_brute_force(
    tmp_path_factory, some, measure, threshold, parts, bin_features
):
    folder = tmp_path_factory.mktemp("run")
    (folder / "in").mkdir()
    rows = [
        {
            "id": number,
            "terms": [f"t{key}" for key in one],
            "weights": [1.0 if measure == "jaccard" else w for w in one.values()],
        }
        for number, one in enumerate(some)
    ]
    for part in range(parts):  # files of terms are not divided, so there are several
        lines = [json.dumps(row) for row in rows[part::parts]]
        (folder / "in" / f"{part}.jsonl").write_text("\n".join(lines))
    inputs = [path for path in sorted((folder / "in").iterdir()) if path.stat().st_size]
    weighted_by = "set" if measure == "jaccard" else "given"
    found = run_distributed(
        inputs,
        folder / "out",
        features="terms",
        weights=weighted_by,
        similarity=measure,
        threshold=threshold,
        pairs="all",
        sizes=Sizes(split_bytes=1, bin_features=bin_features),
    )
    assert found.summary["engine"]["splits"] == len(inputs)
    pairs = pq.read_table(folder / "out" / "pairs.parquet").to_pylist()
    listed = {(min(p["a"], p["b"]), max(p["a"], p["b"])): p["similarity"] for p in pairs}
    assert len(listed) == len(pairs)
    firsts: dict[tuple[tuple[int, float], ...], int] = {}
    order = [row["id"] for part in range(parts) for row in rows[part::parts]]
    for number in order:  # of exact copies only the pair with the first is listed
        content = dict(some[number])
        if measure == "jaccard":
            content = dict.fromkeys(content, 1.0)
        firsts.setdefault(tuple(sorted(content.items())), number)
    for a, b in combinations(sorted(firsts.values()), 2):
        true = similarity(measure, some[a], some[b])
        if abs(true - threshold) > 1e-9:
            assert ((a, b) in listed) == (true > threshold), (a, b, true)
        if (a, b) in listed:
            assert listed[a, b] == pytest.approx(true, abs=1e-9)


@pytest.mark.parametrize("measure", ["jaccard", "weighted-jaccard"])
@pytest.mark.parametrize(("shorter", "longer"), [(4, 5), (1, 2), (9, 10), (1, 10), (3, 3)])
def test_documents_of_sizes_just_alike_enough_are_a_pair(tmp_path, measure, shorter, longer):
    """One is the beginning of the other, and as much shorter as the threshold allows."""
    weight = 1.0 if measure == "jaccard" else 0.5
    for number, size in enumerate((longer, shorter)):
        terms = [f"t{key}" for key in range(size)]
        row = {"id": number, "terms": terms, "weights": [weight] * size}
        (tmp_path / f"{number}.jsonl").write_text(json.dumps(row))
    found = run_distributed(
        [tmp_path / "0.jsonl", tmp_path / "1.jsonl"],
        tmp_path / "out",
        features="terms",
        weights="set" if measure == "jaccard" else "given",
        similarity=measure,
        threshold=shorter / longer,
        sizes=Sizes(split_bytes=1, bin_features=1),
    )
    assert found.summary["removed"] == 1
