"""The overview: what went, why, and whether it was right, of runs of every kind."""

import json
import re

import pytest
from tests.explore.browsing import ROWS, Browser, text_of, varied

import neardup as nd


def run_of(folder, rows=ROWS, **settings):
    """The folder of a run of rows in two files."""
    (folder / "in").mkdir()
    half = len(rows) // 2
    for name, some in (("one.jsonl", rows[:half]), ("two.jsonl", rows[half:])):
        written = "".join(json.dumps(row) + "\n" for row in some)
        (folder / "in" / name).write_text(written, encoding="utf-8")
    nd.dedup(str(folder / "in"), **settings).save(folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return run_of(tmp_path_factory.mktemp("overview"), floor=0.3)


def test_it_tells_what_went_and_where_to_look(out):
    page = Browser(out).page("/")
    assert '<h1 class="headline">5 documents: 3 removed, 2 kept</h1>' in page
    assert 'href="/clusters">largest clusters</a>' in page
    assert 'href="/clusters?sort=weakest">weakest removals</a>' in page
    assert "a similarity of at least 0.8" in text_of(page)


def test_it_tells_what_was_run(out):
    text = text_of(Browser(out).page("/"))
    assert "0.3" in text
    assert "floor 0.3" in text
    assert "at their defaults" in text
    assert "nd1/word:3/set/64" in text
    assert "peak memory" in text
    assert "python 3." in text


def test_settings_that_differ_come_first(out):
    page = Browser(out).page("/")
    settings = page[page.index("<h3>Settings</h3>") : page.index("<h3>The run</h3>")]
    changed, _, usual = settings.partition("<details>")
    assert ">floor<" in changed
    assert ">pairs<" in changed
    assert ">bits<" not in changed
    assert ">bits<" in usual


def test_bars_lead_to_their_clusters(out):
    browser = Browser(out)
    links = re.findall(r'class="plot-link" href="([^"]*)"', browser.page("/"))
    links = [link.replace("&amp;", "&") for link in links]
    assert any(link.startswith("/clusters?size_least=") for link in links)
    assert any("similarity_least=" in link for link in links)
    for link in links:
        page = browser.page(link)
        if link.startswith("/clusters"):
            assert "data-row" in page, link


def test_near_misses_lead_to_the_queue(tmp_path):
    rows = [{"id": "1", "text": varied()}, {"id": "2", "text": varied("a", "b", "c", "d", "e")}]
    found = run_of(tmp_path, rows, floor=0.2)
    page = Browser(found).page("/")
    assert "near misses" in page
    assert re.search(r'class="plot-link" href="/review"', page)


def test_without_a_floor_the_plot_says_how_to_get_near_misses(tmp_path):
    assert "--floor 0.6" in Browser(run_of(tmp_path)).page("/")


def test_which_source_repeats_which(out):
    page = Browser(out).page("/")
    assert '<table class="matrix">' in page
    assert re.search(r'href="/clusters\?source=[^"]*two\.jsonl"', page)


def test_which_value_of_a_column_repeats_which(out):
    page = Browser(out).page("/?by=lang")
    assert '<option value="lang" selected>' in page
    assert "Removed documents by their lang" in page
    assert "no such column" in Browser(out).page("/?by=none", status=404)
    assert "do not repeat" in Browser(out).page("/?by=text", status=404)


def test_ids_and_texts_are_no_columns_to_compare_sources_by(out):
    page = Browser(out).page("/")
    assert '<option value="lang">' in page
    assert '<option value="id">' not in page
    assert '<option value="text">' not in page


def test_long_values_do_not_make_a_large_page(tmp_path):
    rows = [
        {
            "id": f"{kind}{copy}",
            "text": varied(f"w{kind}") + f" {kind}" * 60,
            "long": f"{kind}é" * 9999,
        }
        for kind in range(30)
        for copy in "ab"
    ]
    assert "é" in Browser(run_of(tmp_path, rows)).page("/?by=long")


def test_a_run_without_duplicates(tmp_path):
    rows = [{"id": name, "text": f"{name} " * 9} for name in ("x", "y")]
    text = text_of(Browser(run_of(tmp_path, rows)).page("/"))
    assert "2 documents: 0 removed, 2 kept" in text
    assert "No document duplicates another" in text
    assert "There are no clusters." in text


def test_an_empty_run(tmp_path):
    assert "0 documents" in Browser(run_of(tmp_path, [])).page("/")


@pytest.mark.parametrize(
    "settings",
    [
        {"cluster": "components", "pairs": "all"},
        {"similarity": "hamming", "threshold": 6, "pairs": "all"},
        {"similarity": "cosine", "weights": "count"},
        {"text": "text+lang", "keep": "longest"},
        {"pairs": "none"},
    ],
)
def test_runs_of_every_kind_have_their_pages(tmp_path, settings):
    browser = Browser(run_of(tmp_path, **settings))
    for path in ("/", "/clusters", "/threshold", "/?by=lang"):
        browser.page(path)


def test_a_run_against_another_collection(tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(ROWS[0]) + "\n")
    browser = Browser(run_of(tmp_path, ROWS[1:], against=str(other)))
    assert "compared with" in text_of(browser.page("/"))
    assert "other collection" in browser.page("/clusters")


def test_what_documents_and_columns_say_is_never_markup(tmp_path):
    trick = '"><script>alert(1)</script>\u202e'
    rows = [
        {"id": f"{trick}{row['id']}", "text": trick + row["text"], trick: trick} for row in ROWS
    ]
    browser = Browser(run_of(tmp_path, rows, text="text", id="id"), title=trick)
    for path in ("/", "/clusters", "/threshold"):
        page = browser.page(path)
        assert "<script>" not in page
        # The value of a field is not shown, and must come back as it is.
        assert "\u202e" not in re.sub(r' value="[^"]*"', "", page)
        assert "⟨U+202E⟩" in page


@pytest.mark.parametrize("path", ["/", "/clusters", "/threshold", "/nothing"])
def test_pages_have_no_inline_scripts_or_styles(out, path):
    page = Browser(out).get(path).body.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", page)


def test_below_a_base_every_link_begins_with_it(out):
    browser = Browser(out, base="/runs/x")
    for path in ("/", "/clusters", "/threshold"):
        links = re.findall(r'(?:href|src|action)="([^"]*)"', browser.page(path))
        assert all(link.startswith(("/runs/x/", "#")) for link in links), links
