"""docs/how-it-works/reproductions.md: its numbers match the results, and its text follows."""

import json
from pathlib import Path

import pytest
from scripts.reproductions_page import facts, page, pictures, results, tables
from scripts.scheme_quality import results as scheme_results

from neardup.lab.reproduce.published import CAIM, IRRS

RESULTS = results.load()


def test_page_is_made_of_the_committed_results():
    assert page.PAGE.read_text(encoding="utf-8") == page.page(RESULTS)


@pytest.mark.parametrize("name", ["recall", "rotation", "borders", "edits", "dimensions"])
def test_page_shows_every_picture(name):
    assert f"](../images/reproduction-{name}.png)" in page.PAGE.read_text(encoding="utf-8")
    assert (pictures.IMAGES / f"reproduction-{name}.png").exists()


def test_a_blank_that_nobody_fills_is_refused(monkeypatch, tmp_path):
    template = tmp_path / "template.md"
    template.write_text(page.TEMPLATE.read_text(encoding="utf-8") + "{{unheard_of}}", "utf-8")
    monkeypatch.setattr(page, "TEMPLATE", template)
    with pytest.raises(SystemExit, match="unheard_of"):
        page.page(RESULTS)


@pytest.mark.parametrize(("part", "lab"), [("caim", CAIM), ("irrs", IRRS)])
def test_published_values_stand_beside_ours(part, lab):
    rows = RESULTS[part]["tables"][0]["rows"]
    assert [row["published_candidates"] for row in rows] == [row.candidates for row in lab.rows]
    for row in rows:
        assert row["candidates"] == pytest.approx(row["scaled_candidates"], rel=0.07)


def test_labs_that_are_fast_find_least():
    rows = RESULTS["caim"]["tables"][0]["rows"]
    by_recall = sorted(rows, key=lambda row: row["recall"])
    assert (by_recall[0]["bands"], by_recall[0]["band_bits"]) == (2, 27)
    assert (by_recall[-1]["bands"], by_recall[-1]["band_bits"]) == (4, 10)
    assert max(rows, key=lambda row: row["seconds"]) is by_recall[-1]
    recall = RESULTS["recall"]
    assert 2 * recall["rows"][-1]["pairs"] > recall["pairs"]
    for plan in recall["plans"]:
        assert facts.edited_recall(recall, plan) < by_recall[-1]["recall"] - 0.1


def test_the_formula_holds():
    for row in RESULTS["recall"]["rows"]:
        for plan in RESULTS["recall"]["plans"]:
            assert row[plan]["recall"] == pytest.approx(row[plan]["predicted"], abs=0.07)


def test_tie_rules_give_the_same_candidates():
    shapes = [
        {(row["bands"], row["band_bits"]): row["candidates"] for row in part["tables"][0]["rows"]}
        for part in (RESULTS["caim"], RESULTS["irrs"])
    ]
    shared = set(shapes[0]) & set(shapes[1])
    assert {(3, 12), (3, 18), (4, 18)} <= shared
    assert all(shapes[0][shape] == shapes[1][shape] for shape in shared)


def test_rotating_finds_isolated_pairs_and_loses_crowds():
    for bits, most in ((64, 0.95), (32, 0.8)):
        for corpus in ("arxiv", "licenses"):
            row = facts.rotation_row(RESULTS["rotation"], corpus, bits)
            assert row["recall"][0][0] >= most
            for recalls in zip(*row["recall"], strict=True):
                known = [recall for recall in recalls if recall is not None]
                assert known == sorted(known)
    licences = facts.rotation_row(RESULTS["rotation"], "licenses", 64)
    assert licences["recall"][0][3] < 0.2
    assert licences["recall"][0][4] < 0.25
    assert facts.rotation_row(RESULTS["rotation"], "arxiv", 32)["recall"][0][4] < 0.25


def test_three_bits_are_too_tight_for_edits():
    schemes = scheme_results.load()
    for corpus in ("django_docs", "arxiv", "tang_poems"):
        found = facts.true_distances(schemes, corpus, "the blog's recipe")
        assert found.within(3) < 0.75
        assert found.within(10) > found.within(3) + 0.2
    less, more = (
        [row["within"][0] for row in RESULTS["edits"]["rows"] if row["low"] == low]
        for low in (0.8, 0.95)
    )
    assert max(less) < 0.25 < min(more)


def test_top_bits_crowd():
    numbers = RESULTS["blog"]["numbers"]
    assert numbers["shared"] > 4 * numbers["fair"]
    flipped, by_tables = (row["pairs"] for row in RESULTS["blog"]["tables"][0]["rows"][1:3])
    assert flipped == by_tables == RESULTS["blog"]["tables"][0]["rows"][0]["pairs"]


def test_borders_lose_more_the_more_lengths_differ():
    for row in RESULTS["borders"]["rows"]:
        assert row["in_windows"] < row["similar_lengths"] < row["all_with_all"]
        pairs, apart = row["by_ratio"][0]
        assert pairs
        assert not apart
        last_pairs, last_apart = row["by_ratio"][-1]
        assert last_apart > 0.85 * last_pairs
        assert sum(pairs for pairs, _ in row["by_ratio"]) == row["known_similar"]
        assert sum(apart for _, apart in row["by_ratio"]) == row["known_lost"]


@pytest.mark.parametrize("corpus", ["arxiv", "tang_poems"])
def test_42_dimensions_are_too_few_and_64_are_not(corpus):
    measured = RESULTS["dimensions"]
    plain = facts.found_rarely(measured, corpus, None)
    found = [
        facts.found_rarely(measured, corpus, f"sphere:{dimension}x64")
        for dimension in measured["dimensions"]
    ]
    small = found[: measured["dimensions"].index(64)]
    assert small == sorted(small)
    assert facts.found_rarely(measured, corpus, "sphere:42x64") < plain
    for dimension in (64, 96, 128):
        again = facts.found_rarely(measured, corpus, f"sphere:{dimension}x64")
        assert again == pytest.approx(plain, abs=0.05)


def test_scatter_is_the_standard_deviation():
    assert tables.scatter([1] + [0] * 63 + [1]) == 32


def test_results_are_read_back_as_they_were_written(tmp_path: Path):
    written = {"slides": {"rows": [{"name": "詩" * 60, "true": [1, None]}] * 3, "a": 1.5}, "b": {}}
    results.save(written, tmp_path / "reproductions.json")
    assert results.load(tmp_path / "reproductions.json") == written
    assert json.loads((tmp_path / "reproductions.json").read_text(encoding="utf-8")) == written
