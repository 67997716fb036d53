"""People label the pairs of a file in the browser, by mouse and by keys."""

import json

import pytest
from tests.explore.browser.serving import explored
from tests.labels.samples import PAIRS, written

from neardup.labels import read_labels

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture
def served(browser, tmp_path, monkeypatch):
    monkeypatch.setenv("NEARDUP_CACHE", str(tmp_path / "cache"))
    with explored(written(tmp_path / "pairs.csv"), "--by", "ann") as running:
        yield running


@pytest.fixture
def page(visit, served):
    return visit(served.origin).open(served.at("/"))


def ids(page):
    return tuple(page.locator(".sides .id").all_inner_texts())


def stored(served):
    path = served.out.with_name("pairs.csv.decisions.jsonl")
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [
        (one["says"], one["by"], tuple(named["id"] for named in one["documents"]))
        for one in map(json.loads, lines)
    ]


def after(page, action):
    with page.expect_navigation():
        action()


def test_mouse_and_keys_label_the_pairs(page, served):
    assert page.url == served.at("/review")
    expect(page.locator("h1")).to_have_text("Review")
    assert ids(page) == PAIRS[0]
    after(page, lambda: page.get_by_role("button", name="Same").click())
    expected = [("same", "ann", PAIRS[0])]
    assert stored(served) == expected
    assert ids(page) == PAIRS[1]
    page.keyboard.press("1")  # keeps nothing: pairs are only labelled
    after(page, lambda: page.keyboard.press("d"))
    expected.append(("different", "ann", PAIRS[1]))
    assert stored(served) == expected
    after(page, lambda: page.keyboard.press("u"))
    assert ids(page) == PAIRS[1]
    after(page, lambda: page.keyboard.press("s"))
    after(page, lambda: page.keyboard.press("n"))
    after(page, lambda: page.keyboard.press("d"))
    expect(page.locator(".empty")).to_have_text("All 4 pairs to label are decided.")
    expect(page.locator("#command")).to_have_text(
        f"neardup tune INPUT --labels {served.out} -o settings.toml"
    )
    labels = read_labels(served.out)
    found = zip(labels.a.to_pylist(), labels.b.to_pylist(), labels.same.tolist(), strict=True)
    assert {(frozenset((a, b)), same) for a, b, same in found} == {
        (frozenset(PAIRS[0]), True),
        (frozenset(PAIRS[1]), True),
        (frozenset(PAIRS[3]), False),
    }


def test_every_page_of_the_header_opens(page, served):
    for name in ("Decisions", "Laboratory", "Review"):
        page.get_by_role("navigation").get_by_role("link", name=name).click()
        expect(page.locator("h1")).to_have_text(name)
    page.locator(".sides .id").first.click()
    expect(page.locator("h1")).to_contain_text(PAIRS[0][0])
    page.get_by_role("link", name="compare").first.click()
    expect(page.locator("h1")).to_have_text("Compare two documents")
