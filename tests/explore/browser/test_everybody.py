"""Every page is for everybody: by keys, by ear, in the light and in the dark, on a phone."""

from contextlib import ExitStack

import pytest
from tests.explore.browser.accessibility import findings, tab_stops
from tests.explore.browser.addresses import LABORATORY, pages_of
from tests.explore.browser.samples import code_run, records_run, sample_run
from tests.explore.browser.serving import explored

expect = pytest.importorskip("playwright.sync_api").expect
MOST_SHIFT = 0.02
MOST_BYTES = 100_000
# How far the layout has shifted, once the page is drawn.
_SHIFT = """() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(window.__shift)))))
"""
RUNS = {"sample": sample_run, "records": records_run, "code": code_run}
# A page of each kind, for the runs whose pages differ only in their texts.
OF_TEXTS = ("cluster", "cluster-inline", "document-removed", "compare", "review", "decisions")


@pytest.fixture(scope="module")
def served(browser, tmp_path_factory):
    """Each run, with a decision, being served; by name."""
    with ExitStack() as running:
        found = {}
        for name, make in RUNS.items():
            one = running.enter_context(
                explored(make(tmp_path_factory.mktemp(name)), "--by", "ann")
            )
            page = browser.new_page()
            page.goto(one.at("/review"))
            with page.expect_navigation():
                page.keyboard.press("d")
            page.close()
            found[name] = one
        yield found


def pages(served, name):
    every = pages_of(served[name].out)
    if name == "sample":
        return every | LABORATORY
    return {key: every[key] for key in OF_TEXTS}


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 360)])
@pytest.mark.parametrize("name", list(RUNS))
def test_every_page(visit, served, name, theme, width):
    visitor = visit(
        served[name].origin, color_scheme=theme, viewport={"width": width, "height": 800}
    )
    visitor.expect("status of 404")
    page = visitor.open()
    wrong = {}
    titles = {}
    for what, address in pages(served, name).items():
        page.goto(served[name].at(address))
        shift = page.evaluate(_SHIFT)
        # Folded parts are read too.
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        found = findings(page)
        if shift >= MOST_SHIFT:
            found.append(f"the layout shifts by {shift:.3f}")
        if found:
            wrong[what] = found
        titles.setdefault(page.title(), set()).add(address.split("?")[0])
    assert wrong == {}
    assert [title for title, paths in titles.items() if len(paths) > 1] == []
    assert max(visitor.sizes.values()) <= MOST_BYTES


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_at_other_widths_and_chosen_themes(visit, served, theme):
    """A chosen theme must not mix with that of the system."""
    system = {"light": "dark", "dark": "light"}[theme]
    one = served["sample"]
    visitor = visit(one.origin, color_scheme=system, viewport={"width": 800, "height": 800})
    page = visitor.open(one.at())
    page.evaluate("(theme) => localStorage.setItem('neardup-theme', theme)", theme)
    every = pages(served, "sample")
    for what in ("overview", "clusters", "cluster", "threshold", "decisions", "lab-texts"):
        page.goto(one.at(every[what]))
        assert findings(page, "contrast", "sizes") == [], what


@pytest.mark.parametrize("what", ["overview", "clusters", "cluster", "review", "lab-texts"])
def test_the_tab_key_visits_everything_and_leaves(visit, served, what):
    one = served["sample"]
    page = visit(one.origin).open(one.at(pages(served, "sample")[what]))
    reachable = page.evaluate(
        "[...document.querySelectorAll('a[href], button:not(:disabled), select, textarea, summary, "
        "input:not([type=hidden], :disabled)')].filter((one) => one.checkVisibility()).length"
    )
    stops = tab_stops(page)
    # Regions that scroll are visited too.
    assert reachable <= len(stops) <= reachable + 5


def test_the_first_stop_leads_to_the_content(visit, served):
    one = served["sample"]
    page = visit(one.origin).open(one.at("/clusters"))
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Search words")).to_be_focused()


def test_pages_can_be_enlarged(visit, served):
    """At 400 % a page of 1280 pixels is 320 wide: nothing is cut off."""
    one = served["sample"]
    page = visit(one.origin, viewport={"width": 320, "height": 256}).open()
    for what, address in pages(served, "sample").items():
        if what.startswith("missing"):
            continue
        page.goto(one.at(address))
        assert page.evaluate("document.scrollingElement.scrollWidth") <= 320, what


def test_colours_are_not_needed(visit, served):
    """With forced colours, as people with low vision have them, the marks of a diff remain."""
    one = served["sample"]
    page = visit(one.origin, forced_colors="active").open(
        one.at(pages(served, "sample")["cluster"])
    )
    for mark, line in (("del", "line-through"), ("ins", "underline")):
        drawn = page.locator(f".diff {mark}").first.evaluate(
            "one => getComputedStyle(one).textDecorationLine"
        )
        assert line in drawn


BAD = """<!doctype html><html><head><title></title><style>
  .faint { color: #999; background: #fff } a:focus { outline: none }
  .tiny { display: inline-block; width: 9px; height: 9px }
</style></head><body><h1>One</h1><h3>Leap</h3><p class="faint">faint</p>
<img src="data:,"><svg role="img"></svg><input id="twice"><button></button><i id="twice"></i>
<a href="#" class="tiny">a</a><a href="#" class="tiny">b</a><b tabindex="3">x</b>
<table><tr><td>1</td></tr><tr><th aria-sort="up">2</th></tr></table></body></html>"""


def test_the_checks_find_what_is_wrong(browser):
    page = browser.new_page()
    page.set_content(BAD)
    found = "\n".join(findings(page))
    page.close()
    for fault in (
        "the page has no language",
        "the page has no title",
        "there is no main",
        "a heading leaps from level 1 to 3",
        "contrast 2.85 of text",
        "an image without a name",
        "a drawing without a name",
        "a field without a label",
        "a button or link without a name",
        "the id twice occurs twice",
        "a positive tabindex",
        "aria-sort cannot be up",
        "a header without a scope",
        "a target of 9 × 9 pixels",
        "the focus cannot be seen",
    ):
        assert fault in found, fault
