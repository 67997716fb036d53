"""Containment and inclusion on the command line: dedup, explain, compare, index, and refusals."""

import json
import sys
from types import SimpleNamespace

import pytest
from tests.deduplication.test_containment import ARTICLE, OTHER, PAGE
from tests.explore.browsing import Browser, text_of

from neardup.cli.app import main
from neardup.collection.settings import DedupSettings
from neardup.distributed.run import require_distributed
from neardup.errors import SettingError


@pytest.fixture
def neardup(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)
    rows = {"article": ARTICLE, "other": OTHER, "page": PAGE, "copy": ARTICLE, "empty": ""}
    lines = [json.dumps({"id": name, "text": text}) + "\n" for name, text in rows.items()]
    (tmp_path / "in.jsonl").write_text("".join(lines), encoding="utf-8")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["neardup", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stopped.value.code, out=out, err=err)

    return run


@pytest.mark.parametrize("measure", ["containment", "inclusion"])
def test_the_article_inside_a_page_is_removed_and_explained(neardup, tmp_path, measure):
    options = ("--similarity", measure, "--keep", "longest", "--floor", "0.1", "-o", "out")
    done = neardup("dedup", "in.jsonl", *options)
    assert done.code == 0
    assert f"all of {measure} ≥ 0.1" in done.out + done.err
    said = neardup("explain", "out", "article")
    assert said.code == 0
    assert "1.0000 of" in said.out
    assert f"{measure} ≥ 0.8" in said.out
    assert "exact copy" not in said.out
    assert "article: 25 of 25 words (100%) shared" in said.out
    assert "quick brown fox" in said.out
    assert "[-" not in said.out  # no diff
    told = json.loads(neardup("explain", "out", "article", "--json").out)
    (span,) = told["spans"]["spans"]
    assert PAGE[span["b_start"] : span["b_end"]] == ARTICLE.rstrip(".")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"{measure} 1.0000" in page
    assert "25 of the 25 words of the removed document (100%) stand in the other one" in page
    assert '<blockquote class="shared">' in page
    again = neardup("rethreshold", "out", "1.0", "-o", "again")
    assert again.code == 0, again.err
    summary = json.loads((tmp_path / "again" / "summary.json").read_text(encoding="utf-8"))
    assert (summary["removed"], summary["settings"]["similarity"]) == (2, measure)


@pytest.mark.parametrize("measure", ["containment", "inclusion"])
def test_the_explorer_shows_such_a_run(neardup, tmp_path, measure):
    neardup("dedup", "in.jsonl", "--similarity", measure, "--keep", "longest", "-o", "out")
    browser = Browser(tmp_path / "out")
    assert "3 documents" in text_of(browser.page("/clusters/0"))
    shown = text_of(browser.page("/compare?a=page&b=article"))
    assert "containment 1.0000" in shown
    assert "of B in A 1.0000" in shown
    assert browser.page("/")


def test_a_part_of_another_collection_is_no_exact_copy(neardup, tmp_path):
    (tmp_path / "old.jsonl").write_text(json.dumps({"id": "old", "text": PAGE}) + "\n")
    neardup("dedup", "in.jsonl", "--against", "old.jsonl", "--similarity", "inclusion", "-o", "out")
    said = neardup("explain", "out", "article").out
    assert "removed because 1.0000 of it is in old of the other collection" in said


def test_compare_shows_both_directions(neardup):
    shown = neardup("compare", "--text", "a b c d", "--text", "x a b c d y", "--features", "word:1")
    assert "containment" in shown.out
    assert "1.0000 (of A in B 1.0000, of B in A 0.6666)" in shown.out or (
        "1.0000 (of A in B 1.0000, of B in A 0.6667)" in shown.out
    )


@pytest.mark.parametrize("measure", ["containment", "inclusion"])
def test_an_index(neardup, measure):
    made = neardup("index", "create", "seen.index", "--similarity", measure)
    assert f"finds {measure} ≥ 0.8, complete" in made.out
    assert neardup("index", "add", "seen.index", "in.jsonl").code == 0
    options = ("--against", "seen.index", "--similarity", measure, "-o", "out")
    found = neardup("dedup", "in.jsonl", *options)
    assert found.code == 0, found.err
    assert "4 removed, 1 kept" in found.out + found.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dedup", "in.jsonl", "-o", "o", "--candidates", "bands:8x8"), "use auto or exact"),
        (("dedup", "in.jsonl", "-o", "o", "--cluster", "components"), "use cluster='star'"),
        (("dedup", "in.jsonl", "-o", "o", "--keep", "none"), "use keep='first'"),
        (("tune", "in.jsonl"), "cannot be tuned"),
        (("curve", "--plan", "bands:8x8"), "inclusion"),
        (("index", "create", "i", "--max-distance", "3"), "give one of them"),
    ],
    ids=str,
)
def test_refusals_are_one_sentence(neardup, tmp_path, arguments, message):
    refused = neardup(*arguments, "--similarity", "inclusion")
    assert refused.code == 2
    assert message in refused.err
    assert len(refused.err.strip().splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize("measure", ["containment", "inclusion"])
def test_the_engine_spark_refuses(measure):
    with pytest.raises(SettingError, match="use the local engine"):
        require_distributed(DedupSettings.of(similarity=measure))
