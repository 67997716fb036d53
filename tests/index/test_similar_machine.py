"""Indexes by similarity under random operations, compared with a dict and true similarities.

With `complete`, and with weights, every answer must be as expected. With bands every answer must be
true, and copies must be found.
"""

import math
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.index.clock import Clock

import neardup as nd
from neardup.index.disk import change, kinds
from neardup.index.entries import id_order
from neardup.index.told import Seen

CLOCK = Clock()
VOCABULARY = ["one", "two", "three", "four", "five", "six", "seven"]
IDS = st.one_of(st.integers(-3, 12), st.sampled_from(["a", "b", "5", "", "né"]))
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=7)
METADATA = st.one_of(st.none(), st.dictionaries(st.sampled_from("uv"), st.integers(0, 3)))
TTLS = st.sampled_from([None, None, 1, 5, 0.25])
LIMITS = st.sampled_from([None, 0, 1, 2, 10])
BATCHES = st.lists(st.tuples(IDS, WORDS, METADATA), max_size=12)


@dataclass
class Held:
    """A document of the model; times are milliseconds."""

    came: int
    words: list[str]
    metadata: Any
    added: int
    expires: float
    again: int = 0
    last: int | None = None


class SimilarMachine(RuleBasedStateMachine):
    """A small tail, so that documents are packed and segments merged all the time."""

    schemes: ClassVar[list[dict[str, Any]]] = [
        {"threshold": 0.5, "complete": True},
        {"threshold": 0.75, "complete": True},
        {"threshold": 0.5, "weights": "count"},
        {"threshold": 0.7123, "features": "terms"},
        {"threshold": 0.5, "similarity": "containment"},
        {"threshold": 0.75, "similarity": "containment", "weights": "count"},
        {"threshold": 0.5, "similarity": "inclusion"},
        {"threshold": 0.75, "similarity": "inclusion", "weights": "count"},
    ]
    is_exact = True

    @initialize(data=st.data(), store=st.booleans(), ttl=st.sampled_from([None, None, 3]))
    def begin(self, data, store, ttl):
        CLOCK.restart()
        self.folder = Path(tempfile.mkdtemp(prefix="neardup-test-"))
        self.settings = {"features": "word:1", **data.draw(st.sampled_from(self.schemes))}
        self.are_terms = self.settings["features"] == "terms"
        self.settings |= {"store_text": store and not self.are_terms, "ttl": ttl}
        self.memory = nd.MemoryIndex(**self.settings)
        self.disk = self._opened()
        self.least = self.settings["threshold"]
        self.known: dict[Any, Held] = {}
        self.came = 0

    def _opened(self):
        return nd.Index(self.folder / "x.index", sync=False, **self.settings)

    @property
    def both(self):
        return self.memory, self.disk

    def teardown(self):
        if hasattr(self, "disk"):
            self.disk.close()
            shutil.rmtree(self.folder)

    # The model.

    def document(self, words):
        return dict(Counter(words)) if self.are_terms else " ".join(words)

    def similarity(self, one, other):
        """By inclusion, the part of the one that is asked for."""
        a, b = Counter(one), Counter(other)
        measure = self.settings.get("similarity")
        if measure is not None:
            if self.settings.get("weights") != "count":
                a, b = Counter(set(a)), Counter(set(b))
            whole = a.total() if measure == "inclusion" else min(a.total(), b.total())
            return (a & b).total() / whole
        if self.are_terms:
            squares = math.prod(sum(count**2 for count in each.values()) for each in (a, b))
            return sum(a[word] * b[word] for word in a) / math.sqrt(squares)
        if self.settings.get("weights") == "count":
            return sum((a & b).values()) / sum((a | b).values())
        return len(set(a) & set(b)) / len(set(a) | set(b))

    def is_same(self, held, words, metadata):
        if held.metadata != metadata or len(held.words) != len(words):
            return False
        if self.settings["store_text"]:
            return held.words == words
        if self.are_terms or self.settings.get("weights") == "count":
            return Counter(held.words) == Counter(words)
        return set(held.words) == set(words)

    def is_alive(self, held):
        return held.expires > CLOCK.now

    def put(self, id, words, metadata, ttl, *, counts=True):
        """Add or replace; return whether anything was stored."""
        held = self.known.get(id)
        if held is not None and self.is_alive(held) and self.is_same(held, words, metadata):
            if counts:
                self.saw(held)
            return False
        life = self.settings["ttl"] if ttl is None else ttl
        expires = math.inf if life is None else CLOCK.now + 1000 * life
        self.known[id] = Held(self.came, words, metadata, CLOCK.now, expires)
        self.came += 1
        return True

    def saw(self, held):
        held.again += 1
        held.last = CLOCK.now

    def near(self, words, threshold, but=None):
        """All true matches: (similarity, came, id), the most similar first, then the oldest."""
        found = []
        for id, held in self.known.items():
            if words and held.words and id != but and self.is_alive(held):
                similarity = self.similarity(words, held.words)
                if similarity >= threshold:
                    found.append((similarity, held.came, id))
        return sorted(found, key=lambda each: (-round(each[0], 9), each[1]))

    def require(self, matches, words, near, limit, *, any_tie=False):
        """The matches are those expected, or with bands true ones, and true in every detail.

        With `any_tie`, it does not matter which of equally similar documents are beyond the limit.
        """
        similarities = {id: similarity for similarity, _, id in near}
        row = None if self.are_terms else self.row(words)
        assert len({match.id for match in matches}) == len(matches)
        for match in matches:
            assert match.similarity == pytest.approx(similarities[match.id], abs=1e-12)
            assert match.metadata == self.known[match.id].metadata
            if row is not None:
                other = self.row(self.known[match.id].words)
                assert match.distance == (row ^ other).bit_count()
        assert list(matches) == sorted(
            matches, key=lambda match: (-match.similarity, id_order(match.id))
        )
        if not self.is_exact:
            found = {match.id for match in matches}
            copies = {id for similarity, _, id in near if similarity == 1}
            assert found >= copies or len(found) == limit
        elif self.are_terms:  # equal cosines may differ in the last bit
            assert len(matches) == min(len(near), len(near) if limit is None else limit)
        elif any_tie:
            best = [similarity for similarity, _, _ in near[:limit]]
            assert [match.similarity for match in matches] == pytest.approx(best)
        else:
            assert {match.id for match in matches} == {id for _, _, id in near[:limit]}

    def row(self, words):
        return _row(" ".join(words), self.settings.get("weights", "set"))

    # Changes.

    @rule(id=IDS, words=WORDS, metadata=METADATA, ttl=TTLS)
    def add(self, id, words, metadata, ttl):
        for index in self.both:
            index.add(id, self.document(words), metadata, ttl=ttl)
        self.put(id, words, metadata, ttl)

    @rule(batch=BATCHES, at_once=st.booleans(), ttl=TTLS)
    def add_many(self, batch, at_once, ttl):
        given = [(id, self.document(words), metadata) for id, words, metadata in batch]
        counts = {index.add_many(iter(given), at_once=at_once, ttl=ttl) for index in self.both}
        last = {id: (words, metadata) for id, words, metadata in batch}
        order = [id for place, (id, _, _) in enumerate(batch) if id not in _ids(batch[place + 1 :])]
        # Numbers and strings are put separately.
        order.sort(key=lambda id: type(id) is not type(batch[0][0]))
        assert counts == {sum(self.put(id, *last[id], ttl, counts=False) for id in order)}

    @rule(
        id=IDS,
        words=WORDS,
        metadata=METADATA,
        ttl=TTLS,
        limit=LIMITS,
        add=st.sampled_from(["new", "new", "always", "never"]),
        keep=st.sampled_from([1, 1, 2, 3]),
        higher=st.sampled_from([None, None, 0.9, 1.0]),
    )
    def check(self, id, words, metadata, ttl, limit, add, keep, higher):
        verdicts = [
            index.check(
                id,
                self.document(words),
                metadata,
                ttl=ttl,
                limit=limit,
                add=add,
                keep_per_group=keep,
                threshold=higher,
            )
            for index in self.both
        ]
        self.decided(verdicts, id, words, metadata, ttl, limit, add, keep, higher)

    @rule(
        batch=BATCHES,
        ttl=TTLS,
        limit=LIMITS,
        add=st.sampled_from(["new", "new", "always", "never"]),
        keep=st.sampled_from([1, 1, 2]),
    )
    def check_many(self, batch, ttl, limit, add, keep):
        given = [(id, self.document(words), metadata) for id, words, metadata in batch]
        answers = [
            index.check_many(given, ttl=ttl, limit=limit, add=add, keep_per_group=keep)
            for index in self.both
        ]
        for place, (id, words, metadata) in enumerate(batch):
            verdicts = [each[place] for each in answers]
            self.decided(verdicts, id, words, metadata, ttl, limit, add, keep, None)

    def decided(self, verdicts, id, words, metadata, ttl, limit, add, keep, higher):
        """Compare verdicts with the one expected, and change the model as they say."""
        near = self.near(words, higher or self.least, but=id)
        first, second = verdicts
        assert first == second
        is_new, match, matches, added = first
        self.require(matches, words, near, limit, any_tie=add == "never")
        assert match == (matches[0] if matches else None)
        if self.is_exact:
            assert is_new == (len(near) < keep)
        elif is_new:
            assert len([each for each in near if each[0] == 1]) < keep
        else:
            assert len(near) >= keep
        assert added == (add == "always" or (add == "new" and is_new))
        if added:
            self.put(id, words, metadata, ttl)
        elif add == "new":
            self.saw(self.known[near[0][2] if match is None else match.id])

    @rule(id=IDS)
    def delete(self, id):
        was_there = self.known.pop(id, None) is not None
        assert {index.delete(id) for index in self.both} == {was_there}

    @rule(ids=st.lists(IDS, max_size=12))
    def delete_many(self, ids):
        expected = len([id for id in set(ids) if self.known.pop(id, None)])
        assert {index.delete_many(ids) for index in self.both} == {expected}

    @rule(milliseconds=st.sampled_from([1, 249, 250, 1000, 5000, 4_000_000]))
    def time_passes(self, milliseconds):
        CLOCK.now += milliseconds

    @rule(given=st.booleans())
    def expire(self, given):
        gone = [id for id, held in self.known.items() if not self.is_alive(held)]
        moment = CLOCK.now / 1000 if given else None
        assert {index.expire(moment) for index in self.both} == {len(gone)}
        for id in gone:
            del self.known[id]

    @rule()
    def compact(self):
        for index in self.both:
            index.compact()

    @rule()
    def open_again(self):
        self.disk.close()
        self.disk = self._opened()

    @rule()
    def refused(self):
        """A transaction that fails leaves nothing behind."""
        ids = list(self.known)[:3]
        for index in self.both:
            with pytest.raises(ZeroDivisionError):
                index._store.change(partial(_spoiled, index, ids))

    # Questions.

    @rule(words=WORDS, higher=st.sampled_from([None, 0.9, 1.0]), limit=LIMITS)
    def query(self, words, higher, limit):
        near = self.near(words, higher or self.least)
        for index in self.both:
            found = index.query(self.document(words), threshold=higher, limit=limit)
            self.require(found, words, near, limit)

    @rule(asked=st.lists(WORDS, max_size=5), limit=LIMITS)
    def query_many(self, asked, limit):
        documents = [self.document(words) for words in asked]
        for index in self.both:
            answers = index.query_many(documents, limit=limit)
            assert len(answers) == len(asked)
            for words, found in zip(asked, answers, strict=True):
                self.require(found, words, self.near(words, self.least), limit)

    @rule()
    def stats(self):
        added = [held.added for held in self.known.values()]
        expired = sum(not self.is_alive(held) for held in self.known.values())
        for index in self.both:
            stats = index.stats()
            assert (stats.documents, stats.expired) == (len(self.known), expired)
            assert sum(part.documents for part in stats.segments) == len(self.known)
            assert stats.oldest == (min(added) / 1000 if added else None)
            assert stats.newest == (max(added) / 1000 if added else None)
            hour = sum(time > CLOCK.now - 3_600_000 for time in added)
            assert (stats.added["hour"], stats.added["week"]) == (hour, len(added))

    @invariant()
    def all_is_there(self):
        if not hasattr(self, "known"):
            return
        order = sorted(self.known, key=lambda id: self.known[id].came)
        for index in self.both:
            assert len(index) == len(self.known)
            assert list(index.ids()) == order
            for id in ["a", "5", 5, 7, *order[:2]]:
                found, held = index.get(id), self.known.get(id)
                assert (found is not None) == (id in index) == (held is not None)
                if found is not None:
                    self.require_stored(found, held)

    def require_stored(self, found, held):
        expires = None if held.expires == math.inf else held.expires / 1000
        assert (found.metadata, found.expires) == (held.metadata, expires)
        last = held.added if held.last is None else held.last
        assert found.seen == Seen(1 + held.again, held.added / 1000, last / 1000)
        if not self.are_terms:
            assert found.words == len(held.words)
            assert found.fingerprint == (self.row(held.words) if held.words else None)
            text = " ".join(held.words) if self.settings["store_text"] and held.words else None
            assert (found.text or None) == text


class BandsMachine(SimilarMachine):
    """Sets in bands: answers are true, and copies are found."""

    schemes: ClassVar[list[dict[str, Any]]] = [{"threshold": 0.5}, {"threshold": 0.8}]
    is_exact = False


@cache
def _row(text, weights):
    return nd.fingerprint([text], "word:1", weights=weights)[0]


def _ids(batch):
    return {id for id, _, _ in batch}


def _spoiled(index, ids, change):
    """Change as much as possible, then fail."""
    numbers = [change.number_of(id) for id in ids]
    for number in numbers:
        change.saw(number, CLOCK.now)
    entries = index._intake.entries(index._intake.one("spoiled", *_spoiling(index)))
    change.put(entries)
    change.remove(_uints(numbers))
    for place in range(5):
        one = index._intake.one_set(f"spoiled {place}", *_spoiling(index))
        change.put_one(one.record, one.sets, one.place)
    raise ZeroDivisionError


def _spoiling(index):
    return ({"one": 1.0} if index.scheme.features.are_given else "one"), None


def _uints(numbers):
    return np.array(numbers, np.uint64)


@pytest.fixture(autouse=True)
def _short_tail(monkeypatch):
    monkeypatch.setattr(kinds, "MOST_IN_TAIL", 4)
    monkeypatch.setattr(kinds, "MOST_WEIGHTED_IN_TAIL", 4)
    monkeypatch.setattr(change, "_CROWD", 3)
    CLOCK.use(monkeypatch)


TestSimilarMachine = SimilarMachine.TestCase
TestSimilarMachine.settings = settings(max_examples=80, stateful_step_count=30, deadline=None)
TestBandsMachine = BandsMachine.TestCase
TestBandsMachine.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)
