"""Requests for jobs: what can be set, what is refused, and the command that comes of it."""

import re

import pytest

from neardup.cli.commands.dedup import dedup
from neardup.cli.commands.sweep import sweep
from neardup.cli.commands.tune import tune
from neardup.errors import InputError, SettingError
from neardup.service.data_root import DataRoot
from neardup.service.jobs.request import KINDS, JobRequest, settings_of

COMMANDS = {"dedup": dedup, "tune": tune, "sweep": sweep}
# Options that no request may reach: other outputs, other inputs, and what the service itself sets.
CLOSED = {
    "dedup": {
        *("output", "overwrite", "against", "update", "index", "replace", "config", "resume"),
        *("engine", "master", "work", "conf"),
        *("quiet", "json", "progress", "inputs"),
    },
    "tune": {
        *("output", "quiet", "json", "progress", "inputs"),
        *("propose", "count", "fit"),  # write files of their own
    },
    "sweep": {"output", "overwrite", "json", "progress", "inputs"},
}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one two three"}\n')
    (tmp_path / "indexes" / "seen").mkdir(parents=True)
    return DataRoot(tmp_path)


def request(root, kind="dedup", inputs=("a.jsonl",), **more):
    return JobRequest.of({"kind": kind, "inputs": list(inputs), **more}, root)


@pytest.mark.parametrize("kind", KINDS)
def test_every_option_of_the_command_is_open_or_closed_on_purpose(kind):
    options = {parameter.name for parameter in COMMANDS[kind].params}
    taken = {"plan" if name == "plans" else name for name in settings_of(kind)}
    assert taken | CLOSED[kind] == options
    assert not taken & CLOSED[kind]


def test_the_command(root):
    found = request(
        root,
        inputs=["a.jsonl"],
        against=["indexes/seen"],
        settings={"threshold": 0.7, "text": "--config=x", "within": True, "copies": False},
    )
    assert found.command("jobs/1/result", 3) == [
        *("dedup", "--output=jobs/1/result", "--progress=json", "--json", "--threads=3"),
        *("--threshold=0.7", "--text=--config=x", "--within", "--against=indexes/seen"),
        *("--", "a.jsonl"),
    ]


def test_lists_and_other_outputs(root):
    settings = {"bands": [2, 3], "band_bits": 10, "plans": ["blocks:3", "bands:1x9"], "threads": 2}
    assert request(root, "sweep", settings=settings).command("o", 1)[1:] == [
        *("--output=o", "--progress=json", "--json", "--threads=2", "--bands=2,3"),
        *("--band-bits=10", "--plan=blocks:3", "--plan=bands:1x9", "--", "a.jsonl"),
    ]
    assert "--output=o/settings.toml" in request(root, "tune").command("o", 1)


def test_names_are_never_options_nor_standard_input(root):
    for name in ("-", "-o", "--config=x"):
        (root.path / name).write_text("one\n")
        found = request(root, inputs=[name], against=[name])
        assert found.command("o", 1)[-3:] == [f"--against=./{name}", "--", f"./{name}"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"treshold": 0.8}, "unknown setting 'treshold'; did you mean 'threshold'?"),
        ({"config": "a.jsonl"}, "unknown setting 'config'"),
        ({"index": "indexes/x"}, "unknown setting 'index'"),
        ({"output": "x"}, "unknown setting 'output'"),
        ({"-o": "x"}, "unknown setting '-o'"),
        ({"--output": "x"}, "unknown setting '--output'"),
        ({"update": True}, "unknown setting 'update'"),
        ({"max-document": "1MB"}, "unknown setting 'max-document'"),
        ({"": 1}, "unknown setting"),
        ({"threshold": "0.8"}, "threshold='0.8' must be a number"),
        ({"threshold": True}, "threshold=True must be a number"),
        ({"threshold": 2}, "threshold=2 must be"),
        ({"threshold": float("nan")}, "threshold"),
        ({"threshold": float("inf")}, "threshold"),
        ({"threshold": [0.8]}, "must be a number"),
        ({"bits": 10**5000}, "bits"),
        ({"bits": 5000}, "bits=5000 must be a whole number"),
        ({"bits": 6.5}, "bits=6.5 must be a whole number"),
        ({"threads": 0}, "threads=0"),
        ({"memory": "much"}, "memory='much'"),
        ({"memory": {}}, "memory={} must be a string such as"),
        ({"features": "nothing:3"}, "nothing:3"),
        ({"candidates": "magic"}, "magic"),
        ({"keep": "whatever"}, "keep"),
        ({"preset": "nobody"}, "preset='nobody'"),
        ({"format": "xml"}, "format='xml'"),
        ({"within": "yes"}, "within='yes' must be true or false"),
        ({"within": True}, "within=true needs another collection"),
        ({"hash": "nd1:none"}, "NEARDUP_KEY_NONE"),
        ({"projection": "sphere:1x1"}, "projection='sphere:1x1' is unknown"),
        ({"text": "a\0b"}, "text='a.x00b' is not valid text"),
        ({"text": "a\ud800"}, "is not valid text"),
        ({"text": "x" * 10_001}, "text has 10,001 characters"),
        ({"text": 5}, "text=5 must be a string"),
        ([], "settings must be an object"),
        ("threshold", "settings must be an object"),
    ],
)
def test_refused_settings(root, settings, said):
    with pytest.raises(SettingError, match=said):
        request(root, settings=settings)


@pytest.mark.parametrize(
    ("kind", "settings", "said"),
    [
        ("tune", {"keep": "first"}, "unknown setting 'keep'"),
        ("tune", {"budget": "soon"}, "budget='soon'"),
        ("tune", {"sample": 1}, "sample=1"),
        ("tune", {"similarity": "hamming", "threshold": 3}, "hamming"),
        ("tune", {"candidates": "blocks:3"}, "cannot be tuned"),
        ("sweep", {}, "there is nothing to sweep"),
        ("sweep", {"bands": 2}, "together"),
        ("sweep", {"bands": [0], "band_bits": [4]}, "bands=0"),
        ("sweep", {"bands": [], "band_bits": [4]}, "bands must have 1 to 100 values"),
        ("sweep", {"bands": ["2"], "band_bits": [4]}, "must be a whole number or a list"),
        ("sweep", {"plans": "blocks:3"}, "must be a list of strings"),
        ("sweep", {"plans": ["nothing"]}, "nothing"),
        ("sweep", {"plans": ["blocks:3"], "top": -1}, "top=-1"),
        ("sweep", {"plans": ["blocks:3"], "threshold": [0.8, 7]}, "threshold=7"),
    ],
)
def test_refused_settings_of_tune_and_sweep(root, kind, settings, said):
    with pytest.raises(SettingError, match=said):
        request(root, kind, settings=settings)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (None, "a job is an object"),
        ([], "a job is an object"),
        ({}, "kind=None is unknown"),
        ({"kind": "index"}, "kind='index' is unknown; choose dedup, tune, sweep"),
        ({"kind": ["dedup"]}, "is unknown"),
        ({"kind": "dedup", "outputs": 1}, "a job has no 'outputs'"),
        ({"kind": "tune", "inputs": ["a.jsonl"], "against": ["a.jsonl"]}, "against is for dedup"),
    ],
)
def test_refused_requests(root, asked, said):
    with pytest.raises(SettingError, match=said):
        JobRequest.of(asked, root)


@pytest.mark.parametrize(
    "asked",
    [
        *({"inputs": []}, {"inputs": None}, {"inputs": "a.jsonl"}, {"inputs": [1]}, {}),
        *({"inputs": ["a.jsonl"], "against": 5}, {"inputs": ["a.jsonl"], "against": "a.jsonl"}),
        *({"inputs": ["../a.jsonl"]}, {"inputs": ["a.jsonl"], "against": ["/etc"]}),
        {"inputs": ["indexes/seen"]},
        {"inputs": ["a.jsonl"], "against": ["indexes/seen", "a.jsonl"]},
    ],
)
def test_refused_inputs(root, asked):
    with pytest.raises(InputError):
        JobRequest.of({"kind": "dedup", **asked}, root)


def test_null_is_not_given(root):
    assert request(root, settings={"threshold": None, "text": "a"}).settings == {"text": "a"}
    assert request(root, settings=None, against=None).against == ()


def test_vectors_of_a_sphere_are_left_to_the_job(root):
    """They would take minutes, and a request is answered at once."""
    found = request(root, settings={"projection": "sphere:256x2048"})
    assert found.settings == {"projection": "sphere:256x2048"}


def test_models_lie_in_the_data_folder(root, tmp_path):
    (tmp_path / "model.json").write_text("{}")
    made = request(root, settings={"model": "model.json", "similarity": "model"})
    assert "--model=model.json" in made.command("out", 1)
    for path in ("../model.json", "/etc/passwd", "missing.json"):
        with pytest.raises(InputError):
            request(root, settings={"model": path})
    with pytest.raises(SettingError, match="needs a fitted model"):
        request(root, settings={"similarity": "model"})


def test_decisions_lie_in_the_data_folder(root):
    (root.path / "said.jsonl").touch()
    made = request(root, settings={"decisions": "said.jsonl"})
    assert "--decisions=said.jsonl" in made.command("out", 1)
    for path, said in (("../said.jsonl", "has '..' in it"), ("none.jsonl", "does not exist")):
        with pytest.raises(InputError, match=re.escape(said)):
            request(root, settings={"decisions": path})
