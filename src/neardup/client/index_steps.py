"""What a client asks of one index, as steps: the methods of `nd.Index`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, TypeVar

from neardup.client.answers import (
    IndexInfo,
    answers_of,
    comparison_of,
    matches_of,
    rows_of,
    stats_of,
    stored_document_of,
    verdict_of,
)
from neardup.client.call import Call, Steps, ask, nothing
from neardup.client.documents import body_of, many, one, one_text, portions, questions
from neardup.client.errors import ServiceError
from neardup.client.server_steps import index_path, json_of, segment
from neardup.comparison.result import Comparison
from neardup.errors import SettingError
from neardup.fingerprints import Scheme
from neardup.index.entries import Id, checked_id
from neardup.index.match import Answers, Match, Verdict
from neardup.index.settings import IndexSettings
from neardup.index.told import IndexStats, StoredDocument

DEFAULT_LIMIT = 10
# The most matches of a document that a server returns: the meaning of `limit=None`.
MOST_MATCHES = 1000
# Documents to add need no short answers, so that more of them go together than of others.
_ADDED_AT_ONCE, _ADDED_BYTES = 5000, 8 << 20
_IDS_AT_ONCE = 10_000
Adding = Literal["new", "always", "never"]
T = TypeVar("T")


class IndexSteps:
    """The calls of one index; each method returns the steps that a client runs."""

    def __init__(self, name: str, retries: int) -> None:
        self.name = name
        self._retries = retries
        self._known: IndexSettings | None = None
        index_path(name)

    def info(self) -> Steps[IndexInfo]:
        """The number of documents now, and the settings."""
        info = yield from ask(Call("GET", index_path(self.name), IndexInfo.of), self._retries)
        self._known = info.settings
        return info

    def settings(self) -> Steps[IndexSettings]:
        """The settings that the index was created with; they are asked for once."""
        if self._known is None:
            yield from self.info()
        assert self._known is not None
        return self._known

    def scheme(self) -> Steps[Scheme]:
        """The scheme of the fingerprints."""
        return (yield from self.settings()).scheme

    def count(self) -> Steps[int]:
        """The number of documents."""
        return (yield from self.info()).documents

    def add(
        self, id: Id, document: Any, metadata: Any = None, *, ttl: str | float | None = None
    ) -> Steps[None]:
        """Add a document: a text, a record as a dict, or terms, as the scheme requires.

        An existing document with the same id is replaced. `metadata` is any JSON value. `ttl`
        overrides that of the index, for example "30d".
        """
        body = yield from self._one(document, checked_id(id), metadata)
        yield from self._post("documents", body, nothing, ttl=ttl)

    def add_many(
        self,
        batches: Any,
        *,
        metadata: Sequence[str] = (),
        at_once: bool = False,
        ttl: str | float | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Steps[int]:
        """Add many documents, near-duplicates too; return how many, unchanged ones included.

        Takes an iterable of (id, text) or (id, text, metadata), a table with the columns `id` and
        `text`, the result of `neardup.read`, or an iterable of these. `metadata` names the table
        columns to store. Documents are sent and committed in batches of up to 5,000, and
        `progress` is called with the number committed. `at_once` is refused: there is no
        transaction over several requests.
        """
        if at_once:
            raise SettingError(
                "at_once is for an index on disk: a server commits each batch of documents; call "
                "add_many without it, and again after an error, which adds nothing twice"
            )
        scheme = yield from self.scheme()
        stored = seen = 0
        objects = many(batches, scheme, metadata)
        for portion in portions(objects, _ADDED_AT_ONCE, _ADDED_BYTES):
            rows = yield from self._post_many("documents", portion, seen, ttl=ttl)
            stored += sum(row["stored"] for row in rows)
            seen += len(portion)
            if progress:
                progress(seen)
        return stored

    def check(
        self,
        id: Id,
        document: Any,
        metadata: Any = None,
        *,
        add: Adding = "new",
        keep_per_group: int = 1,
        ttl: str | float | None = None,
        max_distance: int | None = None,
        threshold: float | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> Steps[Verdict]:
        """Say whether a document was seen before, and add it if it is new, in one transaction.

        A document with the same id is not a match, so that a check can be repeated: it is replaced
        if the new one is added, unless nothing changed.

        Args:
            id: The id to add the document under.
            document: A text, a record as a dict, or terms, as the scheme requires.
            metadata: Any JSON value, stored with the document.
            add: Which documents to add: `new` ones, which have no near-duplicate in the index,
                all of them (`always`), or none (`never`).
            keep_per_group: How many documents of a kind are new: a document is, if fewer than this
                many match it.
            ttl: Time until the document expires, for example "30d". Default: that of the index.
            max_distance: Maximum number of differing bits, of an index by distance.
            threshold: Minimum similarity. Default: that of the index.
            limit: Maximum number of matches to return; None for 1,000.
        """
        body = yield from self._one(document, checked_id(id), metadata)
        rules = _rules(add, keep_per_group, ttl, max_distance, threshold, limit)
        return (yield from self._post("check", body, verdict_of, **rules))

    def check_many(
        self,
        batches: Any,
        *,
        metadata: Sequence[str] = (),
        add: Adding = "new",
        keep_per_group: int = 1,
        ttl: str | float | None = None,
        max_distance: int | None = None,
        threshold: float | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> Steps[list[Verdict]]:
        """Check many documents in order; returns a `Verdict` for each.

        Documents are compared with those before them, too, so that a batch deduplicates itself.
        They are sent in batches of up to 1,000, each of which is one transaction. Takes what
        `add_many` takes; the other arguments are those of `check`.
        """
        scheme = yield from self.scheme()
        rules = _rules(add, keep_per_group, ttl, max_distance, threshold, limit)
        verdicts: list[Verdict] = []
        for portion in portions(many(batches, scheme, metadata)):
            rows = yield from self._post_many("check", portion, len(verdicts), **rules)
            verdicts += map(verdict_of, rows)
        return verdicts

    def query(
        self,
        document: Any,
        max_distance: int | None = None,
        threshold: float | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> Steps[list[Match]]:
        """Find the near-duplicates of a document, the most similar or nearest first, ties by id.

        The document is a text, a record as a dict, or terms, not a fingerprint. `threshold`
        defaults to that of the index and is not lower. A `limit` of None means 1,000.
        """
        body = yield from self._one(document)
        asked = _asked(max_distance, threshold, limit)
        return (yield from self._post("query", body, matches_of, **asked))

    def query_many(
        self,
        documents: Any,
        max_distance: int | None = None,
        threshold: float | None = None,
        limit: int | None = DEFAULT_LIMIT,
    ) -> Steps[Answers]:
        """Run `query` for many documents; returns one list of matches for each."""
        settings = yield from self.settings()
        asked = _asked(max_distance, threshold, limit)
        found: list[list[Match]] = []
        for portion in portions(questions(documents, settings.scheme)):
            rows = yield from self._post_many("query", portion, len(found), **asked)
            found += map(matches_of, rows)
        return answers_of(found, settings.threshold is not None)

    def get(self, id: Id) -> Steps[StoredDocument | None]:
        """The stored document with this id, or None."""
        wanted = checked_id(id)
        path = index_path(self.name, "documents", segment(str(wanted)))
        kind = {"id_type": "string" if isinstance(wanted, str) else "integer"}
        try:
            return (yield from ask(Call("GET", path, stored_document_of, kind), self._retries))
        except ServiceError as error:
            if error.code == "document_not_found":
                return None
            raise

    def contains(self, id: Id) -> Steps[bool]:
        """Whether a document with this id is in the index."""
        return (yield from self.get(id)) is not None

    def delete(self, id: Id) -> Steps[bool]:
        """Remove a document; return False if the id is not in the index."""
        return (yield from self.delete_many([id])) == 1

    def delete_many(self, ids: Sequence[Id]) -> Steps[int]:
        """Remove documents; return how many were in the index."""
        wanted = iter(dict.fromkeys(map(checked_id, ids)))
        deleted = 0
        while some := list(islice(wanted, _IDS_AT_ONCE)):
            body = json_of({"ids": some})
            deleted += yield from self._post("documents/delete", body, _of("deleted"))
        return deleted

    def expire(self) -> Steps[int]:
        """Remove the documents whose time is over, and free their space; return how many."""
        return self._work("expire", "removed")

    def stats(self) -> Steps[IndexStats]:
        """Documents, bytes, segments, ages and growth."""
        path = index_path(self.name, "stats")
        return ask(Call("GET", path, stats_of, slow=True), self._retries)

    def compact(self) -> Steps[None]:
        """Merge segments and free the space of removed documents."""
        yield from self._work("compact", "documents")

    def backup(self, name: str) -> Steps[int]:
        """Write a verified copy to the folder `backups/NAME` of the server; return its documents.

        The name must be new. Others may write meanwhile.
        """
        # Not repeatable: the second answer would be that the backup exists.
        return self._work("backup", "documents", json_of({"name": name}), repeatable=False)

    def compare(self, a: str | Mapping[str, Any], b: str | Mapping[str, Any]) -> Steps[Comparison]:
        """Compare two documents under the scheme of the index: features, fingerprints, diff.

        Each is a text, or `{"id": ...}` of a stored document if the index stores texts.
        """
        body = {
            name: {"text": side} if isinstance(side, str) else side
            for name, side in (("a", a), ("b", b))
        }
        return self._post("compare", json_of(body), comparison_of)

    def _one(self, document: Any, id: Id | None = None, metadata: Any = None) -> Steps[bytes]:
        """One document as JSON; only for other documents than texts, the scheme must be known."""
        if isinstance(document, str):
            return one_text(document, id, metadata)
        scheme = yield from self.scheme()
        return one(scheme, document, id, metadata)

    def _post(self, what: str, body: bytes, read: Callable[[Any], T], **given: Any) -> Steps[T]:
        parameters = {name: str(value) for name, value in given.items() if value is not None}
        path = index_path(self.name, what)
        return ask(Call("POST", path, read, parameters, body), self._retries)

    def _post_many(
        self, what: str, portion: Sequence[bytes], before: int, **given: Any
    ) -> Steps[list[Mapping[str, Any]]]:
        def read(found: Any) -> list[Mapping[str, Any]]:
            return rows_of(found, len(portion), before)

        return self._post(what, body_of(portion), read, **given)

    def _work(
        self, what: str, told: str, body: bytes | None = None, repeatable: bool = True
    ) -> Steps[int]:
        path = index_path(self.name, what)
        call = Call("POST", path, _of(told), body=body, repeatable=repeatable, slow=True)
        return ask(call, self._retries)


def _of(name: str) -> Callable[[Any], int]:
    return lambda found: int(found[name])


def _asked(max_distance: int | None, threshold: float | None, limit: int | None) -> dict[str, Any]:
    most = MOST_MATCHES if limit is None else limit
    return {"max_distance": max_distance, "threshold": threshold, "limit": most}


def _rules(
    add: Adding,
    keep_per_group: int,
    ttl: str | float | None,
    max_distance: int | None,
    threshold: float | None,
    limit: int | None,
) -> dict[str, Any]:
    asked = _asked(max_distance, threshold, limit)
    return {"add": add, "keep_per_group": keep_per_group, "ttl": ttl, **asked}
