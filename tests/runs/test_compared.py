"""Documents of a run whose similarity is a sum: of fields, or of the parts of a model."""

import io
import json
import re
import sys

import pyarrow as pa
import pytest
from tests.explore.browsing import Browser, text_of

import neardup as nd
from neardup.cli.app import main
from neardup.collection.model import (
    CHARACTERS,
    FIELD,
    WORDS,
    CandidateRule,
    Input,
    Model,
    TrainedOn,
    input_names,
    may_be_missing,
)
from neardup.features.spec import Fields
from neardup.runs import open_run
from neardup.runs.compared import compared_records
from neardup.visible import shown_similarity

PEOPLE = pa.table(
    {
        "id": ["p1", "p2", "p3", "p4"],
        "name": ["Ann Lee", "Anne Lee", "Bob Ray 7", "Bob Rays"],
        "street": ["Main street 5", "Main street 5", "High road 7", "High road 7"],
        "city": ["Oslo", "", "Bergen", "Bergen"],
    }
)
TEXTS = pa.table(
    {
        "id": ["p1", "p2", "p3"],
        "text": [
            "the quick brown fox jumps over the lazy dog",
            "the quick red fox jumps over the lazy dog",
            "nothing of this is like the others here",
        ],
    }
)
COEFFICIENTS = {WORDS: 4.0, CHARACTERS: 3.0, "length": -0.5, "digits jaccard": 1.5}
TYPED = "name:char:3*2+street:word:1+city:exact"


def model(text):
    names = input_names(None if text is None else Fields.parse(text))
    inputs = [
        Input(
            name,
            COEFFICIENTS.get(name, 1.0 if name.startswith(FIELD) else 0.25),
            -0.5 if may_be_missing(name) else 0.0,
        )
        for name in names
    ]
    learned = TrainedOn(100, 50, 50, 1.0, 0.9, 0.85, 0.95, 0)
    return Model(text, 0.5, -3.0, tuple(inputs), (CandidateRule(CHARACTERS, 0.2),), learned, "0")


@pytest.fixture(params=[TYPED, None], ids=["records", "texts"])
def by_model(tmp_path, request):
    """The folder of a run by a model."""
    model(request.param).save(tmp_path / "model.json")
    source = TEXTS if request.param is None else PEOPLE
    result = nd.dedup(source, model=tmp_path / "model.json", pairs="all")
    result.save(tmp_path / "out")
    (tmp_path / "model.json").unlink()
    return tmp_path / "out"


def test_the_parts_of_a_model_add_up_to_the_log_odds(by_model):
    run = open_run(by_model)
    links = run.links(list(range(run.documents)))
    assert links
    for link in links:
        found = compared_records(run, link.a, link.b)
        assert found.similarity == "model"
        assert found.score == pytest.approx(link.similarity, abs=1e-9)
        assert found.total == found.log_odds == found.to_dict()["log_odds"]
        assert 1 / (1 + 2.718281828459045**-found.log_odds) == pytest.approx(found.score)
        values = [field.has_values for field in found.fields]
        assert values == sorted(values, reverse=True)  # the fields come first
        intercept = next(field for field in found.fields if field.name == "intercept")
        assert (intercept.adds, intercept.weight, intercept.similarity) == (-3.0, None, None)


def said(monkeypatch, capsys, *arguments):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "argv", ["neardup", *map(str, arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0
    return capsys.readouterr().out


def test_a_model_in_the_terminal(monkeypatch, capsys, by_model):
    out = said(monkeypatch, capsys, "compare", by_model, "p1", "p2")
    similarity = shown_similarity(open_run(by_model).links([0, 1])[0].similarity)
    assert f"a probability of {similarity}; the threshold is model ≥ 0.5." in " ".join(out.split())
    assert re.search(r"^intercept .* –  +–  −3.0000$", out, re.MULTILINE)
    assert re.search(r"^length .* −0.5  −0.\d+$", out, re.MULTILINE)
    assert ("[-Ann-] Lee" in out) or ("[-brown-]{+red+}" in out)
    explained = said(monkeypatch, capsys, "explain", by_model, "p2")
    assert "intercept" in explained
    found = json.loads(said(monkeypatch, capsys, "explain", by_model, "p2", "--json"))
    assert found["parts"]["score"] == pytest.approx(found["similarity"])


@pytest.mark.parametrize("address", ["/clusters/0", "/compare?a=p1&b=p2", "/review"])
def test_a_model_in_the_explorer(by_model, address):
    page = Browser(by_model).page(address)
    assert '<td class="whole" colspan="2">shared words, by rarity</td>' in page
    assert "The sum is the log-odds" in text_of(page)
    assert ("<del>brown</del>" in page) or ('<th scope="col">Field</th>' in page)


def test_a_model_on_the_report_page(by_model):
    page = (by_model / "report.html").read_text(encoding="utf-8")
    assert '<td class="whole" colspan="2">shared words, by rarity</td>' in page
    assert "The sum is the log-odds" in page
    assert ("<del>brown</del>" in page) or ("<del>Ann</del> Lee" in page)


def test_texts_without_a_model_have_no_parts(tmp_path):
    nd.dedup(TEXTS, threshold=0.3).save(tmp_path / "out")
    run = open_run(tmp_path / "out")
    assert not run.is_scored
    assert "scored" not in Browser(tmp_path / "out").page("/compare?a=p1&b=p2")


def test_records_keep_line_breaks_that_look_like_fields(tmp_path):
    rows = [
        {"id": "a", "name": "Ann\nstreet: nowhere", "street": "Main street 5"},
        {"id": "b", "name": "Ann\nstreet: nowhere", "street": "Main street 6"},
    ]
    settings = {"text": "name+street", "features": "word:1", "threshold": 0.3, "pairs": "all"}
    nd.dedup(rows, **settings).save(tmp_path / "out")
    run = open_run(tmp_path / "out")
    found = compared_records(run, 0, 1)
    assert found.fields[0].a == "Ann\nstreet: nowhere"
    assert found.score == run.links([0, 1])[0].similarity


def test_pairs_to_label_of_records_are_shown_field_by_field(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("NEARDUP_CACHE", str(tmp_path / "cache"))
    rows = [
        {"a": "p1", "b": "p2", "similarity": 0.5, "why": "", "same": None}
        | {"a_text": "name: Ann Lee\ncity: Oslo", "b_text": "name: Anne Lee\ncity: "},
        {"a": "p3", "b": "p4", "similarity": 0.4, "why": "", "same": None}
        | {"a_text": "only one line", "b_text": "only one: line"},
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    browser = Browser(file)
    page = browser.page("/review")
    assert "<del>Ann</del> Lee" in page
    assert '<th scope="col">Field</th>' in page
    assert "Weight" not in page
    browser.decide("same", "p1", "p2")
    assert '<th scope="col">Field</th>' not in browser.page("/review")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"q\n")))
    (tmp_path / "pairs.jsonl.decisions.jsonl").unlink()
    out = said(monkeypatch, capsys, "review", file)
    assert "[-Ann-] Lee" in out
    assert "weight" not in out


def test_a_long_collection_is_not_counted_again(tmp_path, monkeypatch):
    settings = {"text": "name+street", "features": "word:1", "weights": "tfidf", "threshold": 0.3}
    nd.dedup(PEOPLE, **settings).save(tmp_path / "out")
    assert compared_records(open_run(tmp_path / "out"), 0, 1).is_exact
    monkeypatch.setattr("neardup.runs.rarity._MOST_WORDS", 5)
    assert not compared_records(open_run(tmp_path / "out"), 0, 1).is_exact
