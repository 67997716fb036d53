"""The pages of a file of pairs to label: those that make sense, and none that lies."""

import re

import pytest
from tests.explore.browsing import Browser, links as every_link, text_of
from tests.labels.samples import PAIRS, written

from neardup.labels import read_labels


def links(page):
    return [link for link in every_link(page) if link.startswith("/")]


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("NEARDUP_CACHE", str(tmp_path / "cache"))
    return written(tmp_path / "p.jsonl")


@pytest.fixture
def browser(file):
    return Browser(file)


def test_it_begins_with_the_first_pair(browser):
    answer = browser.get("/")
    assert (answer.status, answer.header("Location")) == (303, "/review")
    page = browser.page("/review")
    told = text_of(page)
    assert "0 of 4 decided" in told
    assert "Why this pair: word:1 tfidf stratum 0." in told
    assert "similarity 1.0000" in told
    navigation = page[page.index("<nav") : page.index("</nav>")]
    assert re.findall(r">([A-Z]\w+)</a>", navigation) == ["Review", "Decisions", "Laboratory"]


@pytest.mark.parametrize("address", ["/clusters", "/clusters/0", "/threshold"])
def test_pages_of_a_run_say_what_this_is(browser, address):
    page = browser.page(address, 404)
    assert "This is a file of pairs to label, and no run" in text_of(page)
    for link in links(page):
        assert browser.get(link).status in (200, 303)


def test_no_page_speaks_of_a_run(browser):
    """Of what is kept or removed, of clusters, of a threshold."""
    browser.decide("same", *PAIRS[0])
    addresses = ["/review", "/decisions", "/documents/k1", "/compare?a=k1&b=k2"]
    addresses += ["/compare?a=k2&b=k5", "/review?view=inline"]
    for address in addresses:
        page = browser.page(address)
        told = text_of(page)
        assert not re.search(
            r"\b(clusters?|threshold|[Kk]eep|kept|removed|the run|this run)\b", told
        )
        assert "below" not in told
        for link in links(page):
            assert browser.get(link).status in (200, 303), link
    missing = text_of(browser.page("/documents/nobody", 404))
    assert "No document of this file has the id nobody" in missing


def test_document_pages_do_not_say_kept(browser):
    page = browser.page("/documents/k1")
    assert 'class="badge kept"' not in page
    assert "Listed are the pairs of the file." in text_of(page)


def test_answers_go_on_to_the_next_pair_and_are_labels(browser, file):
    browser.decide("same", *PAIRS[0])
    browser.decide("different", *PAIRS[1])
    told = text_of(browser.page("/review"))
    assert "2 of 4 decided" in told
    assert "word:1 tfidf stratum 2" in told
    assert "Choose settings by these labels" in told
    assert f"neardup tune INPUT --labels {file} -o settings.toml" in told
    assert sorted(read_labels(file).same.tolist()) == [False, True]
    for pair in PAIRS[2:]:
        browser.decide("same", *pair)
    assert "All 4 pairs to label are decided." in text_of(browser.page("/review"))


def test_keep_is_no_answer(browser):
    assert "Keep A" not in text_of(browser.page("/review"))
    places = [str(browser.run.find(id)) for id in PAIRS[0]]
    answer = browser.post("/decisions", keep=places[0], documents=places)
    assert answer.status == 400
    assert "Pairs to label are the same or different" in answer.body.decode()
    assert browser.run.decisions.history() == ()


def test_other_sites_and_read_only_pages_decide_nothing(file):
    browser = Browser(file)
    places = [str(browser.run.find(id)) for id in PAIRS[0]]
    assert browser.post("/decisions", says="same", documents=places, token="x").status == 403
    read_only = Browser(file, read_only=True)
    assert read_only.post("/decisions", says="same", documents=places).status == 403
    assert "<button" not in read_only.page("/review").split("<main")[1]
    assert not browser.run.decisions.path.exists()


def test_a_pair_without_a_similarity(tmp_path, file):
    path = tmp_path / "plain.csv"
    path.write_text("a,b,a_text,b_text\n1,2,one,two\n2,3,two,three\n")
    browser = Browser(path)
    assert "similarity –" in text_of(browser.page("/review"))
    assert "–" in text_of(browser.page("/documents/2"))
    assert "similarity in the file none" in text_of(browser.page("/compare?a=1&b=2"))
    browser.decide("same", "1", "2")
    assert browser.run.decisions.history()[0].similarity is None


def test_hostile_texts_and_ids_are_escaped(tmp_path, file):
    path = tmp_path / "hostile.csv"
    path.write_text(
        "a,b,why,a_text,b_text\n<b>1,../2,<i>x</i>,<script>alert(1)</script>,\u202e\n", "utf-8"
    )
    browser = Browser(path)
    page = browser.page("/review")
    assert "<script>alert" not in page
    assert "<i>x" not in page
    assert "<b>1" not in page
    for link in links(page):
        assert browser.get(link).status in (200, 303), link
