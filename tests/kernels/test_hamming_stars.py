"""The star search keeps and removes exactly what its twin does, and refuses bad arguments."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.kernels.near_rows import flipped, near_rows, planted_rows, random_rows

from neardup import kernels
from neardup.errors import SettingError
from neardup.kernels import _native, hamming_join
from neardup.kernels.reference import hamming_join as twin

ISAS = kernels.available_isas()
WIDTHS = (1, 7, 63, 64, 65, 128, 200)


def block_masks(bits, distance, blocks=None):
    """Every choice of all but `distance` blocks: complete up to that distance."""
    blocks = distance + 1 if blocks is None else blocks
    nothing = np.zeros(-(-bits // 64), np.uint64)
    parts = np.array([nothing] * blocks)
    for bit in range(bits):
        parts[bit * blocks // bits, bit // 64] |= np.uint64(1 << (63 - bit % 64))
    chosen = combinations(range(blocks), blocks - distance)
    return np.array([np.bitwise_or.reduce(parts[list(some)]) for some in chosen])


def lists(stars):
    assert (stars.kept_for.dtype, stars.distance.dtype) == (np.int64, np.uint16)
    return stars.kept_for.tolist(), stars.distance.tolist()


@st.composite
def orders(draw, count):
    """Some or all rows, in order or in any other."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    order = draw(st.sampled_from([np.arange(count), random.permutation(count)]))
    return order[: draw(st.sampled_from([count, count // 2]))]


@settings(max_examples=300)
@given(near_rows(WIDTHS), st.booleans(), st.booleans(), st.sampled_from([1, 2, 8]), st.data())
def test_random_rows(drawn, with_given, within, threads, data):
    bits, distance, rows = drawn
    rows, others = (rows[::2], rows[1::2]) if with_given else (rows, None)
    order = data.draw(orders(len(rows)))
    limits = {"bits": bits, "distance": distance, "within": within}
    expected = lists(twin.hamming_stars(rows, order, others, **limits))
    plans = [None]
    if distance < bits:
        plans.append(block_masks(bits, distance))
    if distance + 2 <= min(bits, 12):
        plans.append(block_masks(bits, distance, distance + 2))
    for isa in ISAS:
        for masks in plans:
            found = hamming_join.hamming_stars(
                rows, order, others, **limits, masks=masks, threads=threads, isa=isa
            )
            assert lists(found) == expected


@settings(max_examples=100)
@given(near_rows(WIDTHS), st.integers(0, 2**32), st.booleans())
def test_masks_that_miss_rows(drawn, seed, with_given):
    bits, distance, rows = drawn
    random = np.random.default_rng(seed)
    nothing = np.zeros(rows.shape[1], np.uint64)
    masks = np.array([flipped(random, nothing, bits, bits // 3) for _ in range(3)])
    rows, others = (rows[::2], rows[1::2]) if with_given else (rows, None)
    limits = {"bits": bits, "distance": distance, "masks": masks}
    order = random.permutation(len(rows))
    expected = lists(twin.hamming_stars(rows, order, others, **limits))
    assert lists(hamming_join.hamming_stars(rows, order, others, **limits)) == expected


def quick_twin(rows, order, others, *, distance, within):
    """As the twin; compares a row with all kept ones at once."""
    everything = np.concatenate([rows, others])
    kept = list(range(len(rows), len(everything)))
    kept_for, distances = np.arange(len(rows)), np.zeros(len(rows), np.uint16)
    room = np.empty((len(everything), rows.shape[1]), np.uint64)
    room[: len(kept)] = others
    for place in order.tolist():
        differ = (room[: len(kept)] ^ rows[place]).view(np.uint8)
        apart = np.unpackbits(differ, axis=1).sum(axis=1, dtype=np.int64)
        if len(kept) and apart.min() <= distance:
            nearest = int(apart.argmin())
            kept_for[place], distances[place] = kept[nearest], apart[nearest]
        elif within:
            room[len(kept)] = rows[place]
            kept.append(place)
    return kept_for.tolist(), distances.tolist()


@pytest.mark.parametrize("within", [True, False])
@pytest.mark.parametrize(("bits", "distance"), [(63, 1), (64, 3), (65, 3), (200, 2), (200, 20)])
def test_many_rows(bits, distance, within):
    """Enough kept rows for tables: sparse rows, dense families, identical and skewed ones."""
    random = np.random.default_rng(bits + distance)
    most = min(bits, 2 * distance)
    skewed = random_rows(random, 700, bits)
    skewed[:, 0] &= np.uint64(2**40 - 1)
    rows = np.concatenate(
        [
            random_rows(random, 2500, bits),
            planted_rows(random, 1500, bits, 3, distance // 2 + 1),
            planted_rows(random, 1000, bits, 400, most),
            skewed,
        ]
    )
    rows = np.concatenate([rows, rows[random.integers(0, len(rows), 1000)]])
    rows = rows[random.permutation(len(rows))]
    rows, others = rows[1500:], rows[:1500]
    order = random.permutation(len(rows))[:-10]
    expected = quick_twin(rows, order, others, distance=distance, within=within)
    limits = {"bits": bits, "distance": distance, "within": within}
    few = slice(0, 60)
    assert quick_twin(
        rows[few], np.arange(60), others[few], distance=distance, within=within
    ) == lists(twin.hamming_stars(rows[few], np.arange(60), others[few], **limits))
    plans = [None, block_masks(bits, distance)]
    if distance <= 3:
        plans.append(block_masks(bits, distance, distance + 2))
    for masks in plans:
        for threads in (1, 2, 8):
            found = hamming_join.hamming_stars(
                rows, order, others, **limits, masks=masks, threads=threads
            )
            assert lists(found) == expected


@pytest.mark.parametrize("bits", [64, 128])
@pytest.mark.parametrize("shared", [False, True])
def test_many_blocks_of_rows(bits, shared):
    """Over several blocks; tables, chains and buckets of all sizes must agree with full scans."""
    random = np.random.default_rng(bits)
    rows = np.concatenate(
        [random_rows(random, 16_000, bits), planted_rows(random, 4000, bits, 900, 5)]
    )
    if shared:
        rows[::3, 0] &= np.uint64(2**33 - 1)
    rows = rows[random.permutation(len(rows))]
    limits = {"bits": bits, "distance": 3}
    order = random.permutation(len(rows))
    expected = lists(hamming_join.hamming_stars(rows, order, **limits))
    assert sum(kept != place for place, kept in enumerate(expected[0])) > 1000
    for masks in (block_masks(bits, 3), block_masks(bits, 3, 6)):
        for threads in (1, 2, 8):
            found = hamming_join.hamming_stars(rows, order, **limits, masks=masks, threads=threads)
            assert lists(found) == expected


def test_identical_rows_belong_to_the_first():
    rows = np.repeat(random_rows(np.random.default_rng(1), 1, 64), 50_000, axis=0)
    order = np.arange(len(rows))[::-1]
    for masks in (None, block_masks(64, 3)):
        found = hamming_join.hamming_stars(rows, order, bits=64, distance=3, masks=masks)
        assert np.all(found.kept_for == len(rows) - 1)
        assert not np.any(found.distance)


def test_ties_go_to_the_row_that_was_kept_first():
    rows = np.array([[0b0011], [0b1100], [0b0000]], np.uint64)
    for order, kept in (([0, 1, 2], 0), ([1, 0, 2], 1)):
        found = hamming_join.hamming_stars(rows, np.array(order), bits=64, distance=2)
        assert lists(found) == ([0, 1, kept], [0, 0, 2])
    found = hamming_join.hamming_stars(rows, np.arange(3), rows[[2, 2]], bits=64, distance=2)
    assert lists(found) == ([3, 3, 3], [2, 2, 0])


def test_rows_that_are_not_visited_are_left_alone():
    rows = np.zeros((4, 1), np.uint64)
    found = hamming_join.hamming_stars(rows, np.array([2, 3]), bits=64, distance=0)
    assert found.kept_for.tolist() == [0, 1, 2, 2]


def test_without_within_nothing_is_kept():
    rows = np.zeros((3, 1), np.uint64)
    limits = {"bits": 64, "distance": 5, "within": False}
    found = hamming_join.hamming_stars(rows, np.arange(3), rows[:0], **limits)
    assert found.kept_for.tolist() == [0, 1, 2]
    found = hamming_join.hamming_stars(rows, np.arange(3), rows, **limits)
    assert found.kept_for.tolist() == [3, 3, 3]


@pytest.mark.parametrize("module", [hamming_join, twin])
def test_progress_ends_with_all_rows(module):
    seen = []
    rows = random_rows(np.random.default_rng(2), 30, 64)
    module.hamming_stars(
        rows, np.arange(20), bits=64, distance=1, progress=lambda *now: seen.append(now)
    )
    assert seen[-1] == (20, 20)
    assert seen == sorted(set(seen))


def test_progress_can_stop_the_search():
    rows = random_rows(np.random.default_rng(3), 20_000, 64)
    seen = []

    def stop(done, count):
        seen.append(done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hamming_join.hamming_stars(rows, np.arange(20_000), bits=64, distance=1, progress=stop)
    assert len(seen) == 1
    assert seen[0] < 20_000


ROWS = np.arange(10, dtype=np.uint64).reshape(5, 2)
EACH = np.arange(5)


@pytest.mark.parametrize("module", [hamming_join, twin])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": ROWS.astype(np.int64)}, "rows must be a uint64 array"),
        ({"given": ROWS[:, :1]}, "given has 1 words per row, not 2"),
        ({"bits": 64}, "bits=64"),
        ({"distance": -1}, "distance=-1"),
        ({"distance": 1.5}, "distance=1.5"),
        ({"masks": ROWS[:, :1]}, "masks has 1 words"),
        ({"masks": ROWS[:0]}, "at least one row"),
        ({"masks": ROWS, "bits": 126}, "no bit beyond the 126 bits"),
        ({"order": np.array([0, 5])}, "numbers from 0 to 4"),
        ({"order": np.array([-1, 0])}, "numbers from 0 to 4"),
        ({"order": np.array([1, 0, 1])}, "twice"),
        ({"order": np.array([0.5])}, "whole numbers"),
        ({"order": EACH[None]}, "list of whole numbers"),
    ],
)
def test_refused(module, changes, message):
    arguments = {"rows": ROWS, "order": EACH, "bits": 128, "distance": 1, **changes}
    with pytest.raises(SettingError, match=message):
        module.hamming_stars(**arguments)


def native_stars(masks=ROWS, bits=128, distance=1, isa="auto"):
    return _native.HammingStars(masks, bits=bits, distance=distance, isa=isa)


@pytest.mark.parametrize(
    "call",
    [
        lambda: native_stars(bits=64),
        lambda: native_stars(bits=126),
        lambda: native_stars(distance=5000),
        lambda: native_stars(isa="z80"),
        lambda: native_stars(masks=np.zeros((1, 0), np.uint64), bits=0),
        lambda: native_stars().keep(ROWS[:, :1].copy(), 0, threads=1),
        lambda: native_stars().visit(ROWS[:, :1].copy(), EACH, keeps=True, threads=1),
        lambda: native_stars().visit(ROWS, EACH[:4], keeps=True, threads=1),
    ],
)
def test_native_checks_for_itself(call):
    with pytest.raises(ValueError, match=r"."):
        call()
