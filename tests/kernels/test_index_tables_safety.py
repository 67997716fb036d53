"""Bad arguments and damaged segments give an error message, never a crash."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from neardup.kernels import _native, index_tables
from neardup.kernels.reference import index_tables as twin
from neardup.kernels.segment_format import HEAD_WORDS, checksum

MASKS = np.array([[0xFFFFFFFF00000000, 0], [0xFFFFFFFF, 0], [0, 0xFF << 56]], np.uint64)
BITS = 100
ROWS = np.arange(40, dtype=np.uint64).reshape(20, 2) << np.uint64(28)
NUMBERS = np.arange(20, dtype=np.uint64)
NEAR = {"max_distance": 100, "limit": None}
BOTH = pytest.mark.parametrize("module", [index_tables, twin])


def filled(module):
    tables = module.MemoryTables(MASKS, BITS)
    tables.add(NUMBERS, ROWS)
    return tables


@BOTH
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda module: module.MemoryTables(MASKS.astype(np.int64), BITS), "uint64"),
        (lambda module: module.MemoryTables(MASKS[:, 0], BITS), "shape"),
        (lambda module: module.MemoryTables(MASKS, 64), "bits=64"),
        (lambda module: module.MemoryTables(MASKS, 129), "bits=129"),
        (lambda module: module.MemoryTables(MASKS, 65), "beyond"),
        (lambda module: filled(module).add(NUMBERS, ROWS[:5]), "numbers"),
        (lambda module: filled(module).add(NUMBERS.astype(np.int64), ROWS), "uint64"),
        (lambda module: filled(module).add(NUMBERS + np.uint64(2**63), ROWS), "number"),
        (lambda module: filled(module).add(NUMBERS + np.uint64(99), ROWS[:, :1]), "words"),
        (lambda module: filled(module).add(NUMBERS + np.uint64(99), ROWS | 1), "beyond"),
        (lambda module: filled(module).add(NUMBERS, ROWS), "already"),
        (lambda module: filled(module).rows_at(np.array([0, 20], np.uint32)), "no row"),
        (lambda module: filled(module).add(NUMBERS[[0, 0]] + 50, ROWS[:2]), "already"),
        (lambda module: filled(module).remove(NUMBERS, ROWS[::-1].copy()), "not there"),
        (lambda module: filled(module).remove(NUMBERS[[0, 0]], ROWS[[0, 0]]), "not there"),
        (lambda module: filled(module).query(ROWS[:, :1], **NEAR), "words"),
        (lambda module: filled(module).query(ROWS | 1, **NEAR), "beyond"),
        (lambda module: filled(module).query(ROWS, max_distance=-1), "max_distance=-1"),
        (lambda module: filled(module).query(ROWS, max_distance=1, limit=-1), "limit=-1"),
        (lambda module: filled(module).query(ROWS, max_distance=1, limit=1.5), "limit=1.5"),
        (
            lambda module: filled(module).query_one(bytes(ROWS[0]), max_distance=-1),
            "max_distance=-1",
        ),
        (
            lambda module: filled(module).query_one(bytes(ROWS[0]), max_distance=1, limit=-1),
            "limit=-1",
        ),
        (lambda module: module.pack_segment(NUMBERS[[3, 3]], ROWS[:2], MASKS, BITS), "twice"),
        (lambda module: module.merge_segments([]), "no segment"),
        (lambda module: module.merge_segments([packed(), packed()]), "twice"),
        (lambda module: module.merge_segments([packed(), packed(MASKS[:2])]), "different plans"),
        (lambda module: module.query_segment(packed(), ROWS, **NEAR, dead=NUMBERS[::-1]), "ascend"),
    ],
)
def test_refused(module, call, message):
    with pytest.raises(ValueError, match=message):
        call(module)


def packed(masks=MASKS):
    return index_tables.pack_segment(NUMBERS, ROWS, masks, BITS)


@pytest.mark.parametrize(
    "row", [ROWS[0], [1, 2], b"", bytes(8), bytes(15), bytes(24), bytes(10_000)]
)
def test_one_row_of_another_kind(row):
    with pytest.raises(ValueError, match="row"):
        filled(index_tables).query_one(row, max_distance=1)


@pytest.mark.parametrize("far", [100, 4096, 2**31 - 1, 2**32 - 1, 2**70])
def test_any_distance(far):
    expected = filled(twin).query(ROWS, max_distance=far)
    found = filled(index_tables).query(ROWS, max_distance=far)
    assert found.numbers.tolist() == expected.numbers.tolist()
    one = filled(index_tables).query_one(bytes(ROWS[3]), max_distance=far)
    assert one == filled(twin).query_one(bytes(ROWS[3]), max_distance=far)
    native = _native.MemoryTables(MASKS, BITS, "auto")
    native.add(NUMBERS, ROWS)
    assert native.query(ROWS, min(far, 2**32 - 1), None, 1)[1].tolist() == found.numbers.tolist()


def test_a_refused_change_changes_nothing():
    for tables in (filled(index_tables), filled(twin)):
        before = tables.query(ROWS, **NEAR)
        with pytest.raises(ValueError, match="already"):
            tables.add(np.array([77, 78, 5], np.uint64), ROWS[:3])
        with pytest.raises(ValueError, match="not there"):
            tables.remove(np.array([1, 2, 3], np.uint64), ROWS[[1, 2, 4]])
        after = tables.query(ROWS, **NEAR)
        assert len(tables) == 20
        assert after.numbers.tolist() == before.numbers.tolist()
        tables.add(np.array([77, 78], np.uint64), ROWS[:2])
        assert len(tables) == 22


@BOTH
def test_nothing_at_all(module):
    none = np.empty((0, 2), np.uint64)
    empty = module.pack_segment(NUMBERS[:0], none, MASKS, BITS)
    assert empty == index_tables.pack_segment(NUMBERS[:0], none, MASKS, BITS)
    assert module.query_segment(empty, ROWS, **NEAR).offsets.tolist() == [0] * 21
    assert module.query_segment(packed(), none, **NEAR).offsets.tolist() == [0]
    assert module.merge_segments([packed()], NUMBERS) == empty
    assert [len(part) for part in module.segment_rows(empty)] == [0, 0]
    no_masks = module.MemoryTables(MASKS[:0], BITS)
    no_masks.add(NUMBERS, ROWS)
    assert no_masks.query(ROWS, **NEAR).offsets.tolist() == [0] * 21
    tables = module.MemoryTables(MASKS, BITS)
    tables.add(NUMBERS[:0], none)
    tables.remove(NUMBERS[:0], none)
    assert tables.query_one(bytes(ROWS[0]), max_distance=128) == []
    assert (len(tables), tables.distinct, tables.largest_buckets(3)) == (0, 0, [])


def reading(buffer):
    """Read everything; True if it was read, False if refused."""
    answers = []
    for call in (
        lambda: index_tables.query_segment(buffer, ROWS, **NEAR),
        lambda: index_tables.check_segment(buffer),
        lambda: index_tables.segment_rows(buffer),
        lambda: index_tables.merge_segments([buffer]),
    ):
        try:
            call()
        except ValueError:
            answers.append(False)
        else:
            answers.append(True)
    return answers


@settings(max_examples=300)
@given(st.data())
def test_a_damaged_segment(data):
    """Any changed byte is detected by a full check; a query may miss it or detect it."""
    segment = bytearray(packed())
    place = data.draw(st.integers(0, len(segment) - 1))
    segment[place] ^= data.draw(st.integers(1, 255))
    assert reading(segment)[1:] == [False] * 3
    if place < 8 * HEAD_WORDS + MASKS.nbytes:
        assert not reading(segment)[0]
    with pytest.raises(ValueError, match="segment"):
        twin.check_segment(segment)


@settings(max_examples=300)
@given(st.data())
def test_a_forged_segment(data):
    """Any numbers with matching checksums: nothing is read outside the segment."""
    words = np.frombuffer(packed(), np.uint64).copy()
    halves = words.view(np.uint32)
    body = HEAD_WORDS + MASKS.size
    for _ in range(data.draw(st.integers(1, 6))):
        value = data.draw(st.sampled_from([0, 1, 5, 19, 20, 21, 2**31, 2**32 - 1]))
        if data.draw(st.booleans()):
            halves[data.draw(st.integers(2 * body, len(halves) - 1))] = value
        else:
            words[data.draw(st.integers(2, 6))] = value
    words[7], words[8] = checksum(words[body:].tobytes()), checksum(words[10:body].tobytes())
    words[9] = checksum(words[:9].tobytes())
    reading(words.view(np.uint8))


def test_a_cut_off_segment():
    segment = packed()
    for size in range(len(segment)):
        assert reading(segment[:size]) == [False] * 4
    assert reading(segment + bytes(8)) == [False] * 4
    with pytest.raises(ValueError, match="not a segment"):
        index_tables.check_segment(bytes(800))


def test_another_version():
    words = np.frombuffer(packed(), np.uint64).copy()
    words[1] = 2
    words[9] = checksum(words[:9].tobytes())
    for module in (index_tables, twin):
        with pytest.raises(ValueError, match="version 2"):
            module.check_segment(words.view(np.uint8))


def test_memory_that_is_not_aligned():
    segment = packed()
    expected = index_tables.query_segment(segment, ROWS, **NEAR)
    for shift in range(8):
        moved = memoryview(bytes(shift) + segment)[shift:]
        found = index_tables.query_segment(moved, ROWS, **NEAR)
        assert found.numbers.tolist() == expected.numbers.tolist()
        assert index_tables.merge_segments([moved]) == segment


@pytest.mark.parametrize(
    "call",
    [
        lambda: _native.MemoryTables(MASKS, 0, "auto"),
        lambda: _native.MemoryTables(MASKS, 4097, "auto"),
        lambda: _native.MemoryTables(MASKS, 64, "auto"),
        lambda: _native.MemoryTables(MASKS, 65, "auto"),
        lambda: _native.MemoryTables(MASKS, BITS, "z80"),
        lambda: _native.MemoryTables(MASKS, BITS, "auto").add(NUMBERS, ROWS[:, :1].copy()),
        lambda: _native.MemoryTables(MASKS, BITS, "auto").add(NUMBERS[1:], ROWS),
        lambda: _native.MemoryTables(MASKS, BITS, "auto").add(NUMBERS + np.uint64(2**63), ROWS),
        lambda: _native.MemoryTables(MASKS, BITS, "auto").query(ROWS[:, :1].copy(), 3, None, 1),
        lambda: _native.pack_segment(NUMBERS, ROWS, MASKS, 128 + 1),
        lambda: _native.query_segment(
            np.frombuffer(packed(), np.uint8), ROWS, 3, None, 1, NUMBERS[::-1].copy(), "auto"
        ),
    ],
)
def test_native_checks_for_itself(call):
    with pytest.raises(ValueError, match=r"."):
        call()


def test_questions_during_changes():
    """Queries during adds and removals see whole documents, and all of them at the end."""
    tables = filled(index_tables)
    stop, wrong = threading.Event(), []

    def ask():
        while not stop.is_set():
            found = tables.query(ROWS, max_distance=0, threads=2)
            if any(NUMBERS[i] not in numbers for i, (numbers, _) in enumerate(found)):
                wrong.append(found)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    askers = [threading.Thread(target=ask) for _ in range(2)]
    try:
        for asker in askers:
            asker.start()
        random = np.random.default_rng(1)
        for first in range(100, 40_000, 500):
            rows = random.integers(0, 2**36, (500, 2), np.uint64) << np.uint64(28)
            numbers = np.arange(first, first + 500, dtype=np.uint64)
            tables.add(numbers, rows)
            tables.remove(numbers[::2], rows[::2])
    finally:
        stop.set()
        for asker in askers:
            asker.join()
        sys.setswitchinterval(interval)
    assert wrong == []
    assert len(tables) == 20 + 80 * 250
