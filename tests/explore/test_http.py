"""Requests and responses: what is read from addresses and forms, and what is refused."""

import pytest

from neardup.explore.http import (
    MOST_FIELDS,
    RefusedError,
    Request,
    Response,
    read_fields,
    read_path,
)


def asked(**query):
    return Request("GET", "/", {name: [value] for name, value in query.items()})


def test_numbers_of_a_query():
    request = asked(page="12", empty=" ", share="0.85")
    assert request.whole("page") == 12
    assert request.whole("empty") is None
    assert request.whole("missing") is None
    assert request.number("share") == 0.85
    assert request.number("missing") is None


@pytest.mark.parametrize("value", ["-1", "1.5", "x", "9" * 16, "١٢", "1e3", "<b>"])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(RefusedError, match="page must be a whole number") as refused:
        asked(page=value).whole("page")
    assert refused.value.status == 400


@pytest.mark.parametrize("value", ["-0.1", "1.01", "nan", "inf", "x"])
def test_what_is_no_similarity_is_refused(value):
    with pytest.raises(RefusedError, match="from 0 to 1"):
        asked(least=value).number("least")


def test_fields_that_are_not_utf_8_or_too_many_are_refused():
    with pytest.raises(RefusedError, match="UTF-8"):
        read_fields("a=%ff")
    with pytest.raises(RefusedError, match="too many"):
        read_fields("&".join(["a=1"] * (MOST_FIELDS + 1)))


def test_a_path_that_is_not_utf_8_is_refused():
    with pytest.raises(RefusedError, match="UTF-8"):
        read_path("/documents/%ff")
    assert read_path("/documents/%E6%98%A8%2F..%00") == "/documents/昨/..\0"


def test_the_section_of_a_path():
    assert Request("GET", "/clusters/12").section == "/clusters"
    assert Request("GET", "/").section == "/"


def test_headers_are_found_in_any_case():
    response = Response.of("text")
    assert response.header("content-type") == "text/html; charset=utf-8"
    assert response.header("location") is None
    assert Response.redirect("/x").header("Location") == "/x"


def test_text_that_is_not_unicode_does_not_break_a_page():
    assert Response.of("a\ud800b").body == b"a?b"
