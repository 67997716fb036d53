"""Data and sites that try to run, to mislead, or to decide in somebody's name."""

import http.client
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, urlencode

import pytest
from tests.explore.browser.accessibility import findings
from tests.explore.browser.samples import EVIL, hostile_records_run, hostile_run, sample_run
from tests.explore.browser.serving import explored

from neardup.runs import open_run

expect = pytest.importorskip("playwright.sync_api").expect
STEERING = "[\u202a-\u202e\u2066-\u2069\u200b\ufeff\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
MOST = 100_000  # bytes of a page
# In one call: whether a script ran, all that is shown (a field holds what was typed into it), the
# heading, the number of elements that could run or load something, and whether links stay here.
_SEEN = """() => {
  const copy = document.documentElement.cloneNode(true);
  copy.querySelectorAll("textarea").forEach((one) => one.remove());
  const active = "img, style, iframe, object, embed, [style], [onclick], [onerror]";
  return [
    window.__hacked ?? null,
    copy.textContent,
    document.querySelector("h1").innerText,
    document.querySelectorAll(active).length,
    [...document.querySelectorAll("a[href]")].every((one) =>
      new URL(one.href.baseVal ?? one.href, location).origin === location.origin),
  ];
}"""


@pytest.fixture(scope="module", params=[hostile_run, hostile_records_run])
def hostile(browser, tmp_path_factory, request):
    out = request.param(tmp_path_factory.mktemp("hostile"))
    with explored(out, "--by", EVIL[1]) as served:
        yield served


@pytest.fixture(scope="module")
def sample(browser, tmp_path_factory):
    with explored(sample_run(tmp_path_factory.mktemp("sample"))) as served:
        yield served


def hostile_addresses(served):
    run = open_run(served.out)
    ids = [f"{evil}{place}" for place, evil in enumerate(EVIL)]
    number = run.document(0).cluster
    yield from ("/", "/clusters", "/review", "/review?view=inline", "/decisions", "/threshold")
    yield from (f"/?{urlencode({'by': column})}" for column in run.columns[2:])
    for id in ids:
        yield f"/documents/{quote(id, safe='')}"
        yield f"/compare?{urlencode({'a': ids[0], 'b': id})}"
        yield f"/clusters/{number}?{urlencode({'with': id})}"
        yield f"/clusters?{urlencode({'search': id})}"
    yield f"/clusters/{number}?view=inline"
    for evil in EVIL[:10]:
        yield f"/lab/texts?{urlencode({'a': evil, 'b': evil, 'features': evil, 'hash': evil})}"
        yield f"/documents/{quote('no' + evil, safe='')}"
        yield f"/clusters?{urlencode({'sort': evil})}"


def test_nothing_of_the_data_runs_or_misleads(visit, hostile):
    visitor = visit(hostile.origin, viewport={"width": 360, "height": 740})
    visitor.expect("status of 40[04]")
    page = visitor.open(hostile.at("/review"))
    # Decide with a hostile reason and a hostile name, which the pages then show.
    for evil in EVIL[:6]:
        page.goto(hostile.at("/clusters/0"))
        page.get_by_label("Why (optional)").first.fill(evil)
        with page.expect_navigation():
            page.get_by_role("button", name="Different").first.click()
    pages = 0
    for address in hostile_addresses(hostile):
        page.goto(hostile.at(address))
        hacked, text, heading, active, stays = page.evaluate(_SEEN)
        assert hacked is None, address
        assert not re.search(STEERING, text), address
        assert "49" not in re.findall(r"\{*\b49\b\}*", heading), address
        assert findings(page, "sizes") == [], address
        assert active == 0, address
        assert stays, address
        pages += 1
    assert pages > 80
    assert max(visitor.sizes.values()) <= MOST


def test_characters_that_steer_are_visible(visit, hostile):
    page = visit(hostile.origin).open(hostile.document(f"{EVIL[6]}6"))
    expect(page.locator("h1")).to_contain_text("⟨U+202E⟩txt.exe⟨U+2066⟩")
    expect(page.locator(".document-text")).to_contain_text("⟨U+202E⟩")
    page.goto(hostile.document(f"{EVIL[7]}7"))
    expect(page.locator("h1")).to_contain_text("nul␀ escape␛[31m")


def test_a_page_shows_hostile_text_as_it_is(visit, hostile):
    page = visit(hostile.origin).open(hostile.document(f"{EVIL[0]}0"))
    expect(page.locator("h1")).to_contain_text("<script>window.__hacked=1;alert(1)</script>0")
    page.goto(hostile.document(f"{EVIL[5]}5"))
    expect(page.locator(".document-text")).to_contain_text("{{7*7}}{% raw %}${7*7}<%= 7*7 %>")


class _Elsewhere(BaseHTTPRequestHandler):
    """A site that sends a form to the explorer as soon as it is opened."""

    page = ""

    def do_GET(self):
        body = self.page.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


@pytest.fixture
def elsewhere():
    with ThreadingHTTPServer(("127.0.0.1", 0), _Elsewhere) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def _token(visitor, served):
    page = visitor.open(served.at("/review"))
    return page.locator("input[name=token]").first.get_attribute("value")


@pytest.mark.parametrize("knows_token", [False, True])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_another_site_cannot_decide(visit, sample, elsewhere, monkeypatch, knows_token, host):
    origin = elsewhere.replace("127.0.0.1", host)
    visitor = visit(sample.origin, origin)
    visitor.expect("status of 403")
    token = _token(visitor, sample) if knows_token else "guess"
    fields = {"says": "different", "documents": "0", "token": token, "next": "/review"}
    inputs = "".join(f"<input name={name} value='{value}'>" for name, value in fields.items())
    monkeypatch.setattr(
        _Elsewhere,
        "page",
        f"<link rel=icon href=data:,><form method=post action={sample.at('/decisions')}>{inputs}"
        "<input name=documents value=1></form><script>document.forms[0].submit()</script>",
    )
    page = visitor.open()
    with page.expect_response(lambda answer: answer.url == sample.at("/decisions")) as answered:
        page.goto(origin)
    assert answered.value.status == 403
    expect(page.locator("main")).to_contain_text("This form is not from these pages")
    assert sample.lines() == []


def test_another_site_cannot_decide_by_a_script_or_read_pages(
    visit, sample, elsewhere, monkeypatch
):
    visitor = visit(sample.origin, elsewhere)
    visitor.expect(
        "CORS|ERR_FAILED|Cross-Origin|NotSameOrigin|status of 403|frame-ancestors|ERR_BLOCKED"
    )
    monkeypatch.setattr(_Elsewhere, "page", "<link rel=icon href=data:,><p>evil</p>")
    page = visitor.open(elsewhere)
    body = urlencode({"says": "same", "documents": ["0", "1"], "token": "guess"}, doseq=True)
    outcome = page.evaluate(
        """async ([origin, body]) => {
          const said = [];
          for (const mode of ["no-cors", "cors"])
            said.push(await fetch(`${origin}/decisions`,
                {method: "POST", mode, body: new URLSearchParams(body)})
              .then((answer) => answer.type, () => "failed"));
          said.push(await fetch(`${origin}/review`)
            .then((answer) => answer.text(), () => "failed"));
          const frame = document.createElement("iframe");
          frame.src = `${origin}/review`;
          document.body.append(frame);
          await new Promise((done) => frame.addEventListener("load", done));
          said.push(frame.contentDocument === null ? "failed" : "seen");
          return said;
        }""",
        [sample.origin, body],
    )
    assert outcome[1:] == ["failed", "failed", "failed"]
    assert outcome[0] in ("failed", "opaque")
    framed = page.frames[-1]
    assert "Review" not in framed.locator("body").inner_text()
    assert sample.lines() == []


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost:x", ""])
def test_other_names_of_this_machine_are_refused(sample, host):
    connection = http.client.HTTPConnection(sample.origin.removeprefix("http://"))
    for method, path in (("GET", "/"), ("GET", "/static/x/base.css"), ("POST", "/decisions")):
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", host)
        connection.putheader("Content-Length", "0")
        connection.putheader("Content-Type", "application/x-www-form-urlencoded")
        connection.endheaders()
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 403
        connection.close()


def test_it_listens_on_this_machine_alone(sample):
    port = int(sample.origin.rsplit(":", 1)[1])
    listening = []
    for name in ("tcp", "tcp6"):
        with open(f"/proc/net/{name}", encoding="ascii") as table:
            for line in table.readlines()[1:]:
                address, state = line.split()[1], line.split()[3]
                if state == "0A" and int(address.split(":")[1], 16) == port:
                    listening.append(address.split(":")[0])
    assert listening == ["0100007F"]


def test_a_decision_names_only_documents_of_the_run(visit, sample):
    visitor = visit(sample.origin)
    visitor.expect("status of 40")
    page = visitor.open(sample.at("/review"))
    token = page.locator("input[name=token]").first.get_attribute("value")
    for fields in (
        {"says": "same", "documents": ["0", "999999"]},
        {"says": "same", "documents": ["0", "0"]},
        {"says": "<script>", "documents": ["0", "1"]},
        {"says": "same", "documents": ["-1", "x"]},
        {"says": "same", "documents": ["0", "1"], "next": "//evil.example/"},
        {"says": "same", "documents": ["0", "1"], "next": "javascript:alert(1)"},
    ):
        status = page.evaluate(
            "([body]) => fetch('/decisions', {method: 'POST', body: new URLSearchParams(body)})"
            ".then((answer) => answer.status)",
            [urlencode({**fields, "token": token}, doseq=True)],
        )
        assert status == 400, json.dumps(fields)
    assert sample.lines() == []
