"""The index tables find exactly what their twin finds, and write the same bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.kernels.near_rows import flipped, near_rows, planted_rows, random_rows

from neardup import kernels
from neardup.kernels import index_tables
from neardup.kernels.reference import index_tables as twin

ISAS = kernels.available_isas()
WIDTHS = (1, 7, 32, 33, 63, 64, 65, 128, 200, 1000)


def lists(matches):
    dtypes = matches.offsets.dtype, matches.numbers.dtype, matches.distances.dtype
    assert dtypes == (np.int64, np.uint64, np.uint16)
    return matches.offsets.tolist(), matches.numbers.tolist(), matches.distances.tolist()


def block(start, size, bits):
    """The mask of the bits from `start` on."""
    words = -(-bits // 64)
    mask = ((1 << size) - 1) << (64 * words - start - size)
    return np.frombuffer(mask.to_bytes(8 * words, "big"), ">u8").astype(np.uint64)


@st.composite
def mask_rows(draw, bits):
    """Masks of blocks, of bits anywhere, of all or none; some with more bits than a key has."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    nothing = np.zeros(-(-bits // 64), np.uint64)
    drawn = []
    for size in draw(st.lists(st.integers(0, bits), max_size=6)):
        if draw(st.booleans()):
            drawn.append(flipped(random, nothing, bits, size))
        else:
            drawn.append(block(int(random.integers(bits - size + 1)), size, bits))
    return np.array(drawn, np.uint64).reshape(-1, len(nothing))


@st.composite
def numbered(draw, count):
    """Distinct numbers: dense or scattered, up to the largest."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    most = draw(st.sampled_from([count, 10 * count, index_tables.MOST_NUMBER]))
    few = random.choice(most + 1, count, replace=False) if most < 10**6 else None
    if few is None:
        few = np.unique(random.integers(0, most + 1, 2 * count + 8, np.uint64))
        few = np.append(few, np.uint64(most))[-count:] if count else few[:0]
        few = random.permutation(np.unique(few))
    return few.astype(np.uint64)


@settings(max_examples=200)
@given(near_rows(WIDTHS), st.one_of(st.none(), st.integers(0, 12)), st.data())
def test_queries(drawn, limit, data):
    bits, distance, rows = drawn
    masks = data.draw(mask_rows(bits))
    numbers = data.draw(numbered(len(rows)))
    rows, queries = rows[: len(numbers)], rows[::3]
    wanted = {"max_distance": distance, "limit": limit}
    slow = twin.MemoryTables(masks, bits)
    slow.add(numbers, rows)
    expected = lists(slow.query(queries, **wanted))
    segment = index_tables.pack_segment(numbers, rows, masks, bits)
    for isa in ISAS:
        tables = index_tables.MemoryTables(masks, bits, isa=isa)
        tables.add(numbers, rows)
        assert lists(tables.query(queries, **wanted)) == expected
        assert lists(index_tables.query_segment(segment, queries, **wanted, isa=isa)) == expected
    for row in queries[:5]:
        assert tables.query_one(bytes(row), **wanted) == slow.query_one(bytes(row), **wanted)
    assert (len(tables), tables.distinct) == (len(slow), slow.distinct)
    for count in (0, 1, 5, 1000):
        assert tables.largest_buckets(count) == slow.largest_buckets(count)


@settings(max_examples=200)
@given(near_rows(WIDTHS), st.data())
def test_segments(drawn, data):
    """The same bytes as the twin, for any order, parts and removed numbers."""
    bits, distance, rows = drawn
    masks = data.draw(mask_rows(bits))
    numbers = data.draw(numbered(len(rows)))
    rows = rows[: len(numbers)]
    parts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))))
    dead = np.sort(numbers[np.random.default_rng(len(rows)).random(len(rows)) < 0.4])

    packed = [
        index_tables.pack_segment(numbers[parts == part], rows[parts == part], masks, bits)
        for part in range(4)
    ]
    assert index_tables.merge_segments(packed) == index_tables.pack_segment(
        numbers, rows, masks, bits
    )
    merged = index_tables.merge_segments(packed, dead)
    assert merged == twin.merge_segments(packed, dead)
    index_tables.check_segment(merged)
    for found, expected in zip(
        index_tables.segment_rows(merged), twin.segment_rows(merged), strict=True
    ):
        assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())
    for limit in (None, 0, 1, 4):
        wanted = {"max_distance": distance, "limit": limit, "dead": dead}
        expected = lists(twin.query_segment(packed[0], rows[:9], **wanted))
        assert lists(index_tables.query_segment(packed[0], rows[:9], **wanted)) == expected


class Changes(RuleBasedStateMachine):
    """Any sequence of adds, replacements and removals, some of which must be refused."""

    @initialize(bits=st.sampled_from(WIDTHS), data=st.data(), seed=st.integers(0, 2**32))
    def start(self, bits, data, seed):
        self.bits, self.random = bits, np.random.default_rng(seed)
        self.tables, self.twin = (
            module.MemoryTables(masks, bits)
            for masks in [data.draw(mask_rows(bits))]
            for module in (index_tables, twin)
        )
        self.rows = planted_rows(self.random, 30, bits, 6, min(bits, 4))
        self.there: dict[int, int] = {}
        self.held: tuple[dict[int, int], ...] = ({}, {})

    def both(self, name, numbers, places):
        """Apply it to both, and return whether it was refused."""
        refused = []
        for tables, held in zip((self.tables, self.twin), self.held, strict=True):
            try:
                given = getattr(tables, name)(np.array(numbers, np.uint64), self.rows[places])
            except ValueError:
                refused.append(True)
            else:
                refused.append(False)
                if name == "add":
                    held.update(zip(numbers, given.tolist(), strict=True))
        assert refused[0] == refused[1]
        return refused[0]

    @rule(
        first=st.one_of(st.integers(0, 200), st.integers(2**31 - 60, 2**31 + 20)),
        count=st.integers(0, 80),
        one_row=st.booleans(),
    )
    def add(self, first, count, one_row):
        places = self.random.integers(0, 1 if one_row else len(self.rows), count)
        numbers = range(first, first + count)
        taken = not self.there.keys().isdisjoint(numbers)
        assert self.both("add", list(numbers), places) == taken
        if not taken:
            self.there.update(zip(numbers, places.tolist(), strict=True))

    @precondition(lambda self: self.there)
    @rule(share=st.floats(0, 1), wrong=st.sampled_from(["", "row", "number", "twice"]))
    def remove(self, share, wrong):
        numbers = [number for number in self.there if self.random.random() < share]
        places = [self.there[number] for number in numbers]
        if wrong == "row":
            other = (self.rows != self.rows[places[-1:]]).any(axis=1) if places else []
            wrong = "row" if np.any(other) else ""
            places[-1:] = [int(np.argmax(other))] if wrong else places[-1:]
        elif wrong == "number":
            numbers, places = [*numbers, 10**15], [*places, 0]
        elif wrong == "twice":
            wrong = "twice" if numbers else ""
            numbers, places = [*numbers, *numbers[:1]], [*places, *places[:1]]
        assert self.both("remove", numbers, places) == bool(wrong)
        if not wrong:
            for number in numbers:
                del self.there[number]

    @precondition(lambda self: self.there)
    @rule(place=st.integers(0, 29))
    def replace(self, place):
        number = int(self.random.choice(list(self.there)))
        assert not self.both("remove", [number], [self.there[number]])
        assert not self.both("add", [number], [place])
        self.there[number] = place

    @invariant()
    def rows_where_they_were(self):
        wanted = self.rows[list(self.there.values())].tolist()
        for tables, held in zip((self.tables, self.twin), self.held, strict=True):
            places = np.array([held[number] for number in self.there], np.uint32)
            assert tables.rows_at(places).tolist() == wanted

    @invariant()
    def same(self):
        assert (len(self.tables), self.tables.distinct) == (len(self.twin), self.twin.distinct)
        assert self.tables.largest_buckets(9) == self.twin.largest_buckets(9)
        for limit in (None, 3):
            wanted = {"max_distance": int(self.random.integers(self.bits + 1)), "limit": limit}
            queries = self.rows[::2]
            assert lists(self.tables.query(queries, **wanted)) == lists(
                self.twin.query(queries, **wanted)
            )


Changes.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
TestChanges = Changes.TestCase


@pytest.mark.parametrize(("bits", "sizes"), [(64, [16] * 4), (64, [30, 34]), (200, [25] * 8)])
def test_many_documents(bits, sizes):
    """Enough rows to fill many chunks, grow the buckets several times, and use several threads."""
    random = np.random.default_rng(bits)
    starts = np.cumsum([0, *sizes[:-1]]).tolist()
    masks = np.array([block(*cut, bits) for cut in zip(starts, sizes, strict=True)])
    planted = planted_rows(random, 4000, bits, 500, 2)
    rows = np.concatenate([random_rows(random, 16_000, bits), planted])
    rows = rows[random.permutation(len(rows))]
    numbers = np.arange(len(rows), dtype=np.uint64)
    tables = index_tables.MemoryTables(masks, bits)
    for at in range(0, len(rows), 1500):
        tables.add(numbers[at : at + 1500], rows[at : at + 1500])
    slow = twin.MemoryTables(masks, bits)
    slow.add(numbers, rows)
    queries = np.concatenate([rows[:20], planted[:60], random_rows(random, 10, bits)])
    wanted = {"max_distance": 3, "limit": 5}
    expected = lists(slow.query(queries, **wanted))
    assert len(expected[1]) > 250
    segment = index_tables.pack_segment(numbers, rows, masks, bits)
    assert segment == twin.pack_segment(numbers, rows, masks, bits)
    assert lists(tables.query(queries, **wanted)) == expected
    assert lists(index_tables.query_segment(segment, queries, **wanted)) == expected
    # Several threads are used from some thousand queries up.
    many = rows[:5000]
    alone = lists(tables.query(many, **wanted))
    for threads in (2, 3):
        assert lists(tables.query(many, **wanted, threads=threads)) == alone
        assert lists(index_tables.query_segment(segment, many, **wanted, threads=threads)) == alone
    # Remove nearly all in random order, and add others.
    leaving = random.permutation(len(rows))[:19_000]
    for some in np.array_split(leaving, 7):
        for changed in (tables, slow):
            changed.remove(numbers[some], rows[some])
    assert lists(tables.query(queries, **wanted)) == lists(slow.query(queries, **wanted))
    for changed in (tables, slow):
        changed.add(numbers[leaving[:9000]], rows[leaving[:9000]])
    assert lists(tables.query(queries, **wanted)) == lists(slow.query(queries, **wanted))
    assert tables.distinct == slow.distinct


@pytest.mark.parametrize("order", ["ascending", "descending", "shuffled"])
def test_one_giant_group(order):
    """Two hundred thousand equal documents are visited once."""
    count, row = 200_000, np.array([[0x0123456789ABCDEF]], np.uint64)
    masks = np.array([[0xFFFF << shift] for shift in (0, 16, 32, 48)], np.uint64)
    numbers = np.arange(count, dtype=np.uint64)
    mixed = {
        "ascending": numbers,
        "descending": numbers[::-1].copy(),
        "shuffled": np.random.default_rng(1).permutation(numbers),
    }[order]
    rows = np.repeat(row, count, axis=0)
    tables = index_tables.MemoryTables(masks, 64)
    tables.add(mixed, rows)
    assert (len(tables), tables.distinct, tables.largest_buckets(2)) == (count, 1, [1, 1])
    segment = index_tables.pack_segment(mixed, rows, masks, 64)
    wanted = {"max_distance": 3, "limit": 3}
    dead = numbers[1:100_000]
    assert lists(tables.query(row ^ np.uint64(5), **wanted)) == ([0, 3], [0, 1, 2], [2] * 3)
    assert lists(index_tables.query_segment(segment, row, **wanted)) == ([0, 3], [0, 1, 2], [0] * 3)
    found = index_tables.query_segment(segment, row, **wanted, dead=dead)
    assert found.numbers.tolist() == [0, 100_000, 100_001]
    tables.remove(dead, rows[: len(dead)])
    assert tables.query(row, **wanted).numbers.tolist() == [0, 100_000, 100_001]
    everything = tables.query(row, max_distance=0)
    assert everything.numbers.tolist() == [0, *range(100_000, count)]
