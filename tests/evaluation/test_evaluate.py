"""`nd.evaluate` against brute force, for every kind of run and every kind of labels."""

import json
import math
import random
from functools import cache
from itertools import combinations

import networkx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.evaluation.planted import (
    SETTINGS,
    collection,
    counts,
    found_pairs,
    labels_of,
    result_of,
    true_pairs,
)

import neardup as nd
from neardup.evaluation.found import FoundByRun


@pytest.fixture(scope="module", params=[1, 2])
def rows(request):
    return collection(request.param)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_column_tells_about_every_pair(rows, name):
    result = result_of(rows, name)
    found = nd.evaluate(result, column="kind")
    assert found.pairs.counts == counts(found_pairs(result), true_pairs(rows))
    assert not found.pairs.at_least
    assert "so every pair of these is known" in found.about


@pytest.mark.parametrize("name", SETTINGS)
def test_a_folder_gives_what_its_result_gives(rows, name, tmp_path):
    result = result_of(rows, name)
    result.save(tmp_path / "out")
    stored = nd.Result.load(tmp_path / "out")
    kept = [stored, tmp_path / "out"]
    loaded = [nd.evaluate(one, column="kind").to_dict() for one in kept]
    assert loaded[0] == loaded[1]
    if result.all_pairs is not None and result.settings.pairs == "all":
        assert nd.evaluate(result, column="kind").to_dict() == loaded[0]


@pytest.mark.parametrize("name", SETTINGS)
def test_complete_pairs_are_as_a_column(rows, name):
    result = result_of(rows, name)
    true = true_pairs(rows)
    by_pairs = nd.evaluate(result, labels_of(true), complete=True)
    by_column = nd.evaluate(result, column="kind")
    assert by_pairs.pairs.counts == by_column.pairs.counts
    assert by_pairs.clusters == by_column.clusters
    assert by_pairs.closed is None
    known = [one.counts if one else None for one in (by_pairs.listed, by_column.listed)]
    assert known[0] == known[1]
    assert by_pairs.curve.clusters == by_column.curve.clusters
    assert by_pairs.missed == by_column.missed


@pytest.mark.parametrize("name", SETTINGS)
def test_only_labelled_pairs_count(rows, name):
    result = result_of(rows, name)
    every = [frozenset(pair) for pair in combinations([row["id"] for row in rows], 2)]
    labelled = set(random.Random(7).sample(every, 400)) | true_pairs(rows)
    true = true_pairs(rows) & labelled
    found = nd.evaluate(result, labels_of(labelled, same=true))
    assert found.pairs.counts == counts(found_pairs(result) & labelled, true)
    assert "Only labelled pairs count" in found.about
    assert found.worst_false or not found_pairs(result) & labelled - true


@pytest.mark.parametrize("name", ["star", "all pairs", "hamming", "components"])
def test_without_different_pairs_precision_is_a_lower_bound(rows, name):
    result = result_of(rows, name)
    some = set(sorted(true_pairs(rows), key=sorted)[::2])
    found = nd.evaluate(result, labels_of(some))
    assert found.pairs.counts == counts(found_pairs(result), some)
    assert found.pairs.at_least
    known = {id for pair in some for id in pair}
    inside = sum(pair <= known for pair in found_pairs(result))
    assert f"Of {inside:,} found pair" in " ".join(found.notes)
    assert found.curve.best is None
    assert found.worst_false == ()
    assert "lower bound" in found.about
    assert "at least" in repr(found)


@cache
def compared(a, b):
    """The distance and the similarity of two texts, which many thresholds are compared with."""
    shared = nd.compare(a, b, features="word:1")
    return shared.distance, shared.jaccard


def similar_pairs(rows, result, least):
    """Pairs whose similarity reaches the threshold, by comparing every two."""
    found = set()
    for a, b in combinations(rows, 2):
        distance, jaccard = compared(a["text"], b["text"])
        if result.settings.similarity == "hamming":
            reached = distance is not None and distance <= least
        else:
            reached = jaccard is not None and jaccard >= least
        if reached:
            found.add(frozenset((a["id"], b["id"])))
    return found


@pytest.mark.parametrize("name", ["all pairs", "floor", "all components", "hamming"])
def test_listed_pairs_are_those_that_reach_the_threshold(rows, name):
    result = result_of(rows, name)
    similar = similar_pairs(rows, result, result.settings.threshold)
    found = nd.evaluate(result, column="kind")
    assert found.listed.counts == counts(similar, true_pairs(rows))
    labelled = true_pairs(rows) | {frozenset(("d0", row["id"])) for row in rows[1:]}
    partly = nd.evaluate(result, labels_of(labelled, same=true_pairs(rows)))
    assert partly.listed.counts == counts(similar & labelled, true_pairs(rows))


def test_the_curve_of_listed_pairs_is_that_of_brute_force(rows):
    result = result_of(rows, "floor")
    found = nd.evaluate(result, column="kind")
    assert found.curve.pairs[0].threshold == 0.3
    for point in found.curve.pairs[::10]:
        similar = similar_pairs(rows, result, point.threshold)
        assert point.counts == counts(similar, true_pairs(rows))


@pytest.mark.parametrize("name", ["floor", "all components", "hamming", "keep none", "dense"])
def test_the_curve_of_clusters_is_that_of_other_thresholds(rows, name):
    result = result_of(rows, name)
    curve = nd.evaluate(result, column="kind").curve
    assert len(curve.clusters) > 5
    for point in curve.clusters[::7]:
        again = result.rethreshold(point.threshold)
        assert point.counts == counts(found_pairs(again), true_pairs(rows))
    best = max(point.rates.f1 for point in curve.clusters if not math.isnan(point.rates.f1))
    assert curve.best.rates.f1 == best


@pytest.mark.parametrize("name", ["star", "components", "hamming evidence", "no pairs"])
def test_the_curve_of_removals_begins_with_the_run(rows, name, tmp_path):
    result_of(rows, name).save(tmp_path / "out")
    result = nd.Result.load(tmp_path / "out")
    found = nd.evaluate(result, column="kind")
    at = {point.threshold: point for point in found.curve.clusters}
    assert at[result.settings.threshold].counts == found.pairs.counts
    assert "removals of this run" in " ".join(found.curve.notes)


def test_the_curve_of_labelled_pairs_goes_down_to_any_similarity(rows):
    result = result_of(rows, "star")
    true = true_pairs(rows)
    labelled = true | {frozenset(("d0", row["id"])) for row in rows[1:]}
    curve = nd.evaluate(result, labels_of(labelled, same=true)).curve
    assert curve.points is curve.pairs
    assert curve.pairs[0].threshold == 0.01
    for point in curve.pairs[::9]:
        similar = similar_pairs(rows, result, point.threshold) & labelled
        assert point.counts == counts(similar, true)


def test_pairs_that_are_not_closed_have_two_readings(rows):
    result = result_of(rows, "components")
    graph = networkx.Graph(tuple(sorted(pair)) for pair in true_pairs(rows))
    tree = {frozenset(pair) for pair in networkx.minimum_spanning_tree(graph).edges}
    assert tree < true_pairs(rows)
    found = nd.evaluate(result, labels_of(tree), complete=True)
    assert found.pairs.counts == counts(found_pairs(result), tree)
    assert found.closed.counts == counts(found_pairs(result), true_pairs(rows))
    added = len(true_pairs(rows)) - len(tree)
    assert f"imply {added:,} more" in " ".join(found.notes)
    partly = nd.evaluate(result, labels_of(tree | {frozenset(("d0", "d1"))}, same=tree))
    assert partly.closed.counts.true == len(true_pairs(rows))


def test_labels_that_contradict_each_other_are_named():
    rows = [{"id": id, "text": f"one two three {id}"} for id in "abc"]
    labels = pa.table({"a": ["a", "b", "a"], "b": ["b", "c", "c"], "same": [True, True, False]})
    found = nd.evaluate(nd.dedup(rows), labels)
    assert "1 pair labelled different are connected" in " ".join(found.notes)
    assert "'a' and 'c'" in " ".join(found.notes)


def test_mistakes_are_real_mistakes_and_in_order(rows):
    result = result_of(rows, "floor")
    found = nd.evaluate(result, column="kind")
    texts = {row["id"]: row["text"] for row in rows}
    assert found.worst_false
    assert found.worst_missed
    for one in (*found.worst_false, *found.worst_missed):
        assert (one.a_text, one.b_text) == (texts[one.a], texts[one.b])
        known = nd.compare(one.a_text, one.b_text, features="word:1").jaccard
        assert one.similarity == (None if known is None else pytest.approx(known))
    for mistakes, wrong in (
        (found.worst_false, found_pairs(result) - true_pairs(rows)),
        (found.worst_missed, true_pairs(rows) - found_pairs(result)),
    ):
        assert {frozenset((one.a, one.b)) for one in mistakes} <= wrong
        assert len(mistakes) == min(10, len(wrong))
    falls = [one.similarity or 0.0 for one in found.worst_false]
    assert falls == sorted(falls, reverse=True)
    rises = [-1 if one.similarity is None else one.similarity for one in found.worst_missed]
    assert rises == sorted(rises)
    assert found.missed.total == len(true_pairs(rows) - found_pairs(result))


def test_copies_with_different_labels_are_the_worst():
    rows = [
        {"id": "a", "text": "one two three four", "kind": "x"},
        {"id": "b", "text": "one two three four", "kind": "y"},
    ]
    (worst,) = nd.evaluate(nd.dedup(rows), column="kind").worst_false
    assert (worst.a, worst.b, worst.similarity) == ("a", "b", 1.0)
    assert "exact copies" in worst.why
    assert [edit.op for edit in worst.diff] == ["equal"]


def test_a_chain_is_a_false_pair_of_low_similarity():
    texts = ["a b c d e f g h", "a b c d e f y z", "u v w x e f y z"]
    rows = [{"id": i, "text": text, "kind": i} for i, text in enumerate(texts)]
    result = nd.dedup(rows, features="word:1", threshold=0.3, cluster="components")
    found = nd.evaluate(result, column="kind")
    assert found.pairs.counts.found == 3
    chained = [one for one in found.worst_false if {one.a, one.b} == {0, 2}]
    assert "other documents of the cluster connect the two" in chained[0].why


def test_numbers_and_texts_name_the_same_documents(tmp_path):
    rows = [{"id": i, "text": f"one two three four {i % 2}"} for i in range(4)]
    result = nd.dedup(rows)
    as_text = nd.evaluate(result, pa.table({"a": ["0"], "b": ["2"]}))
    as_number = nd.evaluate(result, pa.table({"a": [0], "b": [2]}))
    assert as_text.pairs.counts == as_number.pairs.counts
    assert as_text.pairs.recall == 1.0


def test_labels_of_other_documents_are_counted_and_named():
    rows = [{"id": id, "text": "one two three"} for id in "ab"]
    labels = pa.table({"a": ["a", "a", "x"], "b": ["b", "y", "y"]})
    found = nd.evaluate(nd.dedup(rows), labels)
    assert found.pairs.counts.true == 1
    assert "2 labelled pairs left out" in " ".join(found.notes)
    assert "'y'" in " ".join(found.notes)


def test_labels_of_other_documents_alone_are_an_error():
    rows = [{"id": id, "text": "one two three"} for id in "ab"]
    with pytest.raises(nd.InputError, match=r"names no two documents of this run.*'x'.*'a'"):
        nd.evaluate(nd.dedup(rows), pa.table({"a": ["x"], "b": ["y"]}))


def test_a_column_may_be_empty_in_some_rows():
    rows = [{"id": i, "text": "one two three", "kind": "x" if i < 2 else None} for i in range(4)]
    partial = nd.evaluate(nd.dedup(rows), column="kind")
    assert (partial.pairs.counts.found, partial.pairs.counts.true) == (1, 1)
    assert "2 of 4 documents have no value" in " ".join(partial.notes)
    complete = nd.evaluate(nd.dedup(rows), column="kind", complete=True)
    assert (complete.pairs.counts.found, complete.pairs.counts.true) == (6, 1)


def test_columns_of_numbers_flags_and_dictionaries_name_clusters():
    texts = ["one two three", "one two three", "four five six"]
    for values in ([1, 1, 2], [1.5, 1.5, 2.0], [True, True, False], ["x", "x", "y"]):
        table = pa.table({"text": texts, "kind": values})
        assert nd.evaluate(nd.dedup(table), column="kind").pairs.f1 == 1.0
    encoded = pa.table({"text": texts, "kind": pa.array(["x", "x", "y"]).dictionary_encode()})
    assert nd.evaluate(nd.dedup(encoded), column="kind").pairs.f1 == 1.0


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([None, None], "is empty in all 2 documents"),
        ([[1], [1]], "cannot name clusters"),
    ],
)
def test_columns_that_name_no_clusters_are_an_error(values, said):
    table = pa.table({"text": ["one two", "one two"], "kind": values})
    with pytest.raises(nd.InputError, match=said):
        nd.evaluate(nd.dedup(table), column="kind")


def test_a_missing_column_is_an_error_that_names_those_there_are():
    with pytest.raises(nd.InputError, match="no column 'kind'; its columns are 'id', 'text'"):
        nd.evaluate(nd.dedup([{"id": 1, "text": "one"}]), column="kind")


def test_labels_are_needed():
    result = nd.dedup(["one"])
    for given in ({}, {"truth": "x", "column": "y"}):
        with pytest.raises(nd.SettingError, match="either truth, a file of pairs, or column"):
            nd.evaluate(result, **given)


def test_other_objects_are_no_result():
    with pytest.raises(nd.SettingError, match="not list"):
        nd.evaluate([], column="kind")


def test_one_document_and_nothing_removed():
    found = nd.evaluate(nd.dedup([{"id": 1, "text": "one", "kind": "x"}]), column="kind")
    assert math.isnan(found.pairs.f1)
    assert found.to_dict()["pairs"]["f1"] is None
    rows = [{"id": i, "text": f"{i} {i + 10} {i + 20}", "kind": "x"} for i in range(3)]
    nothing = nd.evaluate(nd.dedup(rows), column="kind")
    assert math.isnan(nothing.pairs.precision)
    assert (nothing.pairs.recall, nothing.pairs.f1) == (0.0, 0.0)
    assert "–" in str(nothing)


def test_decisions_are_labels_and_a_run_may_have_obeyed_them(tmp_path):
    rows = [{"id": str(i), "text": f"one two three four five {i % 3}"} for i in range(6)]
    result = nd.dedup(rows, id="id", features="word:1", threshold=0.6)
    result.save(tmp_path / "out")
    from neardup.decisions import DecisionFile
    from neardup.runs import open_run

    run = open_run(tmp_path / "out")
    file = DecisionFile(tmp_path / "out" / "decisions.jsonl")
    file.add("different", [run.named(0), run.named(1)], by="me")
    file.add("same", [run.named(0), run.named(3)], by="me")
    run.close()
    found = nd.evaluate(tmp_path / "out", tmp_path / "out" / "decisions.jsonl")
    assert found.pairs.counts == counts({frozenset("01"), frozenset("03")}, {frozenset("03")})
    assert [(one.a, one.b) for one in found.worst_false] == [("0", "1")]
    told = nd.dedup(
        rows,
        id="id",
        features="word:1",
        threshold=0.6,
        decisions=tmp_path / "out" / "decisions.jsonl",
    )
    better = nd.evaluate(told, tmp_path / "out" / "decisions.jsonl")
    assert better.pairs.f1 == 1.0


@pytest.mark.parametrize("within", [True, False])
def test_pairs_across_two_collections(within, tmp_path):
    old = [{"id": f"o{i}", "text": f"one two three four {i}"} for i in range(3)]
    old.append({"id": "far", "text": "nothing like the others at all"})
    new = [{"id": f"n{i}", "text": f"one two three four {i}"} for i in range(2)]
    new += [{"id": "n9", "text": "quite another text that stands alone"}]
    settings = {"features": "word:1", "threshold": 0.9, "id": "id"}
    result = nd.dedup(new, against=old, within=within, **settings)
    labels = pa.table(
        {"a": ["n0", "o1", "n9"], "b": ["o0", "n1", "far"], "same": [True, True, True]}
    )
    memory = nd.evaluate(result, labels)
    assert (memory.pairs.counts.right, memory.pairs.counts.true) == (2, 3)
    assert memory.clusters is None
    result.save(tmp_path / "out")
    stored = nd.evaluate(tmp_path / "out", labels)
    assert stored.pairs.counts == memory.pairs.counts
    assert "count as not found" in " ".join(stored.notes)
    with pytest.raises(nd.SettingError, match="says nothing about the other collection"):
        nd.evaluate(result, column="id")


def test_intervals_hold_the_rates_and_narrow_with_more_labels():
    few, many = (
        nd.evaluate(result_of(collection(3, n), "star"), column="kind").pairs for n in (60, 600)
    )
    for one in (few, many):
        for name in ("precision", "recall", "f1"):
            interval = getattr(one, f"{name}_interval")
            assert interval.low <= getattr(one, name) <= interval.high
    width = [one.recall_interval.high - one.recall_interval.low for one in (few, many)]
    assert width[1] < width[0]


def test_a_perfect_rate_is_not_certain():
    rows = [{"id": i, "text": f"text number {i // 2}", "kind": i // 2} for i in range(20)]
    found = nd.evaluate(nd.dedup(rows), column="kind")
    assert found.pairs.f1 == 1.0
    assert found.pairs.f1_interval.high == 1.0
    assert 0.6 < found.pairs.f1_interval.low < 0.8  # 10 clusters: Wilson, 0.722


def test_more_labelled_texts_than_fit_are_sampled(rows, monkeypatch):
    monkeypatch.setattr("neardup.evaluation.found._MOST_WORDS", 100)
    result = result_of(rows, "star")
    labelled = {frozenset(pair) for pair in combinations([row["id"] for row in rows[:30]], 2)}
    found = nd.evaluate(result, labels_of(labelled, same=true_pairs(rows)))
    assert found.listed is None
    assert "random sample" in " ".join(found.curve.pair_notes)
    a, b = np.triu_indices(30, 1)
    some = FoundByRun(result).similarities(a, b)
    assert 0 < some.compared < some.unlisted
    assert some.weights.sum() == pytest.approx(len(a))


def test_the_json_is_complete_and_valid(rows, tmp_path):
    found = nd.evaluate(result_of(rows, "floor"), column="kind")
    found.save(tmp_path / "evaluation.json")
    held = json.loads((tmp_path / "evaluation.json").read_bytes())
    assert held == found.to_dict()
    assert held["curve"]["best_threshold"] == found.curve.best.threshold
    assert held["worst_false"][0]["diff"]


def test_the_page_stands_alone_and_escapes_texts(tmp_path):
    rows = [
        {"id": "<b>1", "text": "one two three <script>alert(1)</script> four", "kind": "x"},
        {"id": "2", "text": "one two three <script>alert(1)</script> five", "kind": "y"},
        {"id": "3\x1b[2J", "text": "something else", "kind": "y"},
    ]
    result = nd.dedup(rows, id="id", features="word:1", threshold=0.6, pairs="all")
    found = nd.evaluate(result, column="kind")
    found.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "\x1b" not in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")
    for part in ("Rates by threshold", "Precision and recall", "Missed pairs", "False pairs"):
        assert part in page
    with pytest.raises(nd.SettingError, match=r"must end in \.html"):
        found.save(tmp_path / "page.pdf")
    assert "<script" not in found._repr_html_()


def test_the_text_begins_with_what_the_labels_allow(rows):
    text = str(nd.evaluate(result_of(rows, "all pairs"), column="kind"))
    assert text.startswith("Labels: the column 'kind' names the true cluster of all 60 documents")
    assert "pairs of jaccard ≥ 0.5" in text
    assert "adjusted Rand index" in text
    assert "95 % intervals: bootstrap over true clusters" in text
    assert "this run" in text


def test_evaluations_repeat_exactly(rows):
    one, other = (nd.evaluate(result_of(rows, "floor"), column="kind") for _ in range(2))
    assert one.to_dict() == other.to_dict()


def test_files_of_labels(rows, tmp_path):
    result = result_of(rows, "star")
    table = labels_of(true_pairs(rows))
    pq.write_table(table, tmp_path / "pairs.parquet")
    lines = [f"{row['a']},{row['b']}" for row in table.to_pylist()]
    (tmp_path / "pairs.csv").write_text("\n".join(["a,b", *lines]) + "\n", encoding="utf-8")
    read = [nd.evaluate(result, tmp_path / name).pairs for name in ("pairs.parquet", "pairs.csv")]
    assert read[0].counts == read[1].counts == nd.evaluate(result, table).pairs.counts
