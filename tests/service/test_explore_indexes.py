"""The pages of indexes: was this seen before, and which document is that?"""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from tests.service.exploring import (
    EVIL,
    POLICY,
    ROWS,
    make_news,
    post,
    shown,
    token_of,
    varied,
    words_of,
)
from tests.service.running import Server


@pytest.fixture(scope="module")
def news(server: Server) -> str:
    return make_news(server.client)


def ask(client: httpx.Client, index: str, **form: Any) -> str:
    """The page that answers whether something was seen before."""
    token = token_of(client.get(index).text)
    answer = post(client, index, {"token": token, **form})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-security-policy"].startswith(POLICY)
    assert "<script>alert" not in answer.text
    return answer.text


def test_seen_before(client, news):
    page = ask(client, news, text=varied("blue"))
    said = words_of(page)
    assert "Seen before" in said
    assert "similarity" not in said.partition("Document Similarity")[0]
    assert f"{news}/documents/a" in page
    assert "<ins>blue</ins>" in page
    assert "0.9" in said
    other = ask(client, news, text=varied("blue"), compare="2")
    assert "<ins>" in other
    assert other != page


def test_a_new_text(client, news):
    said = words_of(ask(client, news, text="nothing in the index resembles these words"))
    assert "New No document of this index is like it" in said


def test_a_short_text_may_be_in_the_address(client, news):
    page = shown(client, news, params={"text": varied()})
    assert "Seen before" in words_of(page)


def test_a_hostile_text_is_shown_and_not_run(client, news):
    text = f"</textarea>{EVIL} \u202e \x1b[31m " + ROWS[-1]["text"]
    page = ask(client, news, text=text)
    assert "&lt;/textarea&gt;" in page


def test_texts_that_are_too_long(start, client, news):
    token = token_of(client.get(news).text)
    answer = post(client, news, {"token": token, "text": "x" * 200_001})
    assert answer.status_code == 413
    assert "200,000 characters" in answer.text
    server = start("--max-text", "1kb")
    server.client.put("/v1/indexes/small").raise_for_status()
    page = shown(server.client, "/explore/indexes/small", 413, params={"text": "x" * 2000})
    assert "more than --max-text allows" in page


def test_questions_are_counted(server, news):
    def queried() -> int:
        metrics = server.client.get("/metrics").text
        found = re.search(r"^neardup_documents_queried_total (\d+)$", metrics, re.M)
        assert found is not None
        return int(found[1])

    before = queried()
    ask(server.client, news, text=varied())
    assert queried() == before + 1


def test_an_index_of_records(client):
    client.put(
        "/v1/indexes/people", json={"text": "name+city", "threshold": 0.5}
    ).raise_for_status()
    row = {"id": 1, "name": "Ann Berger of the mill", "city": "Ulm on the Danube"}
    client.post("/v1/indexes/people/documents", json=row).raise_for_status()
    form = {"field-0": row["name"], "field-1": row["city"]}
    said = words_of(ask(client, "/explore/indexes/people", **form))
    assert "Seen before" in said
    assert "The texts of this index are not stored" in said


def test_an_index_of_terms_by_distance(client):
    settings = {"features": "terms", "max_distance": 3}
    client.put("/v1/indexes/terms", json=settings).raise_for_status()
    row = {"id": "x", "terms": ["one", "two", "three", "four"]}
    client.post("/v1/indexes/terms/documents", json=row).raise_for_status()
    said = words_of(ask(client, "/explore/indexes/terms", terms="one\r\ntwo\r\nthree\r\nfour\r\n"))
    assert "Differing bits" in said
    assert "x 0" in said


def test_a_document_of_an_index(client, news):
    page = shown(client, f"{news}/documents/a")
    said = words_of(page)
    assert "words 60" in said
    assert varied() in said
    assert '"lang": "en"' in said
    assert "c/1" in said
    compared = shown(client, f"{news}/documents/a?with=b")
    assert "<ins>red</ins>" in compared
    assert "Inline" in compared
    assert "c/1" in words_of(shown(client, f"{news}/documents/?id=c/1"))
    assert "c/1" in words_of(shown(client, f"{news}/documents/c%2F1"))
    assert varied("red", "green") in words_of(shown(client, f"{news}/documents/c%2F1"))
    hostile = shown(client, f"{news}/documents/", params={"id": EVIL})
    assert "&lt;script&gt;" in hostile
    assert "\u202e" not in hostile


def test_ids_that_are_numbers_and_texts(client, news):
    assert "the word seven" in shown(client, f"{news}/documents/7")
    assert "the number seven" in shown(client, f"{news}/documents/7?id_type=integer")
    page = ask(client, news, text="the number seven")
    assert f"{news}/documents/7?id_type=integer" in page


def test_indexes_and_documents_that_are_not_there(client, news):
    assert "There is no index none." in words_of(shown(client, "/explore/indexes/none", 404))
    assert "cannot be the name" in shown(client, "/explore/indexes/..x", 422)
    assert "has no document" in shown(client, f"{news}/documents/nobody", 404)
    assert "There is no such page" in shown(client, "/explore/nothing", 404)
    assert "There is no such page" in shown(client, "/explore/clusters", 404)


def test_an_index_that_is_deleted(client):
    client.put("/v1/indexes/short-lived").raise_for_status()
    shown(client, "/explore/indexes/short-lived")
    client.delete("/v1/indexes/short-lived").raise_for_status()
    for _ in range(4):
        shown(client, "/explore/indexes/short-lived", 404)
