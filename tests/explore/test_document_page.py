"""The page of a document, and of two documents compared."""

import re
from urllib.parse import quote

import pytest
from tests.explore.browsing import browse, links, text_of, varied

IDS = [
    "a/b",
    "a b",
    "50%",
    "100%25",
    "#1",
    "?x=1",
    "..",
    ".",
    "昨日",
    "أهلا",
    "a\\b",
    "007",
    "+",
    "&lt;",
]


@pytest.fixture
def browser(tmp_path):
    return browse(tmp_path, floor=0.3)


def test_a_kept_document_says_so(browser):
    page = text_of(browser.page("/documents/a"))
    assert " a kept " in page
    assert "cluster" in page


def test_a_removed_document_says_for_which_and_why(browser):
    page = browser.page("/documents/c")
    assert '<span class="badge removed">removed</span>' in page
    assert re.search(r"duplicate of</th><td><a href=\"/documents/a\">", page)
    assert "similarity 0.8" in page
    assert "/compare?a=a&b=c" in links(page)


def test_an_exact_copy_says_so(browser):
    assert "exact copy of" in browser.page("/documents/d")


def test_the_whole_text_and_all_columns_are_shown(browser):
    page = browser.page("/documents/c")
    assert varied("red", "green") in page
    assert re.search(r"<bdi>lang</bdi></th><td><bdi dir=\"auto\">de<", page)
    assert re.search(r"<bdi>year</bdi></th><td><bdi dir=\"auto\">2020<", page)


def test_neighbours_below_the_threshold_are_near_misses(tmp_path):
    browser = browse(tmp_path, threshold=0.95, floor=0.3)
    page = text_of(browser.page("/documents/c"))
    assert "below" in page
    assert "similarity of 0.3 or more" in page


def test_without_a_floor_the_page_says_how_to_list_more(tmp_path):
    assert "--floor" in browse(tmp_path, pairs="evidence").page("/documents/e")


def test_a_chain_is_shown_step_by_step(tmp_path):
    changes = [f"new{place}" for place in range(4)]
    rows = [{"id": f"s{place}", "text": varied(*changes[:place])} for place in range(5)]
    browser = browse(tmp_path, rows, cluster="components", threshold=0.8)
    page = browser.page("/documents/s4")
    chain = page[page.index('<ol class="chain">') :]
    chain = chain[: chain.index("</ol>")]
    steps = re.findall(r"<bdi class=\"id\">(s\d)</bdi>", chain)
    assert steps[0] == "s4"
    assert steps[-1] == "s0"
    assert len(steps) > 2


def test_ids_of_any_characters_have_a_page(tmp_path):
    rows = [{"id": id, "text": varied(f"w{place}")} for place, id in enumerate(IDS)]
    browser = browse(tmp_path, rows)
    for id in IDS:
        address = browser.explorer.site.document(id)
        page = browser.page(address)
        assert f"w{IDS.index(id)} " in page
    assert browser.page(f"/documents/{quote('a/b')}")
    number = browser.run.document(0).cluster
    for address in {one.partition("#")[0] for one in links(browser.page(f"/clusters/{number}"))}:
        if address.startswith(("/documents", "/clusters/", "/compare")):
            assert browser.get(address).status == 200, address


def test_long_ids_are_linked_by_place(tmp_path):
    rows = [{"id": "x" * 5000, "text": varied("one")}, {"id": "short", "text": varied("two")}]
    browser = browse(tmp_path, rows)
    found = links(browser.page("/clusters/0"))
    assert "/documents?place=0" in found
    assert "/documents/short" in found
    assert varied("one") in browser.page("/documents?place=0")


def test_an_unknown_id_leads_to_a_search(browser):
    page = browser.page("/documents/nobody", 404)
    assert "/clusters?search=nobody" in links(page)
    browser.page("/documents?place=99", 404)
    browser.page("/others/a", 404)


def test_a_long_text_is_cut_with_a_note(tmp_path):
    text = " ".join(f"word{place}" for place in range(30_000))
    browser = browse(tmp_path, [{"id": 1, "text": text}, {"id": 2, "text": "short"}])
    page = browser.page("/documents/1")
    assert f"The first 20,000 of {len(text):,} characters" in text_of(page)
    (more,) = [one for one in links(page) if "all=1" in one]
    longer = browser.page(more)
    assert len(longer) > 2 * len(page)
    assert "all=1" not in longer


def test_documents_of_the_other_collection(tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text(f'{{"id": "o/1", "text": "{varied("red")}"}}\n')
    browser = browse(tmp_path, against=str(other))
    page = browser.page("/others/o%2F1")
    assert "other collection" in page
    assert varied("red") in page
    removed = browser.page("/documents/b")
    assert "/others/o%2F1" in links(removed)
    for compare in {one for one in links(removed) if one.startswith("/compare")}:
        assert "_place=" in compare
        assert "similarity" in browser.page(compare)


def test_two_documents_are_compared_by_the_scheme_of_the_run(browser):
    page = text_of(browser.page("/compare?a=a&b=c"))
    assert "Jaccard" in page
    assert "green" in page
    assert "shared" in page
    form = browser.page("/compare")
    assert 'name="a"' in form
    browser.page("/compare?a=a&b=nobody", 404)
    assert "the same document" in browser.page("/compare?a=a&b=a")
