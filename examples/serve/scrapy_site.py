"""Crawl a site and drop near-duplicate pages, with Scrapy and neardup's item pipeline.

    python examples/serve/scrapy_site.py seen.index
    python examples/serve/scrapy_site.py scrapy-example --url http://127.0.0.1:7700

The first form uses an index in a folder, the second an index of a server that was started with
`neardup serve data`. The site is served by this program itself: seven pages, three of which are
other versions of another one. In a second run the same four pages pass again: a page is not a
near-duplicate of its own earlier version, which it replaces. A server with keys wants NEARDUP_KEY
in the environment.
"""

import argparse
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import scrapy
from scrapy import signals
from scrapy.crawler import CrawlerProcess

LIBRARY = (
    "The library will be closed on Monday, because the books are being counted and the shelves "
    "repaired. Borrowed books can be returned at the town hall, next to the main entrance. "
    "From Tuesday on, everything is open as usual, from nine in the morning to six at night."
)
CAKE = (
    "Für den Pflaumenkuchen einen Teig aus Mehl, Butter, Zucker und Hefe kneten und auf dem Blech "
    "ausrollen. Die Pflaumen halbieren, dicht an dicht auf den Teig setzen und mit Streuseln "
    "bedecken. Nach vierzig Minuten im heißen Ofen duftet das ganze Haus danach."
)
STORM = (
    "受台风影响，沿海地区今晚到明天有大到暴雨，阵风可达十级。渔船应尽快回港，居民请收好阳台上的花盆。"
    "低洼路段可能积水，没有要紧的事情最好留在家里。"
)
CAT = (
    "ضاعت قطة بيضاء صغيرة ذات عينين زرقاوين قرب سوق الزهور مساء الجمعة الماضي. حول رقبتها شريط "
    "أحمر وجرس صغير، وهي تخاف من الغرباء لكنها تحب السمك كثيرا."
)
PAGES = {
    "/library": LIBRARY,
    "/library/print": f"Print version. {LIBRARY}",
    "/kuchen": CAKE,
    "/kuchen?session=17": CAKE.replace("vierzig", "fünfzig"),
    "/tianqi": STORM,
    "/tianqi/amp": STORM.replace("，", ", "),
    "/qitta": CAT,
}


class Site(BaseHTTPRequestHandler):
    """The pages, and a home page that links to all of them."""

    def do_GET(self) -> None:
        """Answer with a page."""
        if self.path == "/":
            body = "".join(f'<a href="{path}">{path}</a> ' for path in PAGES)
        else:
            body = f"<article>{PAGES.get(self.path, '')}</article>"
        content = f'<!doctype html><meta charset="utf-8">{body}'.encode()
        self.send_response(200 if self.path == "/" or self.path in PAGES else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Say nothing about requests."""


class PageSpider(scrapy.Spider):
    """Follows all links of the home page, and takes the text of each article."""

    name = "pages"

    def parse(self, response: Any) -> Iterator[Any]:
        """Yield the text of a page, or requests for the pages it links to."""
        for text in response.css("article::text").getall():
            yield {"page": response.url.split("/", 3)[3], "text": text}
        yield from response.follow_all(css="a")


def main() -> None:
    """Serve the site, crawl it, and print what passed and what was dropped."""
    parser = argparse.ArgumentParser(description="Crawl a small site and drop near-duplicates.")
    parser.add_argument("index", help="folder of an index; with --url, name of one on the server")
    parser.add_argument("--url", help="address of a server, such as http://127.0.0.1:7700")
    given = parser.parse_args()

    site = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()

    process = CrawlerProcess(
        {
            "ITEM_PIPELINES": {"neardup.contrib.scrapy.NearDuplicatePipeline": 300},
            "NEARDUP_INDEX": given.index,
            "NEARDUP_URL": given.url,
            "NEARDUP_KEY": os.environ.get("NEARDUP_KEY"),
            "NEARDUP_ID": "page",
            "LOG_LEVEL": "ERROR",
            # One page after the other, in the order of the links, so that every run is the same.
            "CONCURRENT_REQUESTS": 1,
            "SCRAPER_SLOT_MAX_ACTIVE_SIZE": 1,
            "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        }
    )
    crawler = process.create_crawler(PageSpider)

    def passed(item: Any) -> None:
        print(f"new      {item['page']}")

    def dropped(item: Any, exception: Exception) -> None:
        print(f"dropped  {item['page']}: {exception}")

    crawler.signals.connect(passed, signals.item_scraped)
    crawler.signals.connect(dropped, signals.item_dropped)
    port = site.server_address[1]
    process.crawl(crawler, start_urls=[f"http://127.0.0.1:{port}/"])
    process.start()
    site.shutdown()

    assert crawler.stats is not None
    counts = crawler.stats.get_stats()
    new, duplicates = (counts.get(f"neardup/{what}", 0) for what in ("new", "duplicate"))
    print(f"{new} new pages, {duplicates} near-duplicates")


if __name__ == "__main__":
    main()
