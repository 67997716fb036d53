"""The documentation site: it builds without warnings, and nothing in it leads nowhere."""

import json
import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from scripts.concept_pictures import pictures
from scripts.site import check, navigation, notebooks, pages
from tests.explore.browser.serving import started_browser, why_not

pytest.importorskip("zensical", reason="the site needs neardup[docs], Python ≥ 3.11")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    from scripts.site.build import build

    return build(tmp_path_factory.mktemp("site"))


def test_no_link_is_broken_no_picture_without_description_nothing_from_elsewhere(built):
    assert check.faults(built) == []


def test_every_page_is_in_the_navigation():
    def files(node):
        if isinstance(node, str):
            yield node
        for one in node.values() if isinstance(node, dict) else node if list is type(node) else ():
            yield from files(one)

    told = list(files(navigation.navigation()))
    there = {page.relative_to(pages.DOCS).as_posix() for page in pages.DOCS.rglob("*.md")}
    there = there - {"README.md"} | {str(path) for path in pages.PROJECT.values()}
    of_notebooks = {path for path in told if path.startswith("notebooks/")}
    assert there | of_notebooks | {"index.md", "decisions/index.md"} == set(told)
    assert len(told) == len(set(told))


def test_the_search_finds_words_of_every_page(built):
    found = json.loads((built / "search.json").read_text(encoding="utf-8"))
    searched = {item["location"].partition("#")[0] for item in found["items"]}
    assert {"guides/dedup.html", "faq.html", "glossary.html", "project/changelog.html"} <= searched
    assert not any(place.startswith("files/") for place in searched)


def test_the_search_works_in_a_browser_and_asks_nobody_else(built):
    if reason := why_not():
        pytest.skip(reason)
    asked = []
    handler = partial(Quiet, directory=str(built))
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        started_browser() as browser,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}/"
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{here}index.html")
        field = page.get_by_placeholder("Search")
        field.wait_for(state="attached")
        page.locator(".md-search__button").click()
        field.fill("rethreshold")
        page.get_by_text("neardup rethreshold OUT T").first.wait_for()
        server.shutdown()
    assert [url for url in asked if not url.startswith((here, "data:", "blob:"))] == []


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_the_pictures_are_those_that_the_script_draws():
    assert pictures.stale() == []


def test_markdown_reads_the_same_as_on_github(built):
    """A list or a table that only GitHub understands would stand in a paragraph."""
    for file in built.rglob("*.html"):
        text = file.read_text(encoding="utf-8").partition("<article")[2].partition("</article")[0]
        text = re.sub(r"<pre.*?</pre>", "", text, flags=re.S)
        for paragraph in re.findall(r"<p>(.*?)</p>", text, re.S):
            assert not re.search(r"^\s*(?:[-*|] |\d+\. |```)", paragraph, re.M), (file, paragraph)


def test_a_notebook_becomes_a_page(tmp_path):
    drawn = {"output_type": "display_data", "data": {"image/png": "iVBORw==", "text/plain": "x"}}
    printed = {"output_type": "stream", "text": ["one\n", "two\n"]}
    cells = [
        {"cell_type": "markdown", "source": ["# Half\n", "`$x$` is $x^2$\n", "<details>"]},
        {"cell_type": "code", "source": ["print(1)"], "outputs": [printed, drawn]},
    ]
    file = tmp_path / "half.ipynb"
    file.write_text(json.dumps({"cells": cells}))
    text, pictures = notebooks.notebook_page(file)
    assert pictures == {"half-1.png": b"\x89PNG"}
    prose, code, output, picture = text.strip().split("\n\n")
    assert prose.startswith("# Half\n`$x$` is <math ")
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in prose
    assert prose.endswith('<details markdown="1">')
    assert code == "~~~~~python\nprint(1)\n~~~~~"
    assert output == "~~~~~text\none\ntwo\n~~~~~"
    assert picture == "![What the code above draws](half-1.png)"


def test_faults_are_noticed(tmp_path):
    (tmp_path / "other.html").write_text('<h1 id="one">One</h1>')
    (tmp_path / "index.html").write_text(
        '<a href="other.html#one">fine</a> <a href="https://example.org">fine</a>'
        '<a href="other.html#two">x</a> <a href="none.html">x</a> <a href="#three">x</a>'
        '<img src="other.html"><img src="other.html" alt="a picture">'
        '<script src="https://example.org/x.js"></script>'
    )
    assert check.faults(tmp_path) == [
        "index.html: loads https://example.org/x.js from elsewhere",
        "index.html: the link #three names an anchor that is not there",
        "index.html: the link none.html leads nowhere",
        "index.html: the link other.html#two names an anchor that is not there",
        "index.html: the picture other.html has no description (alt)",
    ]
