"""The item pipeline in real crawls, of a small site, in a process each."""

import asyncio
import json
import subprocess
import sys
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import uuid4

import pytest
from tests.client.running import serving
from tests.index.texts import edited, text

import neardup as nd

pytest.importorskip("scrapy", reason="Scrapy is not installed")

from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from neardup.contrib.scrapy import NearDuplicateItem, NearDuplicatePipeline, PipelineSettings

STORM = "受台风影响，沿海地区今晚到明天有大到暴雨，阵风可达十级。"
# The site has one page of JSON: these items.
PAGES = [
    {"url": "https://example.org/1", "text": text(1), "lang": "x"},
    {"url": "https://example.org/1?print", "text": text(1).upper()},
    {"url": "https://example.org/2", "text": [STORM[:10], STORM[10:]]},
    {"url": "https://example.org/3", "text": edited(1)},
    {"url": "https://example.org/4", "text": " \n "},
    {"url": "https://example.org/5"},
    {"url": "https://example.org/6", "text": STORM.replace("。", "！")},
]

# Crawls the pages at sys.argv[1] with the settings of sys.argv[2], and prints what happened.
CRAWL = """
import dataclasses, json, sys, warnings
import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import ScrapyDeprecationWarning

from neardup.client import call

# Repeated calls have tests of their own: the pauses between them are short here.
call.uniform = lambda least, most: 0.01
warnings.filterwarnings("error", category=ScrapyDeprecationWarning)

told = {"new": [], "dropped": {}}

@dataclasses.dataclass
class Page:
    url: str
    text: object = None
    lang: str = None

class PageSpider(scrapy.Spider):
    name = "pages"

    def parse(self, response):
        for page in response.json():
            yield Page(**page)

process = CrawlerProcess({
    "ITEM_PIPELINES": {"neardup.contrib.scrapy.NearDuplicatePipeline": 300},
    "CONCURRENT_ITEMS": 1,
    **json.loads(sys.argv[2]),
})
crawler = process.create_crawler(PageSpider)
crawler.signals.connect(lambda item: told["new"].append(item.url[-1]), signals.item_scraped,
                        weak=False)
def dropped(item, exception):
    told["dropped"][item.url] = [str(exception), type(exception).__name__]
crawler.signals.connect(dropped, signals.item_dropped)
process.crawl(crawler, start_urls=[sys.argv[1]])
process.start()
stats = crawler.stats.get_stats()
told["stats"] = {name: n for name, n in stats.items() if name.startswith("neardup/")}
print(json.dumps(told))
"""


@dataclass(frozen=True)
class Crawled:
    new: str
    dropped: dict
    stats: dict
    log: str


@pytest.fixture(scope="module")
def site():
    class Site(BaseHTTPRequestHandler):
        def do_GET(self):
            body = json.dumps(PAGES).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_): ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("served") / "data") as running:
        yield running.url


@pytest.fixture
def crawl(site, tmp_path):
    def crawl(**settings):
        command = [sys.executable, "-c", CRAWL, site, json.dumps(settings)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=120, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout.splitlines()[-1])
        return Crawled("".join(told["new"]), told["dropped"], told["stats"], done.stderr)

    return crawl


@pytest.fixture(params=["local", "server"])
def where(request, tmp_path):
    """Settings for an index of either kind, and how to open it."""
    if request.param == "local":
        yield {"NEARDUP_INDEX": "seen.index"}, lambda: nd.Index(tmp_path / "seen.index")
        return
    url, name = request.getfixturevalue("served"), f"crawl-{uuid4().hex[:8]}"
    with nd.Client(url) as client:
        yield {"NEARDUP_INDEX": name, "NEARDUP_URL": url}, lambda: client.index(name)


def test_near_duplicates_are_dropped(crawl, where):
    settings, index = where
    first = crawl(NEARDUP_METADATA=["lang"], **settings)
    assert first.new == "1245"
    assert first.dropped == {
        "https://example.org/1?print": [
            "near-duplicate of 'https://example.org/1', similarity 1.0000",
            "NearDuplicateItem",
        ],
        "https://example.org/3": [
            "near-duplicate of 'https://example.org/1', similarity 0.8947",
            "NearDuplicateItem",
        ],
        "https://example.org/6": [
            "near-duplicate of 'https://example.org/2', similarity 1.0000",
            "NearDuplicateItem",
        ],
    }
    assert first.stats == {"neardup/new": 2, "neardup/duplicate": 3, "neardup/empty": 2}
    with index() as seen:
        assert len(seen) == 2
        assert seen.get("https://example.org/1").metadata == {"lang": "x"}
    again = crawl(**settings)  # a page is no near-duplicate of itself
    assert (again.new, again.stats) == (first.new, first.stats)


def test_every_setting_has_an_effect(crawl, where):
    settings, index = where
    found = crawl(
        NEARDUP_TEXT="lang, text",
        NEARDUP_ID="nothing",
        NEARDUP_THRESHOLD="0.95",
        NEARDUP_SETTINGS={"features": "word:2", "store_text": True},
        NEARDUP_TTL="1h",
        NEARDUP_KEEP_PER_GROUP="2",
        NEARDUP_EMPTY="drop",
        **settings,
    )
    # Twice each, as two of a kind are kept; 0.9 is below the threshold.
    assert found.new == "1t236"
    assert found.dropped["https://example.org/4"][0] == "no text in lang, text"
    assert found.stats == {"neardup/new": 5, "neardup/empty": 2}
    with index() as seen:
        held = seen.settings
        assert (held.threshold, str(held.scheme.features), held.store_text) == (
            0.95,
            "word:2",
            True,
        )
        assert held.ttl is None
        (match,) = seen.query(f"x\n{text(1)}", threshold=1.0)
        stored = seen.get(match.id)
        assert stored.text == f"x\n{text(1)}"
        assert 3599 < stored.expires - stored.seen.first <= 3600


def test_an_index_with_other_settings_is_refused(crawl, where):
    settings, _ = where
    crawl(**settings)
    found = crawl(NEARDUP_THRESHOLD=0.9, **settings)
    assert "was created with threshold=0.8, but 0.9 was given" in found.log
    assert found.stats == {}


def test_the_crawl_goes_on_while_an_item_is_checked(tmp_path):
    crawler = get_crawler(settings_dict={"NEARDUP_INDEX": str(tmp_path / "seen.index")})
    pipeline = NearDuplicatePipeline.from_crawler(crawler)
    held, released = threading.Event(), threading.Event()

    def hold(_):
        held.set()
        assert released.wait(60), "nothing else ran while the item waited"

    async def work():
        await pipeline.open_spider()
        with nd.Index(tmp_path / "seen.index") as other:
            writer = threading.Thread(target=other._store.change, args=(hold,))
            writer.start()
            held.wait()  # from here on, a check has to wait for the other writer
            item = {"url": "https://example.org/1", "text": text(1)}
            checked = asyncio.ensure_future(pipeline.process_item(item))
            for _ in range(10):
                await asyncio.sleep(0)
            assert not checked.done()
            released.set()
            assert await checked is item
            writer.join()
        await pipeline.close_spider()

    asyncio.run(work())
    assert crawler.stats.get_value("neardup/new") == 1


def test_without_asyncio(crawl, tmp_path):
    """Scrapy can run on another reactor, where coroutines await Deferreds."""
    found = crawl(TWISTED_REACTOR="twisted.internet.epollreactor.EPollReactor", NEARDUP_INDEX="i")
    assert found.stats == {"neardup/new": 2, "neardup/duplicate": 3, "neardup/empty": 2}


def test_items_that_cannot_be_checked_are_kept_unless_told_otherwise(crawl):
    # Texts are no terms.
    wrong = {"NEARDUP_INDEX": "i", "NEARDUP_SETTINGS": {"features": "terms"}}
    kept = crawl(**wrong)
    assert kept.new == "1t23456"
    assert kept.stats == {"neardup/error": 5, "neardup/empty": 2}
    assert "Kept an item that could not be checked" in kept.log
    lost = crawl(NEARDUP_ERRORS="raise", **wrong)
    assert lost.new == "45"
    assert lost.stats == kept.stats


def test_an_unreachable_server_ends_the_crawl(crawl):
    found = crawl(NEARDUP_INDEX="i", NEARDUP_URL="http://127.0.0.1:9")
    assert "http://127.0.0.1:9 cannot be reached" in found.log
    assert (found.new, found.stats) == ("", {})


def test_a_pipeline_without_an_index_is_disabled(crawl):
    found = crawl()
    assert (
        "Disabled neardup.contrib.scrapy.NearDuplicatePipeline: NEARDUP_INDEX is miss" in found.log
    )
    assert (found.new, found.stats) == ("1t23456", {})
    with pytest.raises(NotConfigured, match=r"NEARDUP_INDEX is missing; set it to the folder"):
        PipelineSettings.of(Settings())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NEARDUP_EMPTY", "perhaps"),
        ("NEARDUP_ERRORS", "drop"),
        ("NEARDUP_TTL", "soon"),
        ("NEARDUP_KEEP_PER_GROUP", 0),
    ],
)
def test_wrong_values_are_refused(name, value):
    with pytest.raises(nd.SettingError, match=name):
        PipelineSettings.of(Settings({"NEARDUP_INDEX": "i", name: value}))


def test_the_exception_has_the_match():
    assert str(NearDuplicateItem(nd.Match("a", 3))) == "near-duplicate of 'a', 3 differing bits"
    assert NearDuplicateItem(nd.Match("a", 3, 0.5)).match == nd.Match("a", 3, 0.5)
