"""Indexes by distance under random operations, compared with a dict and brute-force search.

`test_similar_machine` has those by similarity.
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import neardup as nd
from neardup.index.disk import change, kinds
from neardup.index.entries import id_order

BITS = 16
PLANS = ["blocks:3", "blocks:1", "blocks:2/4", "bands:2x5", "prefix:3", [0xFF00, 0x0FF0, 0x00FF]]
IDS = st.one_of(st.integers(-3, 12), st.sampled_from(["a", "b", "5", "", "né"]))
ROWS = st.one_of(st.sampled_from([0, 1, 0x8000, 0xFFFF]), st.integers(0, 2**BITS - 1))
WORDS = st.lists(st.sampled_from(["one", "two", "three", "four", "five", "six"]), max_size=4)
METADATA = st.one_of(st.none(), st.dictionaries(st.sampled_from("uv"), st.integers(0, 3)))


class IndexMachine(RuleBasedStateMachine):
    """A small tail, so that documents are packed and segments merged all the time."""

    @initialize(plan=st.sampled_from(PLANS), store=st.booleans(), data=st.data())
    def begin(self, plan, store, data):
        self.folder = Path(tempfile.mkdtemp(prefix="neardup-test-"))
        self.settings = {"features": "word:1", "bits": BITS, "plan": plan, "store_text": store}
        self.memory = nd.MemoryIndex(**self.settings)
        self.disk = self._opened()
        self.masks = self.memory.settings.plan.masks
        self.known = {}
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

    def note(self, id, row, words, held):
        """The model: a dictionary of (order of insertion, fingerprint, words, the rest)."""
        if id in self.known and self.known[id][1:] == (row, words, held):
            return
        self.known[id] = (self.came, row, words, held)
        self.came += 1

    @rule(id=IDS, words=WORDS, metadata=METADATA)
    def add(self, id, words, metadata):
        for index in self.both:
            index.add(id, " ".join(words), metadata)
        self.note_text(id, words, metadata)

    def note_text(self, id, words, metadata):
        text = " ".join(words)
        row = nd.fingerprint([text], "word:1", bits=BITS)[0]
        held = text if self.settings["store_text"] else None
        self.note(id, row, len(words), (held, metadata))

    @rule(batch=st.lists(st.tuples(IDS, WORDS, METADATA), max_size=12), at_once=st.booleans())
    def add_many(self, batch, at_once):
        pairs = [(id, " ".join(words), metadata) for id, words, metadata in batch]
        counts = {index.add_many(iter(pairs), at_once=at_once) for index in self.both}
        assert len(counts) == 1
        last = {id: (words, metadata) for id, words, metadata in batch}
        for id in self._order_of(batch):
            self.note_text(id, *last[id])

    @staticmethod
    def _order_of(batch):
        """The last document of each id counts; numbers and strings are put separately."""
        ids = [id for id, _, _ in batch]
        last = [id for place, id in enumerate(ids) if id not in ids[place + 1 :]]
        first_kind = type(ids[0]) if ids else int
        return sorted(last, key=lambda id: type(id) is not first_kind)

    @rule(batch=st.dictionaries(st.integers(20, 40), ROWS, max_size=20))
    def add_fingerprints(self, batch):
        if self.settings["store_text"]:
            return
        rows = np.array(list(batch.values()), np.uint64) << np.uint64(64 - BITS)
        prints = nd.Fingerprints(rows, self.memory.scheme, ids=np.array(list(batch), np.int64))
        for index in self.both:
            index.add_many(prints)
        for id, row in batch.items():
            self.note(id, row, 1, (None, None))

    @rule(
        id=IDS,
        words=WORDS,
        metadata=METADATA,
        limit=st.sampled_from([None, 0, 1, 3]),
        add=st.sampled_from(["new", "always", "never"]),
        keep=st.sampled_from([1, 1, 2, 3]),
    )
    def check(self, id, words, metadata, limit, add, keep):
        for index in self.both:
            found = index.check(
                id, " ".join(words), metadata, limit=limit, add=add, keep_per_group=keep
            )
            self.require(found, id, words, limit, add, keep)
        self.note_checked(id, words, metadata, add, keep)

    @rule(
        batch=st.lists(st.tuples(IDS, WORDS, METADATA), max_size=8),
        add=st.sampled_from(["new", "always", "never"]),
        keep=st.sampled_from([1, 2]),
    )
    def check_many(self, batch, add, keep):
        given = [(id, " ".join(words), metadata) for id, words, metadata in batch]
        answers = [index.check_many(given, add=add, keep_per_group=keep) for index in self.both]
        assert [len(found) for found in answers] == [len(batch)] * 2
        for place, (id, words, metadata) in enumerate(batch):
            for found in answers:
                self.require(found[place], id, words, 10, add, keep)
            self.note_checked(id, words, metadata, add, keep)

    def others(self, id, words, needed):
        row = nd.fingerprint([" ".join(words)], "word:1", bits=BITS)[0]
        reach = self.memory.settings.max_distance
        return self.near(row, reach, needed, but=id) if words else []

    def require(self, verdict, id, words, limit, add, keep):
        """The verdict is that of the model, before the document is added."""
        near = self.others(id, words, None if limit is None else max(limit, keep))
        is_new = len(near) < keep
        matches = [(match.distance, match.id) for match in verdict.matches]
        assert matches == near[:limit]
        assert verdict.match == (verdict.matches[0] if matches else None)
        assert verdict.is_new == is_new
        assert verdict.added == (add == "always" or (add == "new" and is_new))

    def note_checked(self, id, words, metadata, add, keep):
        is_new = len(self.others(id, words, keep)) < keep
        if add == "always" or (add == "new" and is_new):
            self.note_text(id, words, metadata)

    @rule(id=IDS)
    def delete(self, id):
        was_there = self.known.pop(id, None) is not None
        assert {index.delete(id) for index in self.both} == {was_there}

    @rule(ids=st.lists(st.one_of(IDS, st.integers(20, 40)), max_size=30))
    def delete_many(self, ids):
        expected = len({id for id in ids if self.known.pop(id, None)})
        assert {index.delete_many(ids) for index in self.both} == {expected}

    @rule()
    def compact(self):
        for index in self.both:
            index.compact()

    @rule()
    def open_again(self):
        self.disk.close()
        self.disk = self._opened()

    @rule(row=ROWS, distance=st.integers(0, BITS), limit=st.sampled_from([None, 0, 1, 2, 10]))
    def query(self, row, distance, limit):
        plan = self.memory.settings.plan
        if plan.is_exact and distance > plan.guarantee:
            for index in self.both:
                with pytest.raises(nd.SettingError, match="max_distance"):
                    index.query(row, distance)
            return
        expected = self.near(row, distance, limit)
        prints = nd.Fingerprints(
            np.array([row, row], np.uint64) << np.uint64(64 - BITS), self.memory.scheme
        )
        for index in self.both:
            found = index.query(row, distance, limit=limit)
            assert [(match.distance, match.id) for match in found] == expected
            assert list(index.query_many(prints, distance, limit=limit)) == [found, found]
            for match in found:
                assert match.metadata == self.known[match.id][3][1]

    @rule(words=WORDS, threshold=st.sampled_from([0.3, 0.5, 1.0]), limit=st.sampled_from([None, 2]))
    def query_by_similarity(self, words, threshold, limit):
        if not self.settings["store_text"]:
            return
        row = nd.fingerprint([" ".join(words)], "word:1", bits=BITS)[0]
        reach = min(self.memory.settings.plan.guarantee, BITS)
        near = self.near(row, reach, None, ordered=False) if words else []
        true = [
            (distance, id, nd.jaccard(set(words), set(self.known[id][3][0].split())))
            for distance, id in near
        ]
        expected = [each for each in true if each[2] >= threshold][:limit]
        expected.sort(key=lambda each: (each[0], id_order(each[1])))
        for index in self.both:
            found = index.query(" ".join(words), reach, threshold, limit)
            assert [(each.distance, each.id, each.similarity) for each in found] == expected

    def near(self, row, distance, limit, but=None, ordered=True):
        """The expected matches: the nearest, ties by order of insertion; sorted by id."""
        found = []
        for id, (came, other, words, _) in self.known.items():
            agrees = any((row ^ other) & mask == 0 for mask in self.masks)
            if words and id != but and agrees and (row ^ other).bit_count() <= distance:
                found.append(((row ^ other).bit_count(), came, id))
        nearest = [(distance, id) for distance, _, id in sorted(found)[:limit]]
        if not ordered:
            return nearest
        return sorted(nearest, key=lambda each: (each[0], id_order(each[1])))

    @invariant()
    def all_is_there(self):
        if not hasattr(self, "known"):
            return
        order = sorted(self.known, key=lambda id: self.known[id][0])
        for index in self.both:
            assert len(index) == len(self.known)
            assert list(index.ids()) == order
        for id in ["a", "5", 5, 7, 33]:
            for index in self.both:
                held = index.get(id)
                assert (held is not None) == (id in index) == (id in self.known)
                if held is not None:
                    _, row, words, (text, metadata) = self.known[id]
                    assert (held.fingerprint, held.words) == (row if words else None, words)
                    assert (held.text, held.metadata) == (text, metadata)


@pytest.fixture(autouse=True)
def _short_tail(monkeypatch):
    monkeypatch.setattr(kinds, "MOST_IN_TAIL", 4)
    monkeypatch.setattr(change, "_CROWD", 3)


TestIndexMachine = IndexMachine.TestCase
TestIndexMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
