"""An item pipeline for Scrapy that drops near-duplicates.

In `settings.py` of a Scrapy project:

    ITEM_PIPELINES = {"neardup.contrib.scrapy.NearDuplicatePipeline": 300}
    NEARDUP_INDEX = "seen.index"

| setting | default | meaning |
|---|---|---|
| `NEARDUP_INDEX` | | folder of a local index; with `NEARDUP_URL`, name of an index on a server |
| `NEARDUP_URL` | none | address of a server, such as `http://127.0.0.1:7700` |
| `NEARDUP_KEY` | none | key for the server |
| `NEARDUP_TEXT` | `text` | field with the text, or a list of fields whose texts are joined |
| `NEARDUP_ID` | `url` | field with the id that matches are named by |
| `NEARDUP_METADATA` | none | list of fields to store with a document |
| `NEARDUP_THRESHOLD` | 0.8 | minimum similarity of near-duplicates, for a new index |
| `NEARDUP_SETTINGS` | none | other settings of `nd.Index` for a new index, as a dict |
| `NEARDUP_TTL` | never | time after which a document is forgotten, such as `30d` |
| `NEARDUP_KEEP_PER_GROUP` | 1 | how many near-duplicates of one kind to let through |
| `NEARDUP_EMPTY` | `keep` | what happens to items without text: `keep` or `drop` |
| `NEARDUP_ERRORS` | `keep` | what happens to items that cannot be checked: `keep` or `raise` |
"""

from __future__ import annotations

import logging
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeVar

from neardup.client import Client, RemoteIndex, ServiceError
from neardup.contrib.needs import needs
from neardup.errors import NeardupError, SettingError
from neardup.frozen import dataclass
from neardup.index import Index, Match, Verdict
from neardup.settings import seconds_of

with needs("scrapy", "neardup[scrapy]"):
    from itemadapter import ItemAdapter
    from scrapy import version_info
    from scrapy.exceptions import DropItem, NotConfigured

try:
    from scrapy.utils.asyncio import run_in_thread as _run_in_thread
except ImportError:  # Scrapy before 2.15
    _run_in_thread = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from typing_extensions import Self

T = TypeVar("T")
logger = logging.getLogger(__name__)

_DONE_WITH = ("keep", "drop")
_DONE_WITH_ERRORS = ("keep", "raise")


class NearDuplicateItem(DropItem):
    """An item was dropped because of `match`, the most similar document of the index."""

    def __init__(self, match: Match) -> None:
        found = match.similarity
        near = f"{match.distance} differing bits" if found is None else f"similarity {found:.4f}"
        super().__init__(f"near-duplicate of {match.id!r}, {near}")
        self.match = match


@dataclass(frozen=True)
class PipelineSettings:
    """The settings whose names begin with NEARDUP_, checked."""

    index: str
    url: str | None
    key: str | None
    text: tuple[str, ...]
    id: str
    metadata: tuple[str, ...]
    creation: Mapping[str, Any]
    ttl: str | float | None
    keep_per_group: int
    empty: str
    errors: str

    @classmethod
    def of(cls, given: BaseSettings) -> PipelineSettings:
        """Read the settings of a project; `NotConfigured` if there is no index."""
        index = given.get("NEARDUP_INDEX")
        if not index:
            raise NotConfigured(
                "NEARDUP_INDEX is missing; set it to the folder of an index, such as 'seen.index', "
                "or set NEARDUP_URL and the name of an index on that server"
            )
        creation = dict(given.getdict("NEARDUP_SETTINGS"))
        if given.get("NEARDUP_THRESHOLD") is not None:
            creation["threshold"] = given.getfloat("NEARDUP_THRESHOLD")
        ttl = given.get("NEARDUP_TTL")
        if ttl is not None:
            seconds_of(ttl, "NEARDUP_TTL")
        keep = given.getint("NEARDUP_KEEP_PER_GROUP", 1)
        if keep < 1:
            raise SettingError(f"NEARDUP_KEEP_PER_GROUP={keep} must be a whole number from 1 on")
        return cls(
            str(index),
            given.get("NEARDUP_URL"),
            given.get("NEARDUP_KEY"),
            _fields(given, "NEARDUP_TEXT", "text"),
            given.get("NEARDUP_ID", "url"),
            _fields(given, "NEARDUP_METADATA", ()),
            creation,
            ttl,
            keep,
            _choice(given, "NEARDUP_EMPTY", _DONE_WITH),
            _choice(given, "NEARDUP_ERRORS", _DONE_WITH_ERRORS),
        )


class NearDuplicatePipeline:
    """Drops items whose text is near that of an earlier one, in this crawl or before it.

    The index is asked in threads, so that the crawl goes on meanwhile. An item with the id of a
    document of the index is not a near-duplicate of that document: a page that is crawled again
    passes, and replaces its old version. Statistics: `neardup/new`, `neardup/duplicate`,
    `neardup/empty` and `neardup/error`.
    """

    def __init__(self, settings: PipelineSettings, crawler: Crawler) -> None:
        self._settings = settings
        self._crawler = crawler
        self._closing = ExitStack()
        self._index: Index | RemoteIndex | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline of a crawl."""
        return cls(PipelineSettings.of(crawler.settings), crawler)

    # Older versions of Scrapy pass the spider, newer ones only if it is required.
    def open_spider(self, spider: Spider | None = None) -> Awaitable[None]:
        """Open the index, or create it; its settings must be those of the project."""
        return _awaited(_in_thread(self._open))

    def close_spider(self, spider: Spider | None = None) -> Awaitable[None]:
        """Close the index."""
        return _awaited(_in_thread(self._closing.close))

    async def process_item(self, item: Any, spider: Spider | None = None) -> Any:
        """Return the item if it is new; else raise `NearDuplicateItem`, which has the match."""
        fields = ItemAdapter(item)
        text = "\n".join(_texts(fields.get(name) for name in self._settings.text)).strip()
        if not text:
            self._count("empty")
            if self._settings.empty == "drop":
                raise DropItem(f"no text in {', '.join(self._settings.text)}")
            return item
        try:
            verdict = await _in_thread(lambda: self._checked(fields, text))
        except NeardupError as error:
            self._count("error")
            if self._settings.errors == "raise":
                raise
            logger.warning("Kept an item that could not be checked: %s", error)
            return item
        if verdict.is_new or verdict.match is None:
            self._count("new")
            return item
        self._count("duplicate")
        raise NearDuplicateItem(verdict.match)

    def _open(self) -> None:
        settings = self._settings
        if settings.url is None:
            index: Index | RemoteIndex = Index(settings.index, **settings.creation)
            self._closing.callback(index.close)
        else:
            index = self._on_server(settings.url)
        if settings.ttl is not None and index.settings.threshold is None:
            raise SettingError(
                f"NEARDUP_TTL needs an index by similarity, but {settings.index} finds documents "
                "by the distance of fingerprints; name another index, or leave NEARDUP_TTL out"
            )
        self._index = index

    def _on_server(self, url: str) -> RemoteIndex:
        settings = self._settings
        client = self._closing.enter_context(Client(url, settings.key))
        index = client.index(settings.index)
        try:
            held = index.settings
        except ServiceError as error:
            if error.code != "index_not_found":
                raise
            return client.create_index(settings.index, **settings.creation)
        # An index that exists is not created again: that would need the key of an administrator.
        held.require(settings.creation, f"{settings.index} on {url}")
        return index

    def _checked(self, fields: ItemAdapter, text: str) -> Verdict:
        assert self._index is not None
        settings = self._settings
        metadata = {name: fields.get(name) for name in settings.metadata}
        return self._index.check(
            _id(fields.get(settings.id)),
            text,
            metadata or None,
            keep_per_group=settings.keep_per_group,
            ttl=settings.ttl,
            limit=1,
        )

    def _count(self, what: str) -> None:
        assert self._crawler.stats is not None
        self._crawler.stats.inc_value(f"neardup/{what}")


def _id(value: Any) -> int | str:
    """The id of a document; an item without one gets one that is never used again."""
    if value is None or value == "":
        return uuid.uuid4().hex
    return value if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _texts(values: Iterable[Any]) -> list[str]:
    """The texts of fields, each of which may be a list of texts."""
    found = []
    waiting = deque(values)
    while waiting:
        value = waiting.popleft()
        if isinstance(value, list | tuple):
            waiting.extendleft(reversed(value))
        elif value is not None:
            found.append(str(value))
    return found


def _fields(given: BaseSettings, name: str, default: str | tuple[str, ...]) -> tuple[str, ...]:
    value = given.get(name, default)
    parts = value.split(",") if isinstance(value, str) else value
    return tuple(part.strip() for part in parts)


def _choice(given: BaseSettings, name: str, choices: tuple[str, ...]) -> str:
    value = given.get(name, choices[0])
    if value not in choices:
        raise SettingError(f"{name}={value!r} is unknown; choose {' or '.join(choices)}")
    return str(value)


async def _in_thread(work: Callable[[], T]) -> T:
    """Run something that waits, without stopping the crawl, on either event loop of Scrapy."""
    if _run_in_thread is not None:
        return await _run_in_thread(work)
    from scrapy.utils.defer import maybe_deferred_to_future
    from twisted.internet.threads import deferToThread

    return await maybe_deferred_to_future(deferToThread(work))


def _awaited(work: Coroutine[Any, Any, None]) -> Awaitable[None]:
    """What Scrapy takes as a spider is opened or closed: coroutines, before 2.14 Deferreds."""
    if version_info >= (2, 14):
        return work
    from scrapy.utils.defer import deferred_from_coro

    return deferred_from_coro(work)
