"""`dedup` with decisions does what its definition says, in every setting."""

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.deduplication import told_twin
from tests.deduplication.brute_force import compared, keep_order

import neardup as nd
from neardup.collection import budget
from neardup.decisions import Decision, DecisionFile, Named, content_of

WORDS = "abcdef"
RECIPES = [
    {"features": "word:1", "similarity": "jaccard"},
    {"features": "word:1", "weights": "count", "similarity": "weighted-jaccard"},
    {"features": "word:1", "weights": "count", "similarity": "cosine"},
]
texts_of_words = st.lists(
    st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=2, max_size=12
)


@st.composite
def decided(draw, count):
    """Decisions by places: what, which, who."""
    said = draw(
        st.lists(
            st.tuples(
                st.sampled_from(["same", "different", "keep", "skip"]),
                st.lists(
                    st.integers(0, count - 1),
                    min_size=1,
                    max_size=min(4, count),
                    unique=True,
                ),
                st.sampled_from(["ann", "ann", "bob"]),
            ),
            max_size=8,
        )
    )
    return [
        (says, tuple(places), by) for says, places, by in said if len(places) > 1 or says == "keep"
    ]


@st.composite
def cases(draw):
    texts = draw(texts_of_words)
    texts += [texts[place] for place in draw(st.lists(st.integers(0, len(texts) - 1), max_size=4))]
    others = draw(st.integers(0, len(texts) - 1)) if draw(st.booleans()) else 0
    return {
        "texts": texts,
        "n": len(texts) - others,
        "said": draw(decided(len(texts))),
        "recipe": draw(st.sampled_from(RECIPES)),
        "threshold": draw(st.sampled_from([0.3, 0.5, 0.75, 1.0])),
        "keep": draw(st.sampled_from(["first", "longest", "shortest"])),
        "threads": draw(st.integers(1, 4)),
        "within": draw(st.booleans()),
        "little": draw(st.booleans()),
    }


def file_of(folder, said, texts, n, names=None):
    """A file with the decisions, one a second."""
    file = DecisionFile(folder / "decisions.jsonl")
    for number, (says, places, by) in enumerate(said):
        documents = tuple(
            Named(
                (names or range(len(texts)))[place] if place < n else place - n,
                content_of(texts[place]),
                place >= n,
            )
            for place in places
        )
        at = f"2026-01-01T00:{number // 60:02}:{number % 60:02}.000Z"
        file.merge([Decision(says, documents, by, at, f"k{number}")])
    file.path.touch()
    return file


def ran(case, folder, **more):
    """The result of a run of the case."""
    texts, n = case["texts"], case["n"]
    rows = [{"id": place, "text": text} for place, text in enumerate(texts[:n])]
    others = [{"id": place, "text": text} for place, text in enumerate(texts[n:])]
    # With so little memory for work, the index is full after a few documents.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "LEAST_WORK", 1 << 8 if case["little"] else 1 << 20)
        return nd.dedup(
            rows,
            against=others or None,
            within=bool(others) and case["within"],
            decisions=file_of(folder, case["said"], texts, n),
            threshold=case["threshold"],
            keep=case["keep"],
            threads=case["threads"],
            memory="1KB" if case["little"] else "2GB",
            **case["recipe"],
            **more,
        )


def found_in(result):
    """For each removed document the kept one, and the similarity, by places."""
    clustering = result.clustering
    rows = np.flatnonzero(~clustering.kept)
    return {
        int(clustering.place[row]): (int(clustering.kept_for[row]), clustering.similarity[row])
        for row in rows
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A new folder whenever it is called."""
    return lambda: tmp_path_factory.mktemp("decisions")


@given(case=cases(), plan=st.sampled_from(["auto", "exact", "bands:16x4"]))
@settings(max_examples=100)
def test_stars_are_those_of_the_definition(case, plan, folder):
    texts, n, recipe = case["texts"], case["n"], dict(case["recipe"])
    within = n == len(texts) or case["within"]
    pairs = compared(texts, recipe.pop("similarity"), **recipe)
    near = pairs.reach(case["threshold"], case["recipe"]["similarity"])
    case["little"] &= not plan.startswith("bands")  # which need some memory
    result = ran(case, folder(), candidates=plan)
    order = keep_order(case["keep"], texts[:n], [])
    if plan.startswith("bands"):  # which may miss pairs: take those that it finds
        listed = ran({**case, "said": []}, folder(), candidates=plan, pairs="all")
        near = as_found(listed, near, texts, n)
    twin = told_twin.weighed(case["said"], n)
    removed, clashes = told_twin.stars(twin, order, pairs.similarity, near, n, within)
    found = found_in(result)
    assert {place: kept for place, (kept, _) in found.items()} == removed
    for place, (kept, similarity) in found.items():
        assert similarity == pytest.approx(pairs.similarity[place, kept], abs=1e-12)
    if within:
        assert set(result.obeyed.clashes) == clashes
    check_outputs(result, twin, case)


def as_found(result, near, texts, n):
    """Which documents are near by the pairs that a search lists, and by copies."""
    found = np.zeros_like(near)
    kinds = result.both.kinds
    every = list(result.all_pairs.batches())
    known = {(int(a), int(b)) for batch in every for a, b in zip(batch.a, batch.b, strict=True)}
    for a, b in combinations(range(len(texts)), 2):
        kind = tuple(sorted((int(kinds[a]), int(kinds[b]))))
        if -1 not in kind and (kind in known or kind[0] == kind[1]):
            found[a, b] = found[b, a] = True
    return found


def check_outputs(result, twin, case):
    """The tables agree with each other, and say who decided."""
    clusters, pairs = result.clusters, result.pairs
    least = case["threshold"]
    removed = result.removed
    assert removed.num_rows == len(found_in(result)) == len(result.evidence.a)
    for row in clusters.to_pylist():
        if row["kept"]:
            assert row["decided_by"] is None
        elif row["similarity"] < least and "via" not in row:
            assert row["decided_by"] is not None
    assert pairs.num_rows == len(result.evidence.a)
    if result.clustering.via is None:
        assert not result.unproven.any()
    json.dumps(result.summary)


@given(case=cases())
@settings(max_examples=100)
def test_components_are_those_of_the_definition(case, folder):
    texts, n, recipe = case["texts"], case["n"], dict(case["recipe"])
    case["within"] = True
    pairs = compared(texts, recipe.pop("similarity"), **recipe)
    near = pairs.reach(case["threshold"], case["recipe"]["similarity"])
    result = ran(case, folder(), cluster="components")
    order = keep_order(case["keep"], texts[:n], [])
    twin = told_twin.weighed(case["said"], n)
    kinds = [None if one < 0 else int(one) for one in result.both.kinds]
    removed, clashes = told_twin.components(twin, order, pairs.similarity, near, n, kinds)
    clustering = result.clustering
    found = {
        int(clustering.place[row]): (int(clustering.kept_for[row]), int(clustering.via[row]))
        for row in np.flatnonzero(~clustering.kept)
    }
    assert found == removed
    for place, (kept, similarity) in found_in(result).items():
        assert similarity == pytest.approx(pairs.similarity[place, kept], abs=1e-12)
    assert set(result.obeyed.clashes) == clashes
    check_outputs(result, twin, case)


@given(case=cases())
@settings(max_examples=100)
def test_fingerprints_obey_too(case, folder):
    texts, n = case["texts"], case["n"]
    within = n == len(texts) or case["within"]
    case["recipe"] = {"features": "word:1", "similarity": "hamming"}
    case["threshold"], case["little"] = 12, False
    pairs = compared(texts, "hamming", features="word:1")
    near = pairs.reach(12, "hamming")
    result = ran(case, folder())
    order = keep_order(case["keep"], texts[:n], [])
    twin = told_twin.weighed(case["said"], n)
    removed, _ = told_twin.stars(twin, order, pairs.similarity, near, n, within)
    assert {place: kept for place, (kept, _) in found_in(result).items()} == removed


@given(case=cases(), cluster=st.sampled_from(["star", "components"]))
@settings(max_examples=60)
def test_a_saved_run_can_be_loaded_and_rethresholded(case, cluster, folder):
    """As if it had been run with the other threshold, from memory and from its folder."""
    out = folder()
    case["within"], case["little"] = True, False
    case["threshold"] = 0.5
    options = {"cluster": cluster, "pairs": "all"}
    first = ran(case, folder(), **options)
    first.save(out / "run")
    loaded = nd.Result.load(out / "run")
    same_outcome(loaded, first)
    again = ran({**case, "threshold": 0.75}, folder(), **options)
    same_outcome(first.rethreshold(0.75), again)
    same_outcome(loaded.rethreshold(0.75), again)


def same_outcome(one, other):
    for name in ("clusters", "removed", "pairs"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.schema.names == b.schema.names
        for column in a.schema.names:
            values, wanted = a[column].to_pylist(), b[column].to_pylist()
            if column == "similarity":
                assert values == pytest.approx(wanted)
            else:
                assert values == wanted, (name, column)
    assert one.obeyed.summary["conflicts"] == other.obeyed.summary["conflicts"]
