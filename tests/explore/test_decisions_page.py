"""Decisions: the forms that make and undo them, their history, and the files to download."""

import io
import json

import pyarrow.parquet as pq
import pytest
from tests.explore.browsing import HOST, ROWS, Browser, browse, text_of, varied

from neardup.decisions import content_of
from neardup.explore.http import Request


@pytest.fixture
def browser(tmp_path):
    return browse(tmp_path)


def test_a_decision_is_stored_with_ids_contents_name_reason_and_similarity(browser):
    answer = browser.decide("different", "a", "c", why=" other colours ", next="/clusters/0")
    assert answer.header("Location") == "/clusters/0"
    (line,) = browser.stored()
    assert line["says"] == "different"
    assert line["documents"] == [
        {"id": one["id"], "content": content_of(one["text"])} for one in (ROWS[0], ROWS[2])
    ]
    assert (line["by"], line["why"]) == ("ann", "other colours")
    assert line["similarity"] == browser.run.document(2).similarity


@pytest.mark.parametrize("ids", [(1, 2), ("1", "2")])
def test_ids_keep_their_type(tmp_path, ids):
    rows = [{"id": id, "text": varied(f"w{id}")} for id in ids]
    browser = browse(tmp_path, rows)
    browser.decide("same", *ids)
    assert [one["id"] for one in browser.stored()[0]["documents"]] == list(ids)


def test_contents_of_records_are_those_of_their_fields(tmp_path):
    rows = [{"id": id, "name": varied(), "town": f"town {id}"} for id in (1, 2)]
    browser = browse(tmp_path, rows, text="name+town")
    browser.decide("same", 1, 2)
    contents = [one["content"] for one in browser.stored()[0]["documents"]]
    assert contents == [content_of(f"name: {varied()}\ntown: town {id}") for id in (1, 2)]


def test_keep_names_the_kept_document_first(browser):
    places = [str(browser.run.find(id)) for id in ("a", "c")]
    browser.post("/decisions", documents=places, keep=places[1])
    (line,) = browser.stored()
    assert line["says"] == "keep"
    assert [one["id"] for one in line["documents"]] == ["c", "a"]
    assert browser.post("/decisions", documents=places, keep="4").status == 400


def test_a_whole_cluster_is_decided_at_once(browser):
    number = browser.run.document(0).cluster
    browser.post("/decisions", says="different", cluster=str(number))
    (line,) = browser.stored()
    assert {one["id"] for one in line["documents"]} == {"a", "b", "c", "d"}
    page = text_of(browser.page(f"/clusters/{number}"))
    assert "It is decided." in page
    assert "ann" in page


def test_a_decision_is_shown_on_the_cluster_and_undone_there(browser):
    browser.decide("same", "a", "c", why="seen")
    number = browser.run.document(0).cluster
    page = browser.page(f"/clusters/{number}?with=c")
    assert "seen" in page
    (line,) = browser.stored()
    assert f'name="key" value="{line["key"]}"' in page
    answer = browser.post("/decisions/undo", key=line["key"], next=f"/clusters/{number}")
    assert answer.header("Location") == f"/clusters/{number}"
    assert browser.run.decisions.current().decisions == ()
    assert len(browser.stored()) == 2
    assert "seen" not in browser.page(f"/clusters/{number}?with=c")
    history = text_of(browser.page("/decisions"))
    assert "undone" in history
    assert "seen" in history


def test_two_reviewers_disagree_and_nothing_is_overwritten(browser):
    browser.decide("same", "a", "c")
    other = Browser(browser.run.path, reviewer="bob")
    other.decide("different", "a", "c")
    assert [line["by"] for line in browser.stored()] == ["ann", "bob"]
    page = text_of(browser.page("/decisions"))
    assert "Reviewers disagree on 1 pair" in page
    assert page.count("disagreement") == 2


def test_the_history_is_paged_with_the_newest_first(browser):
    for place in range(55):
        browser.decide("skip", "a", "b", why=f"reason {place}")
    first, second = browser.page("/decisions"), browser.page("/decisions?page=2")
    assert first.index("reason 54") < first.index("reason 53")
    assert "reason 4<" not in first
    assert "reason 4<" in second
    assert "replaced" in second
    browser.page("/decisions?page=3", 404)


def test_without_decisions_the_page_says_what_to_do(browser):
    assert "Nobody has decided anything" in browser.page("/decisions")


def test_what_holds_is_downloaded(browser):
    browser.decide("same", "a", "b")
    browser.decide("different", "a", "c")
    browser.post("/decisions/undo", key=browser.stored()[0]["key"])
    csv, parquet = browser.get("/decisions.csv"), browser.get("/decisions.parquet")
    assert csv.header("Content-Disposition") == 'attachment; filename="decisions.csv"'
    assert csv.body.decode().count("\n") == 2
    assert pq.read_table(io.BytesIO(parquet.body))["b"].to_pylist() == ["c"]


@pytest.mark.parametrize(
    "fields",
    [
        {"says": "maybe", "documents": ["0", "1"]},
        {"says": "undo", "documents": ["0", "1"]},
        {"documents": ["0", "1"]},
        {"says": "same", "documents": ["0"]},
        {"says": "same"},
        {"says": "same", "documents": ["0", "0"]},
        {"says": "same", "documents": ["0", "99"]},
        {"says": "same", "documents": ["0", "-1"]},
        {"says": "same", "documents": ["0", "x"]},
        {"says": "same", "cluster": "99"},
        {"says": "same", "cluster": "x"},
        {"says": "same", "documents": ["0", "1"], "why": "x" * 10_001},
    ],
)
def test_what_has_no_meaning_is_refused_and_not_stored(browser, fields):
    assert browser.post("/decisions", **fields).status in (400, 404)
    assert not (browser.run.path / "decisions.jsonl").exists()


@pytest.mark.parametrize(
    "next",
    [
        *("//evil.example", "https://evil.example", "/\\evil.example", "\\\\evil.example"),
        *("javascript:alert(1)", "/x\r\nSet-Cookie: a=b", " //evil.example", "evil", "/\tx"),
        *("/%0d\n", "/ü"),
    ],
)
def test_other_sites_are_never_next(browser, next):
    for path in ("/decisions", "/decisions/undo", "/reviewer"):
        answer = browser.post(path, says="same", documents=["0", "1"], key="k", next=next)
        assert answer.status == 400
        assert answer.header("Location") is None
    assert not (browser.run.path / "decisions.jsonl").exists()


def test_below_a_base_next_stays_there(tmp_path):
    browser = browse(tmp_path, explorer={"base": "/runs/1"})
    form = {"says": "same", "documents": ["0", "1"]}
    assert browser.post("/decisions", next="/elsewhere", **form).status == 400
    answer = browser.post("/decisions", next="/runs/1/review", **form)
    assert answer.header("Location") == "/runs/1/review"


def test_forms_of_other_sites_and_read_only_pages_change_nothing(tmp_path, browser):
    form = {"says": ["same"], "documents": ["0", "1"], "token": [browser.explorer.site.token]}
    for headers in ({"host": HOST, "origin": "https://evil.example"}, {"host": HOST}):
        answer = browser.explorer.respond(Request("POST", "/decisions", {}, headers, form))
        assert answer.status == 403
    assert browser.post("/decisions", token="guessed", **{"says": "same"}).status == 403
    reader = Browser(browser.run.path, read_only=True)
    assert reader.post("/decisions", says="same", documents=["0", "1"]).status == 403
    assert not (browser.run.path / "decisions.jsonl").exists()


def test_an_unknown_decision_cannot_be_undone(browser):
    assert browser.post("/decisions/undo", key="none").status == 404


def test_a_reviewer_can_take_another_name(browser):
    answer = browser.post("/reviewer", name="Zoë; path=/", next="/review")
    cookie = answer.header("Set-Cookie")
    assert "SameSite=Strict" in cookie
    assert "HttpOnly" in cookie
    browser.cookie = cookie.partition(";")[0]
    browser.decide("same", "a", "b")
    assert browser.stored()[0]["by"] == "Zoë; path=/"
    assert "Zoë; path=/" in browser.page("/review")
    browser.cookie = "neardup_reviewer="
    browser.decide("same", "a", "c")
    assert browser.stored()[1]["by"] == "ann"
    assert browser.post("/reviewer", name="x" * 201).status == 400


def test_decisions_of_documents_that_the_run_has_not_are_listed(browser):
    line = {"v": 1, "says": "same", "by": "zed", "at": "2026-01-01T00:00:00.000Z", "key": "k"}
    line["documents"] = [{"id": id, "content": "0" * 32} for id in ("gone", 5)]
    (browser.run.path / "decisions.jsonl").write_text(json.dumps(line) + "\n")
    page = browser.page("/decisions")
    assert '<bdi class="id">gone</bdi>' in page
    assert "/documents/gone" not in page
