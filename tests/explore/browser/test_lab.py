"""The laboratory answers while one types."""

import pytest
from tests.explore.browser.samples import deduplicated
from tests.explore.browser.serving import explored

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture(scope="module")
def served(browser, tmp_path_factory):
    rows = [{"id": 1, "text": "one text"}, {"id": 2, "text": "another one"}]
    with explored(deduplicated(tmp_path_factory.mktemp("lab"), rows)) as running:
        yield running


@pytest.fixture
def open_lab(visit, served):
    visitor = visit(served.origin)
    return lambda name: visitor.open(served.at(f"/lab/{name}"))


def tile(page, name):
    return page.locator(".tiles > div", has_text=name).locator("dd")


def test_distance_and_bits_change_with_the_text(open_lab):
    page = open_lab("texts")
    distance = tile(page, "Hamming distance")
    before = distance.inner_text()
    page.get_by_label("Text B").fill("something that has nothing to do with the other text at all")
    expect(distance).not_to_have_text(before)
    page.wait_for_url("**b=something**")
    # Each differing bit is framed in both rows.
    assert page.locator("#shown .bits .x").count() == 2 * int(distance.inner_text())
    text = page.get_by_label("Text A").input_value()
    page.get_by_label("Text B").fill(text)
    expect(distance).to_have_text("0")
    expect(page.locator("#shown .bits .x")).to_have_count(0)
    page.get_by_label("Text B").press_sequentially("!")
    page.get_by_label("Bits").fill("16")
    expect(page.locator(".tiles dt").first).to_have_text("Hamming distance, of 16 bits")
    page.reload()
    expect(page.locator(".tiles dt").first).to_have_text("Hamming distance, of 16 bits")
    expect(page.get_by_label("Text B")).to_have_value(text + "!")


def test_texts_of_any_script_stay_texts(open_lab):
    page = open_lab("texts")
    page.get_by_label("Text A").fill(
        "<img src=x onerror='window.__hacked=1'> 今天天气很好 \u202eabc"
    )
    page.get_by_label("Features").fill("word:1")
    expect(page.locator("#shown")).to_contain_text("onerror")
    expect(page.locator("#shown")).to_contain_text("天")
    assert page.evaluate("window.__hacked") is None


def test_a_field_that_is_wrong_is_explained_beside_it(open_lab):
    page = open_lab("texts")
    bits = page.get_by_label("Bits")
    bits.fill("0")
    expect(bits).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#bits-wrong")).to_be_visible()
    expect(page.locator("#stale")).to_be_visible()
    bits.fill("32")
    expect(page.locator("#bits-wrong")).to_be_hidden()
    expect(page.locator("#stale")).to_be_hidden()


def test_the_curve_moves_with_its_plan(open_lab):
    page = open_lab("curve")
    path = page.locator("#shown svg .plot-curve").first
    before, said = path.get_attribute("d"), page.locator("#shown strong").first.inner_text()
    page.get_by_role("slider").focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    expect(page.locator("#shown strong").first).not_to_have_text(said)
    page.get_by_label("Plan", exact=True).fill("bands:2x32")
    page.wait_for_url("**bands**")
    assert page.locator("#shown svg .plot-curve").first.get_attribute("d") != before


def test_two_hash_families_are_compared(open_lab):
    page = open_lab("hashes")
    families = page.locator("#shown table").first.locator("thead th")
    page.get_by_label("Second family").fill("")
    expect(families).to_have_count(2)
    expect(page.locator("#shown figure")).to_have_count(2)
    page.get_by_label("Second family").fill("md5")
    expect(families).to_have_text(["Family", "nd1", "md5"])
    expect(page.locator("#shown figure")).to_have_count(4)
    page.get_by_role("link", name="a remainder that fails").click()
    page.wait_for_url("**keys=multiples**")


def test_the_sphere_settles(open_lab):
    page = open_lab("sphere")
    page.get_by_role("slider").fill("0")
    expect(tile(page, "iteration")).to_have_text("0")
    start = float(tile(page, "smallest angle").inner_text().strip("°"))
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    steps = page.locator("[data-steps]").get_attribute("data-steps")
    expect(tile(page, "iteration")).to_have_text(steps)
    assert float(tile(page, "smallest angle").inner_text().strip("°")) > start
    page.get_by_label("Lines", exact=True).fill("7")
    page.get_by_label("Dimensions").select_option("2")
    expect(tile(page, "optimum")).to_have_text("25.71°")


def test_without_scripts_the_forms_answer(visit, served):
    page = visit(served.origin, java_script_enabled=False).open(served.at("/lab"))
    page.get_by_role("link", name="Two texts").click()
    page.get_by_label("Text A").fill("one two three four")
    page.get_by_label("Text B").fill("one two three four")
    page.get_by_role("button", name="Show").click()
    expect(tile(page, "Hamming distance")).to_have_text("0")
    page.get_by_role("link", name="Settling sphere").click()
    page.get_by_role("link", name="5", exact=True).click()
    expect(tile(page, "iteration")).to_have_text("5")
    page.get_by_role("link", name="S-curve").click()
    page.get_by_label("Plan", exact=True).fill("bands:2x32")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#shown")).to_contain_text("bands:2")
