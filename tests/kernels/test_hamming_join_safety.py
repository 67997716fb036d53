"""Bad arguments of the joins are refused with a message, by Python and by the native module."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.errors import SettingError
from neardup.kernels import _native, hamming_join
from neardup.kernels.reference import hamming_join as twin

ROWS = np.arange(10, dtype=np.uint64).reshape(5, 2)
COSTS = (0.2, 3.0, 6.0)
BOTH = pytest.mark.parametrize("module", [hamming_join, twin])


@BOTH
@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("group_rows", {"rows": ROWS[:, 0]}, "shape"),
        ("group_rows", {"rows": ROWS.astype(np.int64)}, "uint64"),
        ("group_rows", {"rows": np.zeros((3, 0), np.uint64)}, "1 to 64"),
        ("group_rows", {"rows": np.zeros((3, 65), np.uint64)}, "1 to 64"),
        ("join_within", {"left": ROWS, "right": ROWS[:, :1], "bits": 128, "distance": 1}, "right"),
        ("join_within", {"left": ROWS, "bits": 64, "distance": 1}, "bits=64"),
        ("join_within", {"left": ROWS, "bits": 129, "distance": 1}, "bits=129"),
        ("join_within", {"left": ROWS, "bits": 128, "distance": -1}, "distance=-1"),
        ("join_within", {"left": ROWS, "bits": 128, "distance": 1.5}, "distance=1.5"),
        ("join_masks", {"left": ROWS, "masks": ROWS[:, :1]}, "masks"),
        ("join_all", {"left": ROWS, "max_distance": -2}, "max_distance=-2"),
        ("join_windows", {"rows": ROWS, "stops": [1, 2, 3, 4]}, "one end for each"),
        ("join_windows", {"rows": ROWS, "stops": [1, 2, 3, 4, 6]}, "stops"),
        ("join_windows", {"rows": ROWS, "stops": [1, 2, 2, 4, 5]}, "stops"),
        ("join_windows", {"rows": ROWS, "stops": [5, 4, 5, 5, 5]}, "stops"),
    ],
)
def test_refused(module, name, arguments, message):
    with pytest.raises(SettingError, match=message):
        getattr(module, name)(**arguments)


@BOTH
@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([(0, 64)], "at least 2"),
        ([], "at least 2"),
        ([(0, 64), (64, 129)], "within"),
        ([(-1, 64), (64, 128)], "within"),
        ([(0, 64), (64, 64)], "none empty"),
        ([(0, 65), (64, 128)], "overlap"),
    ],
)
def test_blocks_that_promise_nothing(module, blocks, message):
    with pytest.raises(SettingError, match=message):
        module.join_within(ROWS, bits=128, distance=1, blocks=blocks)


def test_costs_are_positive():
    with pytest.raises(SettingError, match="positive"):
        hamming_join.JoinCosts(compare=0.0)


COMMON = {"most_pairs": 2**64 - 1, "threads": 1, "isa": "auto"}


def within(**changes):
    arguments = {"bits": 128, "distance": 1, "blocks": None, "costs": COSTS, **COMMON}
    return _native.join_within(ROWS, None, **{**arguments, **changes})


@pytest.mark.parametrize(
    "call",
    [
        lambda: within(bits=129),
        lambda: within(bits=0),
        lambda: within(isa="z80"),
        lambda: within(blocks=np.array([[0, 64]])),
        lambda: within(blocks=np.array([[0, 64], [64, 129]])),
        lambda: within(blocks=np.array([[0, 65], [64, 128]])),
        lambda: within(blocks=np.array([[0, 64, 1], [64, 128, 1]])),
        lambda: _native.group_rows(np.zeros((1, 65), np.uint64), threads=1),
        lambda: _native.join_all(ROWS, ROWS[:, :1].copy(), max_distance=1, **COMMON),
        lambda: _native.join_windows(ROWS, np.array([1, 2, 3, 4, 6]), max_distance=1, **COMMON),
        lambda: _native.join_windows(ROWS, np.array([1, 2, 3, 4]), max_distance=1, **COMMON),
        lambda: expand(a=[2]),
        lambda: expand(a=[-1]),
        lambda: expand(b=[2]),
        lambda: expand(b=[]),
        lambda: expand(group_of=[0, 1, 2]),
        lambda: expand(group_of=[0, -1]),
    ],
)
def test_native_checks_for_itself(call):
    with pytest.raises(ValueError, match=r"."):
        call()


def expand(a=(0,), b=(1,), group_of=(0, 1)):
    return _native.expand_pairs(
        np.array(a, np.int64),
        np.array(b, np.int64),
        np.ones(1, np.uint16),
        np.array(group_of, np.int64),
        2,
        None,
        0,
    )


def test_many_threads_and_no_rows():
    none = np.empty((0, 3), np.uint64)
    assert len(hamming_join.join_within(none, bits=192, distance=3, threads=8)) == 0
    assert len(hamming_join.join_within(none, none, bits=192, distance=3, threads=8)) == 0
    assert len(hamming_join.join_all(none, none, threads=8)) == 0
    assert len(hamming_join.join_masks(none, masks=np.ones((1, 3), np.uint64), threads=8)) == 0
    assert len(hamming_join.join_masks(ROWS, masks=np.empty((0, 2), np.uint64))) == 0
    assert len(hamming_join.join_windows(none, np.empty(0, np.int64))) == 0
    assert len(hamming_join.group_rows(none).firsts) == 0
    assert len(hamming_join.join_within(ROWS[:1], bits=128, distance=3)) == 0


def test_rows_need_not_be_contiguous():
    wide = np.arange(40, dtype=np.uint64).reshape(10, 4)
    strided = wide[::2, 1:3]
    found = hamming_join.join_all(strided, max_distance=9)
    expected = hamming_join.join_all(strided.copy(), max_distance=9)
    assert found.a.tolist() == expected.a.tolist()
    assert found.b.tolist() == expected.b.tolist()
