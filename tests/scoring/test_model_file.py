"""Model files: readable, the same bytes every time, and refused in one sentence if damaged."""

import json
from contextlib import suppress

import pytest

import neardup as nd
from neardup.collection.model import (
    TEXT_INPUTS,
    CandidateRule,
    Input,
    Model,
    TrainedOn,
    input_names,
)
from neardup.features.spec import Fields

LEARNED = TrainedOn(100, 20, 30, 0.3, 0.9, 0.8, 0.95, 1)
RULES = (CandidateRule("char:3 jaccard", 0.2),)


def model(text=None):
    names = input_names(None if text is None else Fields.parse(text))
    inputs = tuple(Input(name, place / 4, 0.0) for place, name in enumerate(names))
    return Model(text, 0.4, -3.5, inputs, RULES, LEARNED, "0.1.0")


@pytest.mark.parametrize("text", [None, "name:char:3*2+born:exact", "title+price:number:0.05"])
def test_a_model_is_read_as_it_was_written(tmp_path, text):
    path = tmp_path / "model.json"
    model(text).save(path)
    assert Model.load(path) == model(text)
    assert path.read_text(encoding="utf-8") == model(text).to_json()
    held = json.loads(path.read_text(encoding="utf-8"))
    assert held["format"] == "neardup model"
    assert [one["name"] for one in held["inputs"]][: len(TEXT_INPUTS)] == list(TEXT_INPUTS)


def changed(*path, to):
    held = model("name+born").to_dict()
    inside = held
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = to
    return held


@pytest.mark.parametrize(
    ("held", "about"),
    [
        ([], "is no neardup model; make one with"),
        ({"format": "another"}, "is no neardup model"),
        (changed("version", to=2), "has version 2 of neardup model, and this neardup reads"),
        (changed("threshold", to=1.5), r"threshold is 1\.5, not above 0"),
        (changed("threshold", to=True), "threshold is True, not a number"),
        (changed("intercept", to="x"), "intercept is 'x', not a number"),
        (changed("intercept", to=float("nan")), "intercept is nan, not a number"),
        (changed("intercept", to=10**400), "intercept is 10+, not a number"),
        (changed("inputs", to=[]), r"inputs is \[\], not a list with something in it"),
        (changed("inputs", 0, to={}), "an input is {}, without a name"),
        (changed("inputs", 0, "name", to="word:9"), "unknown input 'word:9'"),
        (changed("inputs", 0, "more", to=1), "'word:1 jaccard' has the unknown key 'more'"),
        (changed("text", to="name"), "unknown input 'field born'"),
        (changed("text", to="name+born+place"), "no input 'field place'"),
        (changed("text", to="+"), "names no columns"),
        (changed("text", to=3), "text is 3, not the names of fields"),
        (changed("neardup", to=3), "neardup is 3, not a version"),
        (changed("candidates", 0, "name", to="x"), "a rule for candidates is"),
        (changed("candidates", 0, "at_least", to=0), "at_least is 0, not above 0"),
        (changed("trained_on", "f1", to=3), "f1 is 3, not an object"),
        (changed("trained_on", "same", to=-1), "same is -1, not a number of things"),
        (changed("trained_on", to={}), "trained_on lacks 'documents'"),
    ],
)
def test_a_damaged_model_is_refused_in_a_sentence(tmp_path, held, about):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(held), encoding="utf-8")
    with pytest.raises(nd.InputError, match=about) as error:
        Model.load(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_inputs_in_another_order_are_refused(tmp_path):
    held = model().to_dict()
    held["inputs"].reverse()
    with pytest.raises(nd.InputError, match="not in the usual order"):
        Model.of(held)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b" " * 1_000_001])
def test_what_is_no_json_is_refused_in_a_sentence(tmp_path, data):
    path = tmp_path / "model.json"
    path.write_bytes(data)
    with pytest.raises(nd.InputError, match="no model"):
        Model.load(path)


def test_a_missing_model_is_named(tmp_path):
    with pytest.raises(nd.InputError, match=r"cannot read the model .*none\.json: No such file"):
        Model.load(tmp_path / "none.json")


@pytest.mark.parametrize("name", [3, b"model.json", True, "a\0b", "\ud800"])
def test_what_is_no_name_is_refused(name):
    with pytest.raises((nd.SettingError, nd.InputError), match=r"must be the name|not the name"):
        nd.dedup(["a", "b"], model=name)


def test_any_byte_may_be_lost(tmp_path):
    """A file cut anywhere, or with a wrong byte, is read or refused, never a traceback."""
    whole = model("name+born").to_json().encode()
    path = tmp_path / "model.json"
    for at in range(0, len(whole), 37):
        for data in (whole[:at], whole[:at] + b"\x00" + whole[at + 1 :]):
            path.write_bytes(data)
            with suppress(nd.InputError):
                Model.load(path)
