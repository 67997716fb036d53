"""Runs with a fitted model: its threshold and columns, its promise, and its explanations."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.scoring.people import NAMES, labelled, people, records_of

import neardup as nd
from neardup.cli.app import app
from neardup.collection.model import Model
from neardup.decisions import DecisionFile, Named, content_of
from neardup.deduplication.load import load
from neardup.features.spec import Fields
from neardup.scoring.by_model import ModelScorer
from neardup.scoring.fit_scorer import fit_scorer

COLUMNS, PERSON = people()
SPEC = "+".join(NAMES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    ids = [f"p{place}" for place in range(len(PERSON))]
    texts = [" ".join(row) for row in zip(*COLUMNS.values(), strict=True)]
    table = pa.table({"id": ids, **COLUMNS, "text": texts})
    pq.write_table(table, folder / "people.parquet")
    fields = Fields.named(NAMES)
    fit_scorer(records_of(COLUMNS), *labelled(PERSON), fields=fields).model.save(
        folder / "model.json"
    )
    fit_scorer(records_of({"text": texts}), *labelled(PERSON)).model.save(folder / "text.json")
    return folder


def run(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)


@pytest.mark.parametrize("name", ["model.json", "text.json"])
def test_a_model_brings_columns_threshold_and_promise(folder, name):
    model = Model.load(folder / name)
    result = nd.dedup(folder / "people.parquet", model=folder / name)
    settings = result.summary["settings"]
    assert (settings["similarity"], settings["threshold"]) == ("model", model.threshold)
    assert settings["text"] == model.text
    assert result.summary["plan"] == "model"
    assert str(model.candidates[0]) in result.summary["reason"]
    found = dict(
        zip(
            result.removed["id"].to_pylist(),
            result.removed["duplicate_of"].to_pylist(),
            strict=True,
        )
    )
    right = sum(PERSON[int(one[1:])] == PERSON[int(other[1:])] for one, other in found.items())
    assert right / len(found) > 0.95
    assert right > 36  # of 40


def test_another_threshold_may_be_chosen(folder):
    strict = nd.dedup(folder / "people.parquet", model=folder / "model.json", threshold=0.999)
    loose = nd.dedup(folder / "people.parquet", model=folder / "model.json", threshold=0.01)
    assert strict.summary["removed"] < loose.summary["removed"]


@pytest.mark.parametrize("cluster", ["star", "components", "dense"])
@pytest.mark.parametrize("threads", [1, 3])
def test_every_way_to_cluster_takes_the_pairs(folder, cluster, threads):
    source = folder / "people.parquet"
    result = nd.dedup(
        source, model=folder / "model.json", cluster=cluster, pairs="all", threads=threads
    )
    model = Model.load(folder / "model.json")
    records = records_of(COLUMNS)
    rarity = result.both.left.rarity
    a, b = np.triu_indices(len(PERSON), 1)
    scores = ModelScorer(model, rarity).scores(records, None, a, b)
    listed = {
        (int(row["a"][1:]), int(row["b"][1:])): row["similarity"]
        for row in result.pairs.to_pylist()
        if row["similarity"] < 1
    }
    assert listed
    expected = {
        pair: score
        for pair, score in zip(zip(a.tolist(), b.tolist(), strict=True), scores, strict=True)
        if score >= model.threshold
    }
    for (x, y), similarity in listed.items():
        assert expected[min(x, y), max(x, y)] == similarity
    assert len(listed) > 0.9 * len(expected)


def test_two_collections_are_counted_together(folder):
    """A pair has one score, whether it is found within the input or between two collections."""
    table = pq.read_table(folder / "people.parquet")
    ours, theirs = table.slice(0, 60), table.slice(60)
    more = nd.dedup(ours, against=theirs, within=True, model=folder / "model.json", pairs="all")
    whole = nd.dedup(table, model=folder / "model.json", pairs="all")

    def scores(result):
        return {
            frozenset((row["a"], row["b"])): row["similarity"] for row in result.pairs.to_pylist()
        }

    one, other = scores(more), scores(whole)
    assert one.keys() <= other.keys()
    assert len(one) > 10
    assert all(other[pair] == similarity for pair, similarity in one.items())


def test_the_folder_explains_its_scores_without_the_model_file(folder, tmp_path):
    moved = tmp_path / "own.json"
    moved.write_bytes((folder / "model.json").read_bytes())
    out = tmp_path / "out"
    done = run("dedup", folder / "people.parquet", "-o", out, "--model", moved, "--pairs", "all")
    assert done.exit_code == 0, done.output
    moved.unlink()
    assert (out / "model.json").read_bytes() == (folder / "model.json").read_bytes()
    pairs = [
        row for row in pq.read_table(out / "pairs.parquet").to_pylist() if row["similarity"] < 1
    ]
    for row in pairs[:5]:
        done = run("compare", out, row["a"], row["b"], "--json")
        assert done.exit_code == 0, done.output
        shown = json.loads(done.stdout)
        assert shown["similarity"] == "model"
        assert shown["score"] == row["similarity"]
        assert "intercept" in [field["name"] for field in shown["fields"]]
    loaded = load(out)
    assert loaded.settings.fitted == Model.load(out / "model.json")
    fewer = loaded.rethreshold(0.999)
    assert fewer.summary["removed"] < loaded.summary["removed"]
    again = nd.dedup(folder / "people.parquet", model=out / "model.json", threshold=0.999)
    assert fewer.removed["id"].to_pylist() == again.removed["id"].to_pylist()
    for command in (["explain", out, pairs[0]["b"]], ["evaluate", "--help"]):
        assert run(*command).exit_code == 0
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "scores every pair of" in page


def test_a_resumed_run_notices_another_model(folder, tmp_path, monkeypatch):
    from neardup.deduplication import save as saving

    model = tmp_path / "model.json"
    model.write_bytes((folder / "model.json").read_bytes())
    command = ("dedup", folder / "people.parquet", "-o", tmp_path / "out", "--model", model)

    def broken(*_arguments, **_more):
        raise nd.NeardupError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(saving, "write_rows", broken)
        with pytest.raises(nd.NeardupError, match="no room"):
            run(*command, "--resume")
    held = json.loads(model.read_bytes())
    held["intercept"] -= 50.0
    model.write_text(json.dumps(held), encoding="utf-8")
    done = run(*command, "--resume", "--json")
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["resumed"] == ["features"]
    assert summary["near_copies"] == 0


def test_decisions_go_before_the_model(folder, tmp_path):
    source, model = folder / "people.parquet", folder / "text.json"
    removed = nd.dedup(source, model=model).removed.to_pylist()[0]
    told = DecisionFile(tmp_path / "decisions.jsonl")
    pair = removed["id"], removed["duplicate_of"]
    rows = pq.read_table(source, columns=["id", "text"]).to_pylist()
    texts = {row["id"]: row["text"] for row in rows}
    told.add("different", [Named(id, content_of(texts[id])) for id in pair], by="ann")
    kept = nd.dedup(source, model=model, decisions=told).removed
    ids, others = (kept[name].to_pylist() for name in ("id", "duplicate_of"))
    assert pair not in set(zip(ids, others, strict=True))


@pytest.mark.parametrize(
    ("settings", "about"),
    [
        ({"similarity": "jaccard"}, "but a model was given, whose similarity is 'model'"),
        ({"text": "name"}, f"text='name', but the model compares '{SPEC.replace('+', '.')}'"),
        ({"candidates": "bands:4x16"}, "has a search of its own"),
        ({"threshold": 1.5}, "must be a number above 0, at most 1"),
    ],
)
def test_settings_that_do_not_fit_are_refused(folder, settings, about):
    with pytest.raises(nd.SettingError, match=about):
        nd.dedup(folder / "people.parquet", model=folder / "model.json", **settings)


def test_a_model_of_texts_takes_any_column_but_no_fields(folder):
    nd.dedup(folder / "people.parquet", model=folder / "text.json", text="name")
    with pytest.raises(nd.SettingError, match="names fields, but the model was fitted to doc"):
        nd.dedup(folder / "people.parquet", model=folder / "text.json", text=SPEC)


def test_the_similarity_needs_a_model(folder):
    with pytest.raises(nd.SettingError, match="similarity='model' needs a fitted model"):
        nd.dedup(folder / "people.parquet", similarity="model")


def test_a_missing_model_is_one_sentence(folder, tmp_path):
    source = folder / "people.parquet"
    with pytest.raises(nd.InputError, match=r"cannot read the model .*none\.json: No such file"):
        run("dedup", source, "-o", tmp_path / "out", "--model", tmp_path / "none.json")
    assert not (tmp_path / "out").exists()


def test_documents_without_the_columns_are_refused(folder, tmp_path):
    with pytest.raises(nd.NeardupError, match="name"):
        nd.dedup(pa.table({"text": ["a", "b"]}), model=folder / "model.json")


def test_an_index_cannot_be_asked_by_a_model(folder, tmp_path):
    with pytest.raises(nd.SettingError):
        nd.dedup(
            folder / "people.parquet",
            against=tmp_path / "index",
            update=True,
            model=folder / "text.json",
        )


def test_empty_and_single_inputs_do_no_harm(folder):
    none = pa.table({name: pa.array([], pa.string()) for name in NAMES})
    assert nd.dedup(none, model=folder / "model.json").summary["documents"] == 0
    one = pa.table({name: ["x"] for name in NAMES})
    assert nd.dedup(one, model=folder / "model.json").summary["kept"] == 1
    blank = pa.table({name: ["", "  "] for name in NAMES})
    assert nd.dedup(blank, model=folder / "model.json").summary["kept"] == 2
