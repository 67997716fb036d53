"""The list of clusters: sorted, filtered, searched and paged by its address."""

import json
import re

import pytest
from tests.explore.browsing import Browser, varied

import neardup as nd

MANY = 60


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A run of 60 clusters: cluster of `k` has 2 documents, or 5 for every tenth."""
    folder = tmp_path_factory.mktemp("clusters")
    with (folder / "in.jsonl").open("w", encoding="utf-8") as file:
        for number in range(MANY):
            words = varied(f"only{number}").split()
            text = " ".join(f"{word}x{number}" for word in words)
            copies = 5 if number % 10 == 0 else 2
            for copy in range(copies):
                edited = text.replace(words[30], f"edit{copy}", 1) if copy else text
                row = {"id": f"d{number}-{copy}", "text": f"{edited} шум{number}"}
                file.write(json.dumps(row) + "\n")
    nd.dedup(str(folder / "in.jsonl"), floor=0.5).save(folder / "out")
    return Browser(folder / "out")


def rows(page):
    """The ids of the kept documents, in the order of the page."""
    return re.findall(r'<th scope="row" class="what"><bdi class="id"[^>]*>(.*?)</bdi>', page)


def test_the_largest_come_first(browser):
    page = browser.page("/clusters")
    assert len(rows(page)) == 25
    assert all(re.fullmatch(r"d\d*0-0", id) for id in rows(page)[:6])
    assert f"{MANY} clusters, 1 to 25." in page
    assert 'aria-sort="descending"' in page


def test_pages_hold_every_cluster_once(browser):
    seen = []
    address = "/clusters"
    while address:
        page = browser.page(address)
        seen += rows(page)
        following = re.search(r'rel="next" href="([^"]*)"', page)
        address = following[1].replace("&amp;", "&") if following else ""
    assert len(seen) == len(set(seen)) == MANY


def test_a_header_sorts_and_turns_the_order_round(browser):
    page = browser.page("/clusters")
    weakest = re.search(r'href="([^"]*)"[^>]*>Weakest<', page)[1].replace("&amp;", "&")
    assert weakest == "/clusters?sort=weakest"
    sorted_page = browser.page(weakest)
    assert re.search(r'aria-sort="ascending"[^>]*><a[^>]*>Weakest<', sorted_page)
    turned = re.search(r'href="([^"]*)"[^>]*>Weakest<', sorted_page)[1].replace("&amp;", "&")
    assert turned == "/clusters?sort=weakest&order=descending"
    assert rows(browser.page(f"{turned}&per_page=100"))


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("size_least=5", 6),
        ("size_most=2", 54),
        ("size_least=3&size_most=4", 0),
        ("chains=1", 0),
        ("undecided=1", 60),
        ("similarity_least=0&similarity_most=1", 60),
        ("search=only7x7", 1),
        ("search=шум7", 1),
        ("search=nothing", 0),
        ("search=d3-", 1),
        ("search=only7x7&size_least=5", 0),
        ("size_least=&size_most=&search=&source=", 60),
    ],
)
def test_filters(browser, query, count):
    page = browser.page(f"/clusters?{query}&per_page=100")
    assert len(rows(page)) == count
    if not count:
        assert 'class="empty"' in page
        assert "Show all 60 clusters" in page


def test_what_was_asked_stays_in_the_form_and_in_links(browser):
    page = browser.page('/clusters?search="a&size_least=2&size_most=9&sort=weakest')
    assert 'name="search" value="&#34;a"' in page
    page = browser.page("/clusters?size_least=2&size_most=9&sort=weakest")
    assert 'name="size_least" min="1" step="1" value="2"' in page
    assert '<input type="hidden" name="sort" value="weakest">' in page
    assert "size_least=2&amp;size_most=9&amp;page=2" in page


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("page=99", 404, "There are 3 pages"),
        ("page=x", 400, "page must be a whole number"),
        ("sort=evil", 400, "sort must be one of"),
        ("order=up", 400, "order must be"),
        ("size_least=-1", 400, "size_least must be a whole number"),
        ("similarity_least=2", 400, "similarity_least must be a number from 0 to 1"),
    ],
)
def test_addresses_that_make_no_sense_get_a_sentence(browser, query, status, said):
    assert said in browser.page(f"/clusters?{query}", status)


@pytest.mark.parametrize("search", ['"', "a:", "*", "NEAR(", "'; --", "\0", "\u202e", "x" * 5000])
def test_any_search_has_a_page(browser, search):
    from urllib.parse import quote

    browser.page(f"/clusters?search={quote(search)}")


def test_a_page_of_a_hundred_is_small_enough(browser):
    assert len(rows(browser.page("/clusters?per_page=100"))) == MANY
    assert 'aria-current="true">100<' in browser.page("/clusters?per_page=9999")


def test_a_long_title_and_id_are_cut_off(tmp_path):
    text = "word" * 200 + " " + varied()
    rows_ = [{"id": "i" * 500 + str(n), "text": text} for n in range(2)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows_))
    nd.dedup(str(tmp_path / "in.jsonl")).save(tmp_path / "out")
    page = Browser(tmp_path / "out").page("/clusters")
    assert "i" * 501 not in page
    assert "word" * 50 not in page
