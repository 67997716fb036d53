"""`tune` of records by their fields, and models fitted to labels."""

import pyarrow as pa
import pytest
from tests.lab.tune import made

import neardup as nd
from neardup.lab.tune.measures import Measure
from neardup.lab.tune.propose import proposed_pairs

TYPED = "name:char:3*2+number:exact"


def records():
    """People, with the number at the end as a field of its own."""
    table = made.people(200)
    texts = [text.rsplit(" ", 1) for text in table["text"].to_pylist()]
    names, numbers = zip(*texts, strict=True)
    return pa.table(
        {
            "id": table["id"],
            "name": list(names),
            "number": list(numbers),
            "kind": table["kind"],
            "text": table["text"],
        }
    )


def labels_of(table, count=120):
    chosen = Measure("word:1", "tfidf", "weighted-jaccard")
    return made.labelled(table, proposed_pairs(made.pool(table), chosen, 8, count))


@pytest.fixture(scope="module")
def people():
    table = records()
    return table, labels_of(table)


def f1(table, settings):
    return nd.evaluate(nd.dedup(table, **settings), column="kind").pairs.f1


def test_typed_fields_get_a_threshold_by_labels(people):
    table, labels = people
    tuning = nd.tune(table, text=TYPED, labels=labels)
    assert tuning.settings["similarity"] == "fields"
    assert tuning.settings["text"] == TYPED
    assert not {"features", "weights", "candidates"} & tuning.settings.keys()
    assert tuning.choice is None
    assert "similarity by fields at" in str(tuning)
    assert tuning.labels.runner_ups == ()
    default = {"text": TYPED, "similarity": "fields"}
    assert f1(table, tuning.settings) > max(0.9, f1(table, default))


def test_without_labels_the_threshold_of_fields_is_in_the_gap(people):
    table, _ = people
    tuning = nd.tune(table, text=TYPED)
    assert tuning.guessed
    assert any("is a guess" in problem for problem in tuning.problems)
    assert tuning.settings["threshold"] < 0.8
    default = {"text": TYPED, "similarity": "fields"}
    assert f1(table, tuning.settings) > max(0.9, f1(table, default))
    given = nd.tune(table, text=TYPED, threshold=0.6)
    assert not given.guessed
    assert given.problems == ()


def test_without_a_gap_the_threshold_of_fields_is_the_default():
    rows = [{"name": f"{letter * 4} {number}"} for letter in "abcdef" for number in range(9)]
    tuning = nd.tune(rows, text="name:char:3")
    assert tuning.guessed
    assert any("0.8 is the default, not measured" in problem for problem in tuning.problems)
    assert tuning.settings["threshold"] == 0.8


def test_given_features_have_their_threshold_in_the_gap_too():
    table = made.people()
    tuning = nd.tune(table, features="char:3")
    assert tuning.settings["features"] == "char:3"
    assert any("is a guess" in problem for problem in tuning.problems)
    kinds = nd.evaluate(nd.dedup(table, **tuning.settings), column="kind")
    assert kinds.pairs.f1 > 0.9


@pytest.mark.parametrize("text", ["text", "name", TYPED, "name+number", None])
def test_a_model_is_written_and_named(people, tmp_path, text):
    table, labels = people
    path = tmp_path / "model.json"
    tuning = nd.tune(table, text=text, labels=labels, fit=path)
    assert tuning.settings["model"] == str(path)
    assert tuning.model is not None
    assert not {"threshold", "features", "weights", "similarity"} & tuning.settings.keys()
    assert any("the fitted model reaches an F1 of" in reason for reason in tuning.reasons)
    assert f1(table, tuning.settings) > (0.6 if text == "name" else 0.9)


def test_a_model_of_a_column_that_tune_chose(people, tmp_path):
    table, labels = people
    titles = table.select(["id", "text", "kind"]).rename_columns(["id", "title", "kind"])
    tuning = nd.tune(titles, text="title", labels=labels, fit=tmp_path / "model.json")
    assert tuning.settings["text"] == "title"
    assert f1(titles, tuning.settings) > 0.9


def test_a_model_needs_labels(tmp_path):
    with pytest.raises(nd.SettingError, match="fit needs labels"):
        nd.tune(["one two"], fit=tmp_path / "model.json")


def test_a_model_needs_ten_of_each_kind(people, tmp_path):
    table, labels = people
    same = labels["same"].to_pylist()
    rows = [*[row for row, one in enumerate(same) if one][:6]]
    rows += [row for row, one in enumerate(same) if not one][:6]
    with pytest.raises(nd.SettingError, match="10"):
        nd.tune(table, text="text", labels=labels.take(rows), fit=tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()
