"""The page of a cluster: what happened, its members, their graph, and two of them compared."""

import re

import pytest
from tests.explore.browsing import MOST, ROWS, browse, links, text_of, varied

from neardup.runs import ClusterQuery
from neardup.visible import shown_similarity

PERSONS = [
    {"id": 1, "name": "Anna Maria Berg", "street": "Lindenweg 4", "town": "Bern", "note": "x"},
    {"id": 2, "name": "Anna Maria Berg", "street": "Lindenweg 14", "town": "Bern", "note": "y"},
]


@pytest.fixture
def browser(tmp_path):
    return browse(tmp_path)


def number_of(browser):
    (row,) = browser.run.clusters(ClusterQuery()).rows
    return row.number


def cluster(browser, query=""):
    return browser.page(f"/clusters/{number_of(browser)}{query}")


def test_what_happened_is_said_first(browser):
    page = text_of(cluster(browser))
    assert "4 documents" in page
    assert "a is kept; 3 documents are removed as duplicates of it." in page
    assert "1 exact copy; the lowest similarity is 0.8" in page
    assert "Nobody has decided on this cluster." in page


def test_members_are_listed_with_similarity_and_copies_are_folded(browser):
    page = cluster(browser)
    table = page[page.index('<table class="wide members">') :]
    table = table[: table.index("</table>")]
    assert re.findall(r"<bdi class=\"id\">(\w)</bdi>", table) == ["a", "b", "c"]
    copies = page[page.index("1 exact copy</summary>") :]
    assert '<bdi class="id">d</bdi>' in copies[: copies.index("</details>")]


def test_the_weakest_member_is_compared_with_the_kept_one(browser):
    page = cluster(browser)
    assert "<ins>red</ins>" in page
    assert "<ins>green</ins>" in page
    assert re.search(r"<b>A</b> <a [^>]*><bdi class=\"id\">a</bdi>", page)
    assert re.search(r"<b>B</b> <a [^>]*><bdi class=\"id\">c</bdi>", page)


def test_any_two_members_are_compared(browser):
    page = cluster(browser, "?with=b&against=c")
    assert "<del>green</del>" in page
    assert "<ins>red</ins>" not in page
    assert '<div class="diff inline">' not in page
    inline = cluster(browser, "?with=b&against=c&view=inline")
    assert '<div class="diff inline">' in inline
    assert "<del>green</del><ins>" in inline
    same = cluster(browser, "?with=c&against=c")
    assert "<ins>green</ins>" in same


@pytest.mark.parametrize(
    ("query", "status"),
    [("?view=x", 400), ("?with=nobody", 404), ("?page=9", 404), ("?with_place=x", 400)],
)
def test_what_cannot_be_shown_is_refused(browser, query, status):
    browser.page(f"/clusters/{number_of(browser)}{query}", status)


@pytest.mark.parametrize("number", ["99", "x", "-1", "1/2", "", "9" * 40, "٣"])
def test_other_clusters_are_missing(browser, number):
    browser.page(f"/clusters/{number}", 404)


def test_the_graph_has_a_link_for_each_member(browser):
    page = cluster(browser)
    graph = page[page.index('<svg class="plot"') : page.index("</svg>")]
    assert graph.count('<a class="node') == 3
    assert re.search(r"<title>c: 0\.8\d+</title>", graph)
    assert " style=" not in page
    assert "M160 160L" in graph or "L160 160" in graph


def test_the_graph_is_the_same_every_time(browser):
    def graph():
        page = cluster(browser)
        return page[page.index("<svg") : page.index("</svg>")]

    assert graph() == graph()


def test_other_columns_are_folded_with_those_that_differ_first(browser):
    page = cluster(browser, "?with=c")
    columns = text_of(page[page.index("<summary>Other columns") :])
    assert columns.startswith(" Other columns: 1 of 2 columns differs")
    rows = re.findall(r"<bdi>(\w+)</bdi>( <span class=\"badge different\">differs)?", page)
    names = [(name, bool(mark)) for name, mark in rows if name in ("lang", "year")]
    assert ("lang", True) in names
    assert ("year", False) in names


def test_records_are_shown_field_by_field_with_the_differing_ones_marked(tmp_path):
    browser = browse(tmp_path, PERSONS, text="name+street+town", threshold=0.3)
    page = cluster(browser)
    table = page[page.index('<table class="wide record scored">') :]
    table = table[: table.index("</table>")]
    rows = re.findall(r"<tr( class=\"differing\")?>\n<th scope=\"row\"><bdi>(\w+)</bdi>", table)
    assert [(name, bool(mark)) for mark, name in rows] == [
        ("name", False),
        ("street", True),
        ("town", False),
    ]
    assert "<del>4</del>" in table
    assert "<ins>14</ins>" in table
    assert table.count("differs</span>") == 1


def numbers_of(page):
    """The numbers of the table of fields: similarity, weight and addition of each, and the sum."""
    table = page[page.index('<table class="wide record scored">') :]
    return re.findall(r'<td class="number"[^>]*>([^<]*)</td>', table[: table.index("</table>")])


@pytest.mark.parametrize("address", ["/clusters/0", "/review", "/compare?a=1&b=2"])
def test_fields_add_up_to_the_similarity_of_the_run(tmp_path, address):
    settings = {"text": "name:char:3*2 + street:word:1 + town:exact", "threshold": 0.3}
    browser = browse(tmp_path, [{**PERSONS[0], "town": ""}, PERSONS[1]], **settings)
    page = browser.page(address)
    similarity = shown_similarity(browser.run.links([0, 1])[0].similarity)
    assert numbers_of(page) == [
        *("1.0000", "2", "0.6667"),
        *("0.3333", "1", "0.1111"),
        *("no evidence", "1", "0.0000"),
        similarity,
    ]
    assert similarity == "0.7777"
    assert "divided by 3, the weight of the fields that both fill" in text_of(page)
    assert '<span class="how">word:1</span>' in page


def test_weights_by_rarity_are_those_of_the_run(tmp_path):
    rows = [*PERSONS, {"id": 3, "name": "Otto Berg", "street": "Lindenweg 9", "town": "Basel"}]
    settings = {"text": "name+street", "features": "word:1", "weights": "tfidf", "threshold": 0.3}
    browser = browse(tmp_path, rows, **settings)
    page = browser.page("/compare?a=1&b=2")
    assert numbers_of(page)[-1] == shown_similarity(browser.run.links([0, 1])[0].similarity)
    assert "counted from these two records" not in page


def test_fields_of_distances_add_nothing(tmp_path):
    settings = {"text": "name+street", "similarity": "hamming", "threshold": 40, "bits": 64}
    page = browse(tmp_path, PERSONS, **settings).page("/compare?a=1&b=2")
    assert "Adds" not in page
    assert "The fingerprints differ in " in page


def test_a_key_that_is_not_here_leaves_the_fields(tmp_path, monkeypatch):
    monkeypatch.setenv("NEARDUP_KEY_OURS", "0123456789abcdef0123456789abcdef")
    settings = {"text": "name+street", "similarity": "hamming", "threshold": 40, "hash": "nd1:ours"}
    browser = browse(tmp_path, PERSONS, **settings)
    monkeypatch.delenv("NEARDUP_KEY_OURS")
    page = browser.page("/compare?a=1&b=2")
    assert "The parts of the similarity cannot be computed here: " in text_of(page)
    assert "<ins>14</ins>" in page


def test_code_keeps_its_indentation(tmp_path):
    code = "\n".join(
        f"def function_{place}(value):\n    if value:\n\treturn {place}\n    return None"
        for place in range(30)
    )
    rows = [{"id": 1, "text": code}, {"id": 2, "text": code.replace("return 7", "return 8888")}]
    page = cluster(browse(tmp_path, rows))
    assert '<div class="text code"' in page
    assert "\n    if value:" in page
    assert ">\treturn <del>7</del>" in page
    assert ">    return None\ndef function_8(value):" in page


def test_right_to_left_text_has_its_direction(tmp_path):
    words = [f"كلمة{place} نص" for place in range(40)]
    rows = [{"id": 1, "text": " ".join(words)}, {"id": 2, "text": " ".join(words[:-1])}]
    page = cluster(browse(tmp_path, rows))
    assert page.count('dir="rtl" data-side=') >= 2


def test_buttons_only_where_decisions_are_allowed(tmp_path):
    browser = browse(tmp_path, explorer={"read_only": True})
    page = cluster(browser)
    assert 'method="post"' not in page
    assert "<button" not in page.replace('id="theme"', "").split("<main")[1]


def test_every_link_of_the_page_leads_somewhere(browser):
    page = cluster(browser)
    for address in set(links(page)):
        if address.startswith("/") and "/lab" not in address and "/threshold" not in address:
            assert browser.get(address.partition("#")[0]).status == 200, address


def test_large_clusters_are_paged_and_fit(tmp_path):
    rows = [
        {"id": f"document {place} " + "<&\"'>" * 30, "text": varied(f"other{place}")}
        for place in range(130)
    ]
    browser = browse(tmp_path, rows)
    first, third = cluster(browser), cluster(browser, "?page=3")
    assert first.count('<th scope="row"><a') == 50
    assert third.count('<th scope="row"><a') == 30
    assert "Shown are 60 of 129 documents, the most similar ones" in text_of(first)


def test_a_cluster_of_fifty_thousand_fits(tmp_path):
    near = [{"id": f"n{place}", "text": varied(f"other{place}")} for place in range(2_000)]
    copies = [{"id": f"c{place}", "text": varied()} for place in range(48_000)]
    browser = browse(tmp_path, [{"id": "kept", "text": varied()}, *near, *copies], pairs="evidence")
    page = cluster(browser)
    assert "48,000 exact copies" in page
    assert "One decision is about at most 1,000 documents" in text_of(page)
    assert browser.post("/decisions", says="same", cluster=str(number_of(browser))).status == 400


def test_long_documents_fit(tmp_path):
    text = " ".join(f"<b>word{place}</b>" for place in range(250_000))
    rows = [{"id": 1, "text": text}, {"id": 2, "text": text.replace("word7", "other7")}]
    browser = browse(tmp_path, rows, threshold=0.2)
    for query in ("", "?view=inline"):
        assert "was not compared" in cluster(browser, query) or "left out" in cluster(
            browser, query
        )
    assert len(text) > 4_000_000
    assert len(browser.page("/documents/1?all=1")) <= MOST


def test_the_previous_and_the_next_cluster_are_linked(tmp_path):
    rows = [
        {"id": f"{family}{place}", "text": varied(f"x{place}", family=family)}
        for family in "abc"
        for place in range(2)
    ]
    browser = browse(tmp_path, rows)
    assert browser.run.clusters_count == 3
    middle = browser.page("/clusters/1")
    assert '<a rel="prev" href="/clusters/0">' in middle
    assert '<a rel="next" href="/clusters/2">' in middle
    assert 'rel="next" href="/clusters/3"' not in browser.page("/clusters/2")


def test_the_same_rows_always_give_the_same_page(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    pages = [
        cluster(browse(tmp_path / name, ROWS, explorer={"token": "t", "title": "run"}))
        for name in ("one", "two")
    ]
    assert pages[0].replace(str(tmp_path / "one"), "") == pages[1].replace(
        str(tmp_path / "two"), ""
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"keep": "none"},
        {"keep": "longest"},
        {"keep": "each:2"},
        {"cluster": "components"},
        {"similarity": "hamming", "threshold": 20},
        {"similarity": "cosine", "weights": "tfidf"},
        {"pairs": "evidence"},
        {"pairs": "none"},
        {"features": "word:1+edges"},
        {"features": "char:5", "floor": 0.1},
    ],
    ids=str,
)
def test_every_kind_of_run_can_be_read(tmp_path, settings):
    browser = browse(tmp_path, **settings)
    addresses = ["/review", "/compare?a=a&b=c", *(f"/documents/{row['id']}" for row in ROWS)]
    addresses += [f"/clusters/{number}" for number in range(browser.run.clusters_count)]
    for address in addresses:
        browser.page(address)


def test_lists_of_terms_can_be_read(tmp_path):
    terms = [f"term{place}" for place in range(30)]
    rows = [{"id": 1, "terms": terms}, {"id": 2, "terms": [*terms[:-1], "other"]}]
    browser = browse(tmp_path, rows, features="terms", text="terms")
    assert "<ins>other</ins>" in cluster(browser)
    assert "lists of terms" in browser.page("/compare?a=1&b=2")


def test_a_cluster_around_a_document_of_the_other_collection(tmp_path):
    other = tmp_path / "other.jsonl"
    other.write_text(f'{{"id": "o", "text": "{varied("red")}"}}\n')
    browser = browse(tmp_path, against=str(other))
    page = cluster(browser)
    assert "is in the other collection; 4 documents repeat it." in text_of(page)
    assert "/others/o" in links(page)
    number = number_of(browser)
    browser.post("/decisions", says="different", cluster=str(number))
    (line,) = browser.stored()
    assert {(one["id"], one.get("other", False)) for one in line["documents"]} == {
        ("o", True),
        *((id, False) for id in "abcd"),
    }
    assert "It is decided." in cluster(browser)
