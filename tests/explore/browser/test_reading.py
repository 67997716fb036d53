"""The first questions about a run: what went, why, was it right?"""

import json
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.explore.browser.samples import (
    EXAMPLES,
    code_run,
    records_run,
    run_neardup,
    sample_run,
)
from tests.explore.browser.serving import explored

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def sample(browser, tmp_path_factory):
    with explored(sample_run(tmp_path_factory.mktemp("sample"))) as served:
        yield served


@pytest.fixture
def page(visit, sample):
    return visit(sample.origin).open(sample.at())


@pytest.fixture
def clusters(page, sample):
    page.goto(sample.at("/clusters"))
    return page


def titles(page):
    return page.locator(".cluster-list tbody .id").all_inner_texts()


def figures(page, name):
    """The numbers in a column of the list of clusters."""
    cells = page.locator(f"td[data-name={name}]").all_inner_texts()
    return [float(text.strip(" %–") or "nan") for text in cells]


def documents_with(test):
    """The ids of the documents of the sample that pass a test."""
    rows = [json.loads(line) for line in (EXAMPLES / "sample.jsonl").open(encoding="utf-8")]
    return {row["id"] for row in rows if test(row)}


def test_what_went_why_and_was_it_right(page, sample):
    expect(page.locator("h1")).to_have_text("355 documents: 165 removed, 190 kept")
    page.get_by_role("link", name="largest clusters").click()
    page.locator(".cluster-list tbody a").first.click()
    expect(page.locator("h1")).to_contain_text("4 documents")
    assert page.locator(".diff del").count() > 0
    assert page.locator(".diff ins").count() > 0
    page.locator(".members th a").last.click()
    expect(page.locator("h1 .badge")).to_have_text("removed")
    expect(page.locator("main > p").first).to_contain_text("Removed as a near-duplicate of")
    page.get_by_role("link", name="Compare the two").click()
    expect(page.locator("h1")).to_have_text("Compare two documents")


def test_a_bar_of_the_histogram_opens_its_clusters(page):
    figure = page.locator("figure", has_text="Similarity of removed documents")
    bar = figure.locator('svg a[href*="/clusters"]').first
    bounds = re.search(
        r"similarity_least=([\d.]+).*similarity_most=([\d.]+)", bar.get_attribute("href")
    )
    least, most = map(float, bounds.groups())
    bar.click()
    expect(page.locator("h1")).to_have_text("Clusters")
    expect(page.get_by_label("a removal with a similarity of at least")).to_have_value(f"{least:g}")
    expect(page.get_by_role("status")).to_contain_text("of 88 clusters")
    weakest = figures(page, "weakest")
    assert weakest
    assert all(value <= most for value in weakest)


def test_a_bar_is_opened_by_keys(page):
    bar = page.locator('figure svg a[href*="size_least"]').first
    bar.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/clusters?**")
    assert set(figures(page, "size")) == {2.0}


def test_tiles_lead_to_what_they_count(page):
    tile = page.locator(".tiles div", has_text=re.compile("^near copies removed"))
    tile.get_by_role("link").click()
    page.wait_for_url("**sort=weakest*")
    weakest = figures(page, "weakest")
    assert weakest == sorted(weakest)


def test_a_column_shows_which_value_repeats_which(page):
    page.get_by_label("By", exact=True).select_option("lang")
    page.locator("#matrix").get_by_role("button").click()
    page.wait_for_url("**by=lang**")
    table = page.locator("table.matrix")
    expect(table).to_be_visible()
    total = sum(
        int(text.replace(",", ""))
        for text in table.locator("tbody td").all_inner_texts()
        if text.strip().isdigit()
    )
    assert total == 165


@pytest.mark.parametrize("column", ["#", "Size", "Weakest", "Density"])
def test_each_header_sorts(clusters, column):
    name = {"#": ".which", "Size": "[data-name=size]"}.get(column, f"[data-name={column.lower()}]")
    found = []
    for _ in range(2):
        clusters.locator("thead a", has_text=column).click()
        order = clusters.locator("th[aria-sort]")
        expect(order).to_have_count(1)
        cells = clusters.locator(f"tbody {name}").all_inner_texts()
        numbers = [float(re.sub(r"[^\d.]", "", cell)) for cell in cells]
        is_down = order.get_attribute("aria-sort") == "descending"
        assert all(a >= b if is_down else a <= b for a, b in pairwise(numbers))
        found.append(is_down)
    assert sorted(found) == [False, True]


@pytest.mark.parametrize(
    ("typed", "test"),
    [
        (
            "swimming pool",
            lambda row: {"swimming", "pool"} <= set(re.findall(r"\w+", row["text"].lower())),
        ),
        ("紫砂壶", lambda row: "紫砂壶" in row["text"]),
        ("lang:zh", lambda row: row["lang"] == "zh"),
        ("zh-12", lambda row: row["id"].startswith("zh-12")),
        ('"swimming pool asks"', lambda row: "swimming pool asks" in row["text"].lower()),
    ],
)
def test_search_finds_the_clusters_of_documents(clusters, sample, typed, test):
    clusters.keyboard.press("/")
    clusters.keyboard.type(typed)
    clusters.keyboard.press("Enter")
    clusters.wait_for_url("**search=**")
    # What is shown must be exactly the clusters that hold such a document.
    table = pq.read_table(sample.out / "clusters.parquet").to_pydict()
    ids = documents_with(test)
    wanted = {c for c, id in zip(table["cluster"], table["id"], strict=True) if id in ids}
    assert wanted
    shown = set()
    while True:
        numbers = clusters.locator("tbody .which a").all_inner_texts()
        shown |= {int(re.sub(r"\D", "", number)) for number in numbers}
        later = clusters.locator("a[rel=next]")
        if not later.count():
            break
        later.click()
        clusters.wait_for_load_state()
    assert shown == wanted
    expect(clusters.get_by_label("Search words")).to_have_value(typed)


def test_a_search_without_results_says_what_to_do(clusters):
    clusters.get_by_label("Search words").fill("nothinghasthisword")
    clusters.get_by_role("button", name="Search").click()
    expect(clusters.locator(".empty")).to_contain_text("No cluster has a document with")
    clusters.get_by_role("link", name="Show all 88 clusters").click()
    expect(clusters.get_by_role("status")).to_contain_text("88 clusters")


def test_filters_hold_while_sorting(clusters):
    clusters.get_by_label("at least this many documents").fill("4")
    clusters.get_by_role("button", name="Filter").click()
    clusters.wait_for_url("**size_least=4**")
    # Empty fields are no part of an address.
    assert "search=" not in clusters.url
    clusters.locator("thead a", has_text="Weakest").click()
    clusters.wait_for_url("**sort=weakest**")
    assert set(figures(clusters, "size")) == {4.0}
    clusters.get_by_label("members below the threshold").check()
    clusters.get_by_role("button", name="Filter").click()
    expect(clusters.locator(".empty")).to_contain_text("No cluster passes these filters")


def test_pages_of_the_list(clusters):
    seen = titles(clusters)
    for number in (2, 3, 4):
        clusters.get_by_role("link", name="Next").click()
        expect(clusters.locator(".pages [aria-current=page]")).to_have_text(str(number))
        seen += titles(clusters)
    assert len(seen) == len(set(seen)) == 88
    expect(clusters.get_by_role("link", name="Next")).to_have_count(0)
    clusters.locator(".chips a", has_text="100").click()
    expect(clusters.locator("tbody tr")).to_have_count(88)


def test_keys_select_and_open_a_cluster(clusters):
    rows = clusters.locator("[data-row]")
    for key, place in (("j", 0), ("j", 1), ("j", 2), ("k", 1)):
        clusters.keyboard.press(key)
        expect(clusters.locator("[data-selected]")).to_have_count(1)
        assert rows.nth(place).get_attribute("data-selected") is not None
    number = re.sub(r"\D", "", rows.nth(1).locator(".which").inner_text())
    clusters.keyboard.press("Enter")
    clusters.wait_for_url(f"**/clusters/{number}")
    clusters.go_back()
    # In a field they are letters.
    clusters.keyboard.press("/")
    clusters.keyboard.type("jk/")
    expect(clusters.get_by_label("Search words")).to_have_value("jk/")


def test_any_two_members_are_compared(page, sample):
    page.goto(sample.at("/clusters/2"))
    sides = page.locator(".sides .id")
    expect(sides).to_have_count(2)
    before = sides.all_inner_texts()
    page.get_by_role("link", name="compare zh-12").first.click()
    page.wait_for_url("**with=**")
    assert sides.all_inner_texts() != before
    assert sides.all_inner_texts()[0] == before[0]
    page.keyboard.press("j")
    expect(page.locator(".sides .id").nth(1)).to_have_text(before[1])
    page.locator("tr", has_text="zh-12").get_by_role("link", name=re.compile("^with B")).click()
    page.wait_for_url("**/clusters/2?**")
    assert sides.all_inner_texts()[0] != before[0]


def test_side_by_side_or_inline(page, sample):
    page.goto(sample.at("/clusters/2"))
    assert page.locator(".diff .row").count() > 1
    page.get_by_role("link", name="Inline").click()
    page.wait_for_url("**view=inline**")
    expect(page.locator(".diff.inline")).to_be_visible()
    assert page.locator(".diff.inline del").count() > 0
    assert page.locator(".diff.inline ins").count() > 0


def test_exact_copies_are_folded(page, sample):
    page.goto(sample.at("/clusters/2"))
    copies = page.locator(".copies")
    expect(copies).to_be_hidden()
    page.get_by_text("1 exact copy", exact=True).click()
    expect(copies).to_be_visible()
    expect(copies.get_by_role("link")).to_have_count(1)


def test_nodes_of_the_graph_choose_a_member(page, sample):
    page.goto(sample.at("/clusters/2"))
    nodes = page.locator("svg a.node")
    expect(nodes).to_have_count(3)
    name = nodes.nth(1).locator("text").text_content()
    nodes.nth(1).click()
    page.wait_for_url("**with=**")
    expect(page.locator(".sides")).to_contain_text(name)


def test_documents_below_the_threshold_are_neighbours(page, sample):
    page.goto(sample.at("/review?at=1"))
    page.locator(".sides a").first.click()
    below = page.locator("tr", has=page.locator(".badge.undecided"))
    expect(below.first).to_contain_text("below")
    below.first.get_by_role("link", name=re.compile("^compare")).click()
    expect(page.locator("h1")).to_have_text("Compare two documents")


def test_records_are_a_table_with_the_differing_fields_marked(visit, browser, tmp_path):
    with explored(records_run(tmp_path)) as served:
        page = visit(served.origin).open(served.at("/clusters/1"))
        page.locator("tr", has_text="person-1-moved").get_by_role(
            "link", name=re.compile("^compare")
        ).or_(
            page.locator("tr[aria-current]", has_text="person-1-moved").locator("b")
        ).first.click()
        fields = page.locator(".record").first.locator("tbody tr")
        expect(fields).to_have_count(5)
        differing = page.locator(".record").first.locator("tr.differing")
        expect(differing).to_have_count(2)
        expect(differing.first.locator("th")).to_contain_text("street")
        expect(differing.first).to_contain_text("99 New Quay")
        expect(differing.last).to_contain_text("no evidence")
        # Screen readers find the number of a field by its row and column.
        table = page.get_by_role("table").first
        names = table.get_by_role("columnheader").all_inner_texts()
        assert names[0] == "Field"
        assert names[3:] == ["Similarity", "Weight", "Adds"]
        rows = table.get_by_role("rowheader").all_inner_texts()
        assert [row.split()[0] for row in rows] == [
            *("name", "street", "city", "phone", "born"),
            "Sum",
        ]
        added = table.locator("tbody td[data-name=adds]").all_inner_texts()
        total = table.locator("tfoot td").inner_text()
        assert abs(sum(map(float, added)) - float(total)) < 0.0005
        expect(page.locator("#pair")).to_contain_text(f"similarity {total}")


def test_records_need_no_script_and_are_decided_by_keys(visit, browser, tmp_path):
    with explored(records_run(tmp_path), "--by", "ann") as served:
        plain = visit(served.origin, java_script_enabled=False).open(served.at("/review"))
        expect(plain.locator(".scored tfoot td")).to_have_count(1)
        page = visit(served.origin).open(served.at("/review"))
        first = page.locator("[name=documents]").first.get_attribute("value")
        with page.expect_navigation():
            page.keyboard.press("s")
        assert page.locator("[name=documents]").first.get_attribute("value") != first
        expect(page.locator(".scored")).to_be_visible()
        with page.expect_navigation():
            page.keyboard.press("u")
        assert page.locator("[name=documents]").first.get_attribute("value") == first
        assert len(served.lines()) == 2


def test_code_keeps_its_indentation(visit, browser, tmp_path):
    with explored(code_run(tmp_path)) as served:
        page = visit(served.origin).open(served.document("ledger/queue.py"))
        text = page.locator(".document-text .text")
        assert text.evaluate("one => getComputedStyle(one).whiteSpaceCollapse") == "preserve"
        assert "\n    def put(self, item):\n        self._items" in text.inner_text()
        page.goto(served.at("/clusters/0"))
        lines = page.locator(".diff .text.code")
        assert any(line.startswith("        ") for line in lines.all_inner_texts())


def shown_figures(page):
    return dict(
        page.locator("[data-figure]").evaluate_all(
            "all => all.map(one => [one.dataset.figure, one.textContent.trim()])"
        )
    )


def row_figures(page, threshold):
    row = page.locator(f'tr[data-threshold="{threshold}"]')
    return dict(
        row.locator("[data-name]").evaluate_all(
            "all => all.map(one => [one.dataset.name, one.textContent.trim()])"
        )
    )


def test_the_slider_shows_what_another_threshold_gives(page, sample, tmp_path):
    page.goto(sample.at("/threshold"))
    slider = page.get_by_role("slider")
    assert shown_figures(page) == row_figures(page, "0.8")
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    expect(page.locator("output[data-chosen]")).to_have_text("0.9")
    assert shown_figures(page) == row_figures(page, "0.9")
    expect(page.locator('[data-change="removed"]')).to_have_text("−49")
    page.keyboard.press("Home")
    expect(page.locator("output[data-chosen]")).to_have_text("0.5")
    box = slider.bounding_box()
    page.mouse.move(box["x"] + 0.02 * box["width"], box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2, steps=8)
    page.mouse.up()
    chosen = page.locator("output[data-chosen]").inner_text()
    assert 0.65 < float(chosen) < 0.85
    shown = shown_figures(page)
    assert shown == row_figures(page, chosen)
    assert f"at={chosen}" in page.url
    # The command on the page gives what the page says.
    words = shlex.split(page.locator("h2", has_text="Apply it").locator("+ pre").inner_text())
    assert words[:2] == ["neardup", "rethreshold"]
    run_neardup(*words[1:-1], tmp_path / "out2", "-q")
    told = json.loads((tmp_path / "out2" / "summary.json").read_text())
    assert {name: str(told[name]) for name in ("kept", "removed", "clusters")} == {
        name: shown[name] for name in ("kept", "removed", "clusters")
    }
    page.reload()
    expect(page.locator("output[data-chosen]")).to_have_text(chosen)


def test_rethresholding_agrees_with_the_table_down_to_the_floor(page, sample, tmp_path):
    page.goto(sample.at("/threshold"))
    for threshold in ("0.5", "0.62", "0.91", "1"):
        out = Path(tmp_path / threshold)
        run_neardup("rethreshold", sample.out, threshold, "-o", out, "-q")
        told = json.loads((out / "summary.json").read_text())
        row = row_figures(page, threshold)
        assert [str(told[name]) for name in ("kept", "removed", "clusters")] == [
            row[name] for name in ("kept", "removed", "clusters")
        ]


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_the_theme_follows_the_system_until_one_is_chosen(visit, sample):
    visitor = visit(sample.origin)
    page = visitor.open(sample.at())
    page.emulate_media(color_scheme="light")
    light = background(page)
    page.emulate_media(color_scheme="dark")
    dark = background(page)
    assert light != dark
    button = page.get_by_role("button", name=re.compile("^Colours"))
    button.click()
    expect(button).to_have_text("Light")
    assert background(page) == light
    page.goto(sample.at("/clusters"))
    assert background(page) == light
    page.get_by_role("button", name="Colours: light").click()
    page.emulate_media(color_scheme="light")
    page.reload()
    assert background(page) == dark
    assert visitor.open(sample.at("/lab")).locator("html").get_attribute("data-theme") == "dark"
    page.get_by_role("button", name="Colours: dark").click()
    assert background(page) == light
