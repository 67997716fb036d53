"""Ids in ranges and in lists behave as a plain list and a plain dictionary do."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import neardup as nd
from neardup.index.memory import rows as id_book
from neardup.index.memory.rows import IdBook, listed

LEAST, MOST = -(2**63), 2**63 - 1
FIRSTS = st.one_of(st.integers(-30, 120), st.sampled_from([LEAST, MOST - 20, MOST - 9]))


class Book(RuleBasedStateMachine):
    """Any order of ranges, gaps, strings, removals and repeated ids."""

    def __init__(self):
        super().__init__()
        self.book = IdBook()
        self.all: list[int | str | None] = []
        self.numbers: dict[int | str, int] = {}

    def put(self, ids):
        """Remove known ids, then append all, as the store does."""
        old = [(at, self.numbers[id]) for at, id in enumerate(ids) if id in self.numbers]
        assert self.book.known(ids) == old
        for _, number in old:
            self.forget(number)
        self.book.append(ids)
        self.numbers.update(zip(ids, range(len(self.all), len(self.all) + len(ids)), strict=True))
        self.all += ids

    def forget(self, number):
        self.book.remove(number)
        del self.numbers[self.all[number]]
        self.all[number] = None

    @rule(first=FIRSTS, count=st.integers(0, 10))
    def put_range(self, first, count):
        given = list(range(first, first + count))
        as_range = range(first, first + count)
        self.put(as_range if count >= 3 else given)

    @rule(count=st.integers(3, 10))
    def put_what_follows(self, count):
        last = self.all[-1] if self.all else None
        if isinstance(last, int) and last + count < MOST:
            self.put(range(last + 1, last + 1 + count))

    @rule(ids=st.lists(st.integers(-30, 120), unique=True, max_size=6))
    def put_numbers(self, ids):
        self.put(ids)

    @rule(ids=st.lists(st.sampled_from("abcdefg"), unique=True, max_size=4))
    def put_strings(self, ids):
        self.put(ids)

    @precondition(lambda self: self.numbers)
    @rule(data=st.data())
    def remove(self, data):
        self.forget(data.draw(st.sampled_from(sorted(self.numbers.values()))))

    @invariant()
    def same(self):
        alive = [number for number, id in enumerate(self.all) if id is not None]
        assert (len(self.book), self.book.end) == (len(alive), len(self.all))
        assert self.book.numbers().tolist() == alive
        assert self.book.ids_of(alive) == [self.all[number] for number in alive]
        for id in (*range(-32, 132), LEAST, MOST, MOST - 9, *"abcdefgh", "1"):
            assert self.book.number_of(id) == self.numbers.get(id)


Book.TestCase.settings = settings(max_examples=150, stateful_step_count=25, deadline=None)
TestBook = Book.TestCase


@pytest.mark.parametrize(
    ("ids", "is_range"),
    [
        (np.arange(5), True),
        (np.arange(MOST - 4, MOST), True),
        (np.arange(4), False),
        (np.array([0, 1, 2, 4, 5]), False),
        (np.array([4, 3, 2, 1, 0]), False),
        (np.array([0, 1, 2, 3, 3]), False),
        (np.array([0, MOST, LEAST, -1, 0]), False),
        (np.array([MOST - 2, MOST - 1, MOST, LEAST, LEAST + 1]), False),
    ],
)
def test_what_is_a_range(monkeypatch, ids, is_range):
    monkeypatch.setattr(id_book, "_SHORTEST", len(ids) if is_range else 5)
    found = listed(pa.array(ids, pa.int64()))
    assert isinstance(found, range) == is_range
    assert list(found) == ids.tolist()


def test_an_index_with_ranges():
    """Bulk loads, strings between them, and replacements until the store renumbers."""
    size = 3000
    rows = np.random.default_rng(5).integers(0, 2**64, (size, 1), dtype=np.uint64)
    index = nd.MemoryIndex(bits=64, max_distance=0)

    def prints(some, ids):
        return nd.Fingerprints(some, index.scheme, ids=ids)

    assert index.add_many(prints(rows, np.arange(size))) == size
    assert index.add_many(prints(rows[:9], [f"a{at}" for at in range(9)])) == 9
    assert index.add_many(prints(rows + np.uint64(1), np.arange(size, 2 * size))) == size
    assert index.add_many(prints(rows, np.arange(size))) == 0
    assert [match.id for match in index.query(int(rows[4, 0]))] == [4, "a4"]
    assert index.query(int(rows[7, 0]) + 1)[0].id == size + 7
    expected = [*range(size), *(f"a{at}" for at in range(9)), *range(size, 2 * size)]
    assert list(index.ids()) == expected
    for step in range(2, 9):
        changed = rows + np.uint64(step)
        assert index.add_many(prints(changed, np.arange(size))) == size
        assert index.delete(f"a{step}")
        assert len(index) == 2 * size + 10 - step
        assert [match.id for match in index.query(int(changed[99, 0]))] == [99]
        assert index.query(int(rows[98, 0])) == []
    assert list(index.ids()) == ["a0", "a1", *range(size, 2 * size), *range(size)]
    assert index.get(5).fingerprint == int(rows[5, 0]) + 8
