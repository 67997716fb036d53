"""The code that repeats a run: it runs, and gives the same result."""

import json

import pytest

import neardup as nd
from neardup.decisions import DecisionFile, Named, content_of
from neardup.deduplication.repeat import repeat_code

TEXTS = ["one two three four five six", "one two three four five seven", "an other text than these"]


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, texts in {"texts.jsonl": TEXTS, "it's old.jsonl": TEXTS[1:]}.items():
        lines = [json.dumps({"id": place, "text": text}) for place, text in enumerate(texts)]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def again(code, **names):
    """The result that the code computes and saves."""
    exec(compile(code, "repeat", "exec"), names)
    return names["result"]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"threshold": 0.5, "max_document": "1MB", "keep": "longest"},
        {"features": "char:2+word:1", "weights": "count", "cluster": "components"},
        {"features": "word:1", "cluster": "dense", "threshold": 0.5},
        {"preset": "sphere"},
        {"threshold": 0.6, "floor": 0.4},
        {"against": "it's old.jsonl", "threshold": 0.5},
        {"against": "it's old.jsonl", "threshold": 0.5, "within": True},
        {"against": "index", "threshold": 0.5, "update": True},
    ],
    ids=str,
)
def test_the_code_gives_the_same_result(source, settings):
    first = nd.dedup("texts.jsonl", **settings)
    code = repeat_code(first, "out")
    second = again(code, index="index")
    columns = ["cluster", "id", "kept", "duplicate_of", "similarity"]
    assert second.clusters.select(columns) == first.clusters.select(columns)
    assert second.summary["settings"] == first.summary["settings"]
    assert (source / "out" / "summary.json").exists()
    assert ("update=True" in code) == ("update" in settings)
    if "update" in settings:  # it exists now, so that its name is known
        assert 'against="index"' in repeat_code(second)


def test_several_files_and_documents_in_memory(source):
    files = [source / "texts.jsonl", source / "it's old.jsonl"]
    many = nd.dedup(files, id="row")
    code = repeat_code(many, "it's out", "jsonl")
    assert again(code).clusters == many.clusters
    assert (source / "it's out" / "kept.jsonl").exists()
    held = nd.dedup(TEXTS, against=TEXTS[:1], threshold=0.5)
    code = repeat_code(held, "out")
    assert again(code, documents=TEXTS, others=TEXTS[:1]).clusters == held.clusters


def test_a_result_of_a_folder_names_what_that_was_made_of(source):
    first = nd.dedup("texts.jsonl", against="it's old.jsonl", threshold=0.6, floor=0.4)
    first.save("first")
    loaded = nd.Result.load("first").rethreshold(0.5)
    code = repeat_code(loaded, "out")
    assert 'nd.dedup(\n    "texts.jsonl",\n' in code
    assert again(code).clusters == loaded.clusters


def test_decisions_are_obeyed_again(source):
    texts = [Named(place, content_of(text)) for place, text in enumerate(TEXTS)]
    DecisionFile("said.jsonl").add("different", texts[:2], by="me")
    first = nd.dedup("texts.jsonl", threshold=0.5, decisions="said.jsonl")
    assert first.summary["removed"] == 0
    assert again(repeat_code(first, "out")).summary["removed"] == 0
    page = (source / "out" / "report.html").read_text(encoding="utf-8")
    assert "1 obeyed (said.jsonl)" in page


def test_defaults_are_left_out():
    code = repeat_code(nd.dedup(TEXTS))
    assert "recall" not in code
    assert "memory" not in code
    assert "max_document" not in code
    assert 'pairs="evidence"' in code


def test_a_report_from_python_shows_the_code(source):
    nd.dedup("texts.jsonl").save("out")
    page = (source / "out" / "report.html").read_text(encoding="utf-8")
    assert "nd.dedup(\n    &#34;texts.jsonl&#34;," in page
    assert "<code>neardup explore out</code>" in page
    assert "INPUT" not in page
