"""`dedup` with decisions does what its definition says, in every setting."""

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from tests.deduplication import told_twin
from tests.deduplication.brute_force import compared, copies_together, keep_order

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


def file_of(folder, said, texts, n):
    """A file with the decisions, one a second."""
    file = DecisionFile(folder / "decisions.jsonl")
    for number, (says, places, by) in enumerate(said):
        documents = tuple(
            Named(
                place if place < n else 1000 + place - n,
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
    others = [{"id": place, "text": text} for place, text in enumerate(texts[n:], 1000)]
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


@given(case=cases(), measure=st.sampled_from(["containment", "inclusion"]), counts=st.booleans())
@settings(max_examples=100)
def test_stars_by_containment_are_those_of_the_definition(case, measure, counts, folder):
    case["recipe"] = {"features": "word:1", "weights": "count" if counts else "set"}
    texts, n = case["texts"], case["n"]
    within = n == len(texts) or case["within"]
    pairs = compared(texts, measure, **case["recipe"])
    near = pairs.reach(case["threshold"], measure)
    case["recipe"]["similarity"] = measure
    result = ran(case, folder())
    order = keep_order(case["keep"], texts[:n], [])
    if measure == "inclusion":
        order = copies_together(order, result.both.kinds.tolist())
    twin = told_twin.weighed(case["said"], n)
    removed, clashes = told_twin.stars(twin, order, pairs.similarity, near, n, within)
    assert {place: kept for place, (kept, _) in found_in(result).items()} == removed
    for place, (kept, similarity) in found_in(result).items():
        assert similarity == pytest.approx(pairs.similarity[place, kept], abs=1e-12)
    if within and measure == "containment":
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


@given(case=cases(), share=st.sampled_from([None, None, 0.01, 0.25, 0.4, 0.5, 1.0]))
@settings(max_examples=200)
def test_components_and_dense_clusters_are_those_of_the_definition(case, share, folder):
    texts, n, recipe = case["texts"], case["n"], dict(case["recipe"])
    case["within"] = True
    pairs = compared(texts, recipe.pop("similarity"), **recipe)
    near = pairs.reach(case["threshold"], case["recipe"]["similarity"])
    cluster = "components" if share is None else f"dense:{share}"
    result = ran(case, folder(), cluster=cluster)
    order = keep_order(case["keep"], texts[:n], [])
    twin = told_twin.weighed(case["said"], n)
    kinds = [None if one < 0 else int(one) for one in result.both.kinds]
    removed, clashes = told_twin.components(twin, order, pairs.similarity, near, n, kinds, share)
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


@given(
    case=cases(),
    cluster=st.sampled_from(["star", "components", "dense", "dense:0.5"]),
    keep=st.sampled_from(["first", "longest", "none", "each:2"]),
)
@settings(max_examples=60)
def test_a_saved_run_can_be_loaded_and_rethresholded(case, cluster, keep, folder):
    """As if it had been run with the other threshold, from memory and from its folder."""
    out = folder()
    case |= {"within": True, "little": False, "threshold": 0.5, "keep": keep}
    options = {"cluster": cluster, "pairs": "all"}
    first = ran(case, folder(), **options)
    first.save(out / "run")
    loaded = nd.Result.load(out / "run")
    same_outcome(loaded, first)
    # A folder does not say which documents of the other collection are copies of each other.
    others = [" ".join(sorted(text.split())) for text in case["texts"][case["n"] :]]
    assume(len(set(others)) == len(others))
    pairs = case["n"] == len(case["texts"])
    again = ran({**case, "threshold": 0.75}, folder(), **options)
    same_outcome(first.rethreshold(0.75), again, pairs)
    same_outcome(loaded.rethreshold(0.75), again, pairs)
    floored = ran({**case, "threshold": 0.75}, folder(), **options, floor=0.3)
    floored.save(out / "floored")
    same_outcome(floored.rethreshold(0.5), first, pairs=False)
    same_outcome(nd.Result.load(out / "floored").rethreshold(0.5), first, pairs=False)


def same_outcome(one, other, pairs=True):
    for name in ("clusters", "removed", *(["pairs"] if pairs else [])):
        a, b = getattr(one, name), getattr(other, name)
        assert a.schema.names == b.schema.names
        for column in a.schema.names:
            values, wanted = a[column].to_pylist(), b[column].to_pylist()
            if column == "similarity":
                assert values == pytest.approx(wanted)
            else:
                assert values == wanted, (name, column)
    assert one.obeyed.summary["conflicts"] == other.obeyed.summary["conflicts"]


ROWS = [
    {"id": "a", "text": "one two three four five six seven"},
    {"id": "b", "text": "one two three four five six eight"},
    {"id": "c", "text": "something else that is long enough to count"},
    {"id": "d", "text": "and a last one that nobody repeats"},
]


def named(row, **more):
    return Named(row["id"], content_of(row["text"]), **more)


@pytest.fixture
def file(tmp_path):
    return DecisionFile(tmp_path / "decisions.jsonl")


def dedup(rows, file, **more):
    return nd.dedup(rows, decisions=file, **{"features": "word:1", "threshold": 0.7, **more})


def test_a_document_that_moved_is_found_by_its_content(file):
    file.add("different", map(named, ROWS[:2]), by="ann")
    rows = [{**row, "id": f"new {row['id']}"} for row in ROWS]
    result = dedup(rows, file)
    assert result.summary["removed"] == 0
    assert result.summary["decisions"]["obeyed"] == 1
    assert dedup(rows, None).summary["removed"] == 1


def test_row_numbers_that_shift_do_not_matter(file):
    texts = [row["text"] for row in ROWS]
    file.add("different", [Named(n, content_of(texts[n])) for n in range(2)], by="ann")
    assert dedup(["another one", *texts], file).summary["removed"] == 0


def test_two_moved_copies_stay_two_documents(file):
    twins = [{"id": name, "text": ROWS[0]["text"]} for name in "xy"]
    file.add("different", map(named, twins), by="ann")
    rows = [{"id": name, "text": ROWS[0]["text"]} for name in "pqr"]
    assert dedup(rows, file).kept["id"].to_pylist() == ["p", "q"]


def test_a_document_that_changed_is_not_decided_on(file):
    file.add("same", [named(ROWS[0]), named(ROWS[2])], by="ann")
    file.add("keep", [named(ROWS[1]), named(ROWS[3])], by="bob")
    rows = [*ROWS[:2], {**ROWS[2], "text": "now it says another thing"}, ROWS[3]]
    summary = dedup(rows, file).summary["decisions"]
    assert summary["obeyed"] == 1
    assert summary["stale_count"] == 1
    assert summary["stale"] == ["ann says same: c is no longer there with this content; not obeyed"]


def test_the_rest_of_a_list_is_obeyed(file):
    gone = Named("gone", content_of("gone"))
    file.add("same", [named(ROWS[2]), gone, named(ROWS[3])], by="ann")
    result = dedup(ROWS, file)
    assert {"id": "d", "duplicate_of": "c"}.items() <= result.removed.to_pylist()[-1].items()
    assert "obeyed for the other documents" in result.summary["decisions"]["stale"][0]


def test_a_number_is_not_a_text(file):
    file.add("keep", [Named(5, content_of("other text"))], by="ann")
    assert dedup([{"id": "5", "text": "text"}], file).summary["decisions"]["stale_count"] == 1


@pytest.mark.parametrize(
    ("said", "sentence", "removed"),
    [
        (
            [("same", "ab", "ann"), ("different", "ab", "bob")],
            "reviewers disagree, neither is obeyed (ann says same, bob says different)",
            ["b"],
        ),
        (
            [("different", "ac", "ann"), ("same", "ab", "ann"), ("same", "bc", "bob")],
            "b and c: bob says same, but a and c, which would be the same then, differ",
            ["b"],
        ),
        ([("keep", "a", "ann"), ("keep", "b", "bob")], "both are to be kept; both are kept", []),
        (
            [("keep", "c", "ann"), ("keep", "d", "ann"), ("same", "cd", "ann")],
            "c and d are the same, and both are to be kept",
            ["b"],
        ),
    ],
)
@pytest.mark.parametrize("cluster", ["star", "components", "dense"])
def test_conflicts_are_reported(file, said, sentence, removed, cluster):
    rows = {row["id"]: named(row) for row in ROWS}
    for says, ids, by in said:
        file.add(says, [rows[id] for id in ids], by=by)
    result = dedup(ROWS, file, cluster=cluster)
    summary = result.summary
    assert result.removed["id"].to_pylist() == removed
    assert sentence in summary["decisions"]["conflicts"][0]
    assert summary["decisions"]["conflict_count"] == 1
    assert any(sentence in warning for warning in summary["warnings"])


@pytest.mark.parametrize("keep", ["none", "each:2", "longest"])
@pytest.mark.parametrize("cluster", ["star", "components", "dense"])
def test_a_pinned_document_is_kept_by_every_policy(file, keep, cluster):
    rows = [{"id": number, "text": ROWS[0]["text"]} for number in range(5)]
    file.add("keep", [named(rows[3])], by="ann")
    result = dedup(rows, file, keep=keep, cluster=cluster)
    kept = result.kept["id"].to_pylist()
    assert kept == ([0, 3] if keep == "each:2" else [3])


@pytest.mark.parametrize("cluster", ["star", "components", "dense"])
def test_a_copy_in_the_other_collection_is_another_document(file, cluster):
    """A document that differs from one copy may be removed for the other, in all clusters alike."""
    others = [{"id": name, "text": ROWS[1]["text"]} for name in "xy"]
    file.add("different", [named(ROWS[0]), named(others[0], other=True)], by="ann")
    result = dedup(ROWS[:1], file, against=others, within=True, cluster=cluster)
    assert result.removed["duplicate_of"].to_pylist() == ["y"]


def test_same_says_who_decided_and_how_similar_they_are(file, tmp_path):
    file.add("same", [named(ROWS[2]), named(ROWS[3])], by="ann")
    result = dedup(ROWS, file)
    rows = {row["id"]: row for row in result.removed.to_pylist()}
    assert rows["b"]["decided_by"] is None
    assert rows["d"]["decided_by"] == "ann"
    true = dedup(ROWS, None, threshold=0.01, pairs="all").pairs.to_pylist()
    wanted = [pair["similarity"] for pair in true if (pair["a"], pair["b"]) == ("c", "d")]
    assert [rows["d"]["similarity"]] == wanted
    assert result.summary["unproven"] == 0
    assert ("c", "d") in {(pair["a"], pair["b"]) for pair in result.pairs.to_pylist()}
    listed = dedup(ROWS, file, pairs="all")
    assert ("c", "d") in {(pair["a"], pair["b"]) for pair in listed.pairs.to_pylist()}
    assert "decided_by" not in dedup(ROWS, None).clusters.column_names


def test_the_loop_of_a_reviewer(tmp_path):
    """Run, decide in the folder of the run, run again into the same folder."""
    first = dedup(ROWS, None)
    first.save(tmp_path / "out")
    file = DecisionFile(tmp_path / "out" / "decisions.jsonl")
    file.add("different", map(named, ROWS[:2]), by="ann")
    dedup(ROWS, tmp_path / "out").save(tmp_path / "out", overwrite=True)
    assert nd.Result.load(tmp_path / "out").kept.num_rows == 4
    assert len(file.history()) == 1


def test_an_index_and_a_missing_file_are_refused(file, tmp_path):
    with pytest.raises(nd.InputError, match="no file of decisions"):
        dedup(ROWS, tmp_path / "none.jsonl")
    file.path.write_text("{broken\n{}\n")
    with pytest.raises(nd.InputError, match="line 1"):
        dedup(ROWS, file)
    file.path.write_text("")
    with nd.Index(tmp_path / "index", features="word:1", threshold=0.7) as index:
        index.add("x", "text")
    with pytest.raises(nd.SettingError, match="decisions cannot be obeyed against an index"):
        dedup(ROWS, file, against=str(tmp_path / "index"))


def test_records_are_hashed_field_by_field(file):
    rows = [
        {"id": 1, "name": "Ann Lee", "city": "Oslo"},
        {"id": 2, "name": "Ann Lee", "city": "Oslo"},
    ]
    texts = [f"name: {row['name']}\ncity: {row['city']}" for row in rows]
    file.add("different", [Named(n + 1, content_of(texts[n])) for n in range(2)], by="ann")
    result = nd.dedup(rows, text="name+city", decisions=file, threshold=0.7)
    assert result.summary["decisions"]["obeyed"] == 1
    assert result.summary["removed"] == 0


def test_large_lists_do_not_take_long(file):
    rows = [{"id": number, "text": f"text {number % 50} of many"} for number in range(3000)]
    file.add("same", map(named, rows), by="ann")
    result = dedup(rows, file, threads=2)
    assert result.kept["id"].to_pylist() == [0]
    assert dedup(rows, file, cluster="components").kept["id"].to_pylist() == [0]
