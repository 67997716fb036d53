"""Ids, texts, columns and names that try to run, to mislead, or to break a page."""

import re
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from tests.explore.browsing import browse, varied

EVIL = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</textarea></title><svg/onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 7*7 }}{% raw %}",
    "\u202egnp.exe\u2066",
    "a\x00b\x1b[31m\r\nSet-Cookie: x=y",
    "*{background:url(//evil.example)}",
    "</style><style>*{display:none}",
]
COLUMN = '<b onclick="alert(1)">\u202ecolumn'
ALLOWED = re.compile(r"(/|#)[^\\]*")


class Audit(HTMLParser):
    """Collects what could run, and the texts of a page."""

    def __init__(self, page):
        super().__init__()
        self.faults, self.text, self.open = [], "", []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        names = dict(attributes)
        self.faults += [name for name in names if name.startswith("on") or name == "style"]
        if tag in ("img", "style", "iframe", "object", "embed", "base"):
            self.faults.append(tag)
        if tag == "script" and not (names.get("src") or "").startswith("/static/"):
            self.faults.append("script")
        for name in ("href", "src", "action"):
            if name in names and not ALLOWED.fullmatch(names[name] or ""):
                self.faults.append(f"{name}={names[name]}")

    def handle_data(self, data):
        self.text += data


def rows_of():
    """Documents whose every part is hostile; a cluster of them all."""
    return [
        {"id": f"{evil}{place}", "text": varied(evil.replace(" ", "")) + evil, COLUMN: evil}
        for place, evil in enumerate(EVIL)
    ]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    made = browse(tmp_path_factory.mktemp("hostile"), rows_of(), explorer={"reviewer": EVIL[0]})
    for place, evil in enumerate(EVIL):
        made.post(
            "/decisions", says="different", documents=["0", str(place or 1)], why=evil + str(place)
        )
    return made


def addresses(browser):
    ids = [row["id"] for row in rows_of()]
    yield from ("/review", "/review?view=inline", "/decisions", "/")
    for id in ids:
        yield f"/documents/{quote(id, safe='')}"
        yield f"/compare?a={quote(ids[0], safe='')}&b={quote(id, safe='')}"
        number = browser.run.document(browser.run.find(id)).cluster
        for view in ("side", "inline"):
            yield f"/clusters/{number}?with={quote(id, safe='')}&view={view}"


def test_nothing_of_the_data_becomes_markup(browser):
    count = 0
    for address in addresses(browser):
        answer = browser.get(address)
        assert answer.status == 200, (address, answer.body)
        audit = Audit(answer.body.decode())
        assert audit.faults == [], address
        count += 1
    assert count > 40


def test_characters_that_steer_or_hide_are_visible(browser):
    for address in addresses(browser):
        page = re.sub(r' value="[^"]*"', "", browser.page(address))  # what a form sends back
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f]", page), address


def test_hostile_addresses_are_answered_by_a_safe_page(browser):
    for evil in EVIL:
        for address in (
            f"/documents/{quote('no' + evil, safe='')}",
            f"/clusters/{quote(evil, safe='')}",
            f"/compare?a={quote('no' + evil, safe='')}&b=x",
            f"/review?view={quote(evil, safe='')}",
            f"/clusters/0?page={quote(evil, safe='')}",
        ):
            answer = browser.get(address)
            assert answer.status in (400, 404)
            assert Audit(answer.body.decode()).faults == []
            assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b]", answer.body.decode())


def test_headers_hold_nothing_of_the_data(browser):
    answer = browser.post("/reviewer", name=EVIL[7], next="/review")
    for _, value in answer.headers:
        assert value.isascii()
        assert value.isprintable()


def test_columns_and_values_of_any_size_fit(tmp_path):
    wide = {f"column{place}<" + "x" * 300: "<" * 5000 for place in range(300)}
    rows = [{"id": place, "text": varied(f"w{place}"), **wide} for place in range(2)]
    browser = browse(tmp_path, rows)
    number = browser.run.document(0).cluster
    for address in (f"/clusters/{number}", "/documents/0", "/compare?a=0&b=1", "/review"):
        browser.page(address)


def test_ids_of_any_size_fit(tmp_path):
    rows = [
        {"id": f"{place}" + "<&>\u202e" * 24_000, "text": varied(f"w{place}")}
        for place in range(60)
    ]
    browser = browse(tmp_path, rows)
    number = browser.run.document(0).cluster
    for address in (f"/clusters/{number}", "/documents?place=3", "/review", "/clusters"):
        browser.page(address)
    assert browser.post("/decisions", says="same", cluster=str(number)).status == 303
    browser.page("/decisions")
