"""A caller: sends requests of all kinds, knows what must come back, and what must be stored.

Each caller has ids of its own and sends one request at a time, so that it knows at every moment
which of its documents are there, except those of a write without an answer. It looks these up when
it verifies.
"""

from __future__ import annotations

import random
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event
from typing import Any
from urllib.parse import quote

import orjson
from tests.soak import hostile
from tests.soak.connection import Answer, Connection, NoAnswerError
from tests.soak.outcome import SHORT_LIVED
from tests.soak.texts import edited, text_of

INDEX = "/v1/indexes/pages"
DOCUMENTS = f"{INDEX}/documents"
BATCH, STREAM, DELETED_AT_ONCE = 20, 200, 50
REMEMBERED = 2_000
SIMILAR = 0.8
TTL_SECONDS = 1
# From the end of its time until an expired document must not be found: clocks are in milliseconds.
SOON_SECONDS = 0.1
WAIT_SECONDS = 0.02
GIVE_UP_SECONDS = 30
MOST_FINDINGS = 20
REFUSED, REFUSED_AS = (429, 503), "refused: "


class StoppedError(Exception):
    """The load ends while a request is still to be repeated."""


class Caller:
    """The documents of one caller, and what it saw.

    `live` are those that must be there, `gone` some that must not, `unknown` groups of which
    nobody answered; a group is all there or not at all if it was one transaction. With
    `may_break`, connections that end are no findings.
    """

    def __init__(self, name: str, port: int, target: int, may_break: bool) -> None:
        self.name = name
        self.counted: Counter[str] = Counter()
        self.findings: list[str] = []
        self.live: deque[str] = deque()
        self._gone: deque[str] = deque(maxlen=REMEMBERED)
        self._unknown: list[tuple[list[str], bool]] = []
        self._undeleted: list[str] = []
        self._short_lived: deque[tuple[str, float]] = deque()
        self._port = port
        self._target = target
        self._may_break = may_break
        self._connection = Connection(port)
        self._chance = random.Random(name)
        self._next = 0
        self._stop = Event()
        self._kinds: list[Callable[[], None]] = []
        for weight, kind in (
            (30, self._check_new),
            (12, self._check_edited),
            (3, self._check_batch),
            (2, self._add_batch),
            (1, self._add_lines),
            (2, self._check_short_lived),
            (20, self._query),
            (4, self._query_batch),
            (8, self._get),
            (4, self._get_gone),
            (2, self._look),
            (4, self._hostile),
        ):
            self._kinds += [kind] * weight

    def run(self, stop: Event) -> None:
        """Send requests until it is told to stop."""
        self._stop = stop
        while not stop.is_set() and len(self.findings) < MOST_FINDINGS:
            try:
                if len(self.live) > self._target:
                    self._delete()
                elif len(self.live) < self._target // 2:
                    self._add_lines()
                else:
                    self._chance.choice(self._kinds)()
            except StoppedError:
                return
            except Exception as error:  # of the test itself, or an answer without the right form
                self._find(f"{type(error).__name__}: {error}")

    def maintain(self, kind: str, stop: Event) -> None:
        """`expire` or `compact`."""
        self._stop = stop
        with suppress(StoppedError):
            self._written(kind, "POST", f"{INDEX}/{kind}", {})

    def verify(self) -> None:
        """Look for all documents: those that must be there, and those that must not."""
        self._stop = Event()
        try:
            self._look_up_unknown()
            self._verify_live()
            for id in self._gone:
                if self._is_there(id):
                    self._lose(f"{id} was deleted, and is there")
        except NoAnswerError as error:
            self._find(f"no answer while nobody kills anything: {error}")

    # Writes.

    def _check_new(self) -> None:
        (id,) = self._new_ids(1)
        document = {"id": id, "text": text_of(id), "metadata": {"of": self.name}}
        said, is_first = self._stored([id], "check", f"{INDEX}/check", document, True)
        self._expect(not is_first or (said["is_new"] and said["added"]), "check of a new", said)
        self._expect(said["id"] == id, "check of a new", said)

    def _check_edited(self) -> None:
        if not self.live:
            return
        original = self._chance.choice(self.live)
        (id,) = self._new_ids(1)
        document = {"id": id, "text": edited(text_of(original))}
        said, _ = self._written("check, edited", "POST", f"{INDEX}/check", document)
        found = said["match"] or {}
        is_right = not said["is_new"] and not said["added"] and found.get("id") == original
        self._expect(is_right and SIMILAR <= found["similarity"] < 1, "check of an edited", said)
        self._gone.append(id)

    def _check_batch(self) -> None:
        ids = self._new_ids(BATCH)
        body = {"documents": [{"id": id, "text": text_of(id)} for id in ids]}
        said, is_first = self._stored(ids, "check, batch", f"{INDEX}/check", body, True)
        told = [each["id"] for each in said["results"]]
        new = all(each["is_new"] and each["added"] for each in said["results"])
        self._expect(told == ids and (new or not is_first), "check of a batch", said)

    def _add_batch(self) -> None:
        ids = self._new_ids(BATCH)
        body = {"documents": [{"id": id, "text": text_of(id)} for id in ids]}
        said, _ = self._stored(ids, "add, batch", DOCUMENTS, body, True)
        told = [each["id"] for each in said["results"] if each["stored"]]
        self._expect(told == ids and said["stored"] == BATCH, "adding a batch", said)

    def _add_lines(self) -> None:
        """A stream with a line in its middle that is no JSON."""
        ids = self._new_ids(STREAM)
        lines = [orjson.dumps({"id": id, "text": text_of(id)}) for id in ids]
        lines.insert(STREAM // 2, b'{"id": ')
        self.counted["add, lines"] += 1
        try:
            answer, told = self._connection.lines(DOCUMENTS, lines)
        except NoAnswerError as error:
            self._break(str(error))
            answer, told = None, []
        stored = [each["id"] for each in told if each.get("stored")]
        self._keep(stored)
        left = ids[len(stored) :]
        if stored != ids[: len(stored)]:
            self._find(f"the answers to a stream are not in order: {stored[:5]} …")
        if answer is not None and answer.status == 200:
            wrong = [each for each in told if "error" in each]
            is_right = not left and [each["line"] for each in wrong] == [STREAM // 2 + 1]
            self._expect(is_right, "a stream", [len(told), wrong[:3]])
        elif answer is not None and answer.status not in REFUSED:
            self._find(f"a stream gave {answer.status}: {answer.body!r}")
        else:
            if answer is not None:
                self._refuse(answer)
            self._unknown += [([id], False) for id in left]
            time.sleep(WAIT_SECONDS)

    def _check_short_lived(self) -> None:
        """A document that expires; one that has must not be found."""
        now = time.monotonic()
        if self._short_lived and self._short_lived[0][1] < now:
            id, _ = self._short_lived.popleft()
            said = self._read("query, expired", "POST", f"{INDEX}/query", {"text": text_of(id)})
            self._expect(said["matches"] == [], "query for an expired document", said)
            return
        (id,) = self._new_ids(1)
        document = {"id": f"{SHORT_LIVED}{id}", "text": text_of(id)}
        self._written("check, ttl", "POST", f"{INDEX}/check?ttl={TTL_SECONDS}s", document)
        self._short_lived.append((id, time.monotonic() + TTL_SECONDS + SOON_SECONDS))

    def _delete(self) -> None:
        """The oldest ones: many, or one."""
        if self._chance.random() < 0.5:
            count = min(DELETED_AT_ONCE, len(self.live))
            ids = [self.live.popleft() for _ in range(count)]
            self._undeleted = ids
            said, is_first = self._written(
                "delete, batch", "POST", f"{DOCUMENTS}/delete", {"ids": ids}
            )
            self._expect(not is_first or said["deleted"] == count, "deleting many", said)
        else:
            ids = self._undeleted = [self.live.popleft()]
            path = _document(ids[0])
            said, is_first = self._written("delete", "DELETE", path, None, also=404)
            self._expect(not is_first or said.get("deleted") is True, "deleting one", said)
        self._undeleted = []
        self._gone += ids
        self.counted["acknowledged"] += len(ids)

    # Reads.

    def _query(self) -> None:
        if self.live:
            id = self._chance.choice(self.live)
            said = self._read("query", "POST", f"{INDEX}/query", {"text": text_of(id)})
            self._expect(_finds(said, id), f"query for {id}", said)

    def _query_batch(self) -> None:
        if self.live:
            ids = [self._chance.choice(self.live) for _ in range(BATCH)]
            for id, said in zip(ids, self._ask("query, batch", ids), strict=True):
                self._expect(_finds(said, id), f"query for {id} in a batch", said)

    def _get(self) -> None:
        if self.live:
            id = self._chance.choice(self.live)
            said = self._read("get", "GET", _document(id))
            self._expect(said["id"] == id, "get", said)

    def _get_gone(self) -> None:
        if self._gone:
            id = self._chance.choice(self._gone)
            said = self._read("get, deleted", "GET", _document(id), None, 404)
            self._expect(said["code"] == "document_not_found", "get of a deleted", said)

    def _look(self) -> None:
        """What operators look at."""
        paths = (INDEX, "/v1/indexes", f"{INDEX}/stats", "/metrics", "/healthz", "/openapi.json")
        path = self._chance.choice(paths)
        said = self._read(path.removeprefix(INDEX).strip("/") or "index", "GET", path)
        self._expect(bool(said), path, said)

    def _hostile(self) -> None:
        name = self._chance.choice(list(hostile.requests()))
        request, allowed = hostile.requests()[name]
        self.counted["hostile"] += 1
        try:
            status = hostile.send(self._port, request, hostile.HUNG_UP in allowed)
        except OSError as error:
            self._break(f"{name}: {error!r}")
            return
        if self._may_break:
            allowed |= {hostile.HUNG_UP}
        if status not in allowed and status not in REFUSED:
            self._find(f"{name} gave {status or 'no answer'}")

    # How requests are sent.

    def _new_ids(self, count: int) -> list[str]:
        first = self._next
        self._next += count
        return [f"{self.name}/{number}" for number in range(first, self._next)]

    def _stored(
        self, ids: list[str], kind: str, path: str, body: Any, is_one_change: bool
    ) -> tuple[Any, bool]:
        """A write that stores documents. Without an answer, they are unknown."""
        try:
            told = self._written(kind, "POST", path, body)
        except StoppedError:
            self._unknown.append((ids, is_one_change))
            raise
        self._keep(ids)
        return told

    def _keep(self, ids: Sequence[str]) -> None:
        self.live += ids
        self.counted["acknowledged"] += len(ids)

    def _written(
        self, kind: str, method: str, path: str, body: Any, also: int = 200
    ) -> tuple[Any, bool]:
        """A write, repeated until it is answered; and whether the first try was."""
        said, is_first = self._tried(kind, method, path, body, (200, also))
        return said, is_first

    def _read(self, kind: str, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        return self._tried(kind, method, path, body, (status,))[0]

    def _tried(
        self, kind: str, method: str, path: str, body: Any, right: Sequence[int]
    ) -> tuple[Any, bool]:
        self.counted[kind] += 1
        deadline = time.monotonic() + GIVE_UP_SECONDS
        is_first = True
        while True:
            answer: Answer | None = None
            try:
                answer = self._connection.call(method, path, body)
            except NoAnswerError as error:
                self._break(f"{kind}: {error}")
            if answer is not None and answer.status not in REFUSED:
                # A 404 is only right for what was deleted by a try before.
                if answer.status not in right or (is_first and answer.status != right[0]):
                    raise AssertionError(f"{method} {path} gave {answer.status}: {answer.body}")
                return answer.body, is_first
            is_first = False
            wait = WAIT_SECONDS
            if answer is not None:
                self._refuse(answer)
                wait = min(answer.retry_after or 0, 1) or WAIT_SECONDS
            if time.monotonic() > deadline:
                raise AssertionError(f"{method} {path} had no answer in {GIVE_UP_SECONDS} seconds")
            if self._stop.wait(wait):
                raise StoppedError

    # What is found.

    def _look_up_unknown(self) -> None:
        for ids, is_one_change in self._unknown:
            there = [id for id in ids if self._is_there(id)]
            if is_one_change and there and there != ids:
                self._lose(f"{len(there)} of {len(ids)} documents of one change are there: {ids}")
            self.live += there
            self._gone += [id for id in ids if id not in there]
        self._unknown = []
        there = [id for id in self._undeleted if self._is_there(id)]
        if there and len(there) != len(self._undeleted):
            self._lose(f"a change deleted some of its documents, and left {there}")
        self.live.extendleft(reversed(there))
        self._gone += [id for id in self._undeleted if id not in there]
        self._undeleted = []

    def _verify_live(self) -> None:
        ids = list(self.live)
        for first in range(0, len(ids), BATCH * 5):
            some = ids[first : first + BATCH * 5]
            for id, said in zip(some, self._ask("verify", some), strict=True):
                if not _finds(said, id):
                    stored = "and get finds it" if self._is_there(id) else "it is not stored"
                    self._lose(f"a query does not find {id}, {stored}: {said}")

    def _ask(self, kind: str, ids: Sequence[str]) -> list[Any]:
        body = {"documents": [{"text": text_of(id)} for id in ids]}
        said = self._read(kind, "POST", f"{INDEX}/query?limit=2", body)
        return list(said["results"])

    def _is_there(self, id: str) -> bool:
        deadline = time.monotonic() + GIVE_UP_SECONDS
        while True:
            answer = self._connection.call("GET", _document(id))
            if answer.status in (200, 404):
                return answer.status == 200
            if answer.status not in REFUSED or time.monotonic() > deadline:
                raise AssertionError(f"GET {id} gave {answer.status}: {answer.body}")
            time.sleep(WAIT_SECONDS)

    def _expect(self, is_right: bool, what: str, said: Any) -> None:
        if not is_right:
            self._find(f"{what} was answered with {str(said)[:500]}")

    def _refuse(self, answer: Answer) -> None:
        self.counted[f"{REFUSED_AS}{answer.status} {answer.body.get('code')}"] += 1
        if answer.retry_after is None:
            self._find(f"{answer.status} without Retry-After: {answer.body}")

    def _break(self, why: str) -> None:
        self.counted["broken connections"] += 1
        if not self._may_break:
            self._find(why)

    def _lose(self, what: str) -> None:
        self.counted["lost"] += 1
        self._find(what)

    def _find(self, what: str) -> None:
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(f"{self.name}: {what}")
        self.counted["unexpected"] += 1


def _finds(said: Any, id: str) -> bool:
    matches = said["matches"]
    return bool(matches) and matches[0]["id"] == id and matches[0]["similarity"] == 1


def _document(id: str) -> str:
    return f"{DOCUMENTS}/{quote(id, safe='')}"
