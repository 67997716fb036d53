"""Hostile bytes and wrong arguments end in ValueError or an answer; and hard collections."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.kernels.set_index_documents import (
    block,
    collection,
    matches,
    native,
    plan_of,
)

from neardup.kernels.reference import set_index as twin
from neardup.kernels.segment_format import checksum
from neardup.kernels.set_index import (
    NEVER,
    NO_NUMBER,
    SetDocuments,
    SetSegment,
    SetTail,
    SetView,
    pack_sets,
    stored_features,
)

PLANS = {
    "complete": plan_of(threshold=0.5),
    "bands": plan_of(threshold=0.5, bands=7, minima=2),
    "weighted": plan_of("cosine", threshold=0.5, weighted=True),
}
ANY = pytest.mark.parametrize("name", PLANS)
HEAD_WORDS = 18
NONE = np.empty(0, np.uint64)


def small(name):
    """A plan, a few documents with a family among them, their block and their segment."""
    plan = PLANS[name]
    documents = collection(np.random.default_rng(7), plan.weighted, 20, family=70)
    numbers = list(range(1000, 1000 + len(documents)))
    there = block(plan, documents, numbers, [NEVER, 5] * (len(documents) // 2))
    return plan, documents, there, pack_sets(plan, [there], None, 1)


SMALL = {name: small(name) for name in PLANS}


def as_bytes(data):
    return np.frombuffer(bytes(data), np.uint8)


def answers(name, segment, there=None):
    """What a segment answers, and whether a full check accepts it; None where it is refused."""
    plan, documents, sound, _ = SMALL[name]
    try:
        opened = SetSegment(segment, [sound if there is None else there])
    except ValueError:
        return None, False
    try:
        opened.check()
        whole = True
    except ValueError:
        whole = False
    view = SetView([opened], [NONE], None, 0)
    options = {"threshold": 0.5, "limit": 20, "now": 5, "skip": None, "threads": 1, "isa": "auto"}
    found = []
    for document in documents[::9]:
        try:
            found.append(matches(view.search(native(plan, [document]), **options))[0])
        except ValueError:
            found.append(None)
    return found, whole


@ANY
@settings(max_examples=200)
@given(data=st.data())
def test_a_damaged_segment(name, data):
    """Any changed byte is detected by a full check; a search may miss it or detect it."""
    segment = bytearray(SMALL[name][3])
    place = data.draw(
        st.one_of(st.integers(0, 8 * HEAD_WORDS - 1), st.integers(0, len(segment) - 1))
    )
    segment[place] ^= data.draw(st.integers(1, 255))
    found, whole = answers(name, as_bytes(segment))
    assert not whole
    if place < 8 * HEAD_WORDS:
        assert found is None


@ANY
@settings(max_examples=300)
@given(data=st.data())
def test_a_forged_segment(name, data):
    """Any numbers with matching checksums: nothing is read outside the segment."""
    words = np.frombuffer(SMALL[name][3], np.uint64).copy()
    halves = words.view(np.uint32)
    for _ in range(data.draw(st.integers(1, 6))):
        value = data.draw(
            st.sampled_from([0, 1, 2, 5, 24, 64, 91, 2**24 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1])
        )
        if data.draw(st.booleans()):
            place = data.draw(st.integers(2 * HEAD_WORDS, len(halves) - 1))
            halves[place] = value % 2**32
        else:
            words[data.draw(st.integers(2, 15))] = value
    words[16] = checksum(words[HEAD_WORDS:].tobytes())
    words[17] = checksum(words[:17].tobytes())
    answers(name, words.view(np.uint8))


@ANY
def test_a_cut_off_segment(name):
    segment = SMALL[name][3]
    for size in [*range(200), *range(200, len(segment), 37), len(segment) - 8, len(segment) - 1]:
        assert answers(name, as_bytes(segment[:size])) == (None, False)
    assert answers(name, as_bytes(segment + bytes(8))) == (None, False)


def test_another_version():
    words = np.frombuffer(SMALL["bands"][3], np.uint64).copy()
    words[1] = 2
    words[17] = checksum(words[:17].tobytes())
    with pytest.raises(ValueError, match="version 2"):
        SetSegment(words.view(np.uint8), [])


@ANY
def test_memory_that_is_not_aligned(name):
    _, _, there, segment = SMALL[name]
    expected = answers(name, as_bytes(segment))
    assert expected[1]
    for shift in range(1, 8):
        moved = np.frombuffer(bytes(shift) + segment, np.uint8)[shift:]
        records = np.frombuffer(bytes(shift) + there[0].tobytes(), np.uint8)[shift:]
        assert answers(name, moved, (records, *there[1:])) == expected


def require_plausible(answers):
    """Whatever the bytes are, a match reaches the threshold, and the best comes first."""
    for found in answers or []:
        similarities = [similarity for _, similarity in found or []]
        assert all(0.5 <= similarity <= 1 for similarity in similarities)
        assert similarities == sorted(similarities, reverse=True)


@ANY
@settings(max_examples=300)
@given(data=st.data())
def test_hostile_blocks(name, data):
    """Records with changed bytes, cut off, or said to be elsewhere."""
    plan, documents, there, segment = SMALL[name]
    records = bytearray(there[0].tobytes())
    for _ in range(data.draw(st.integers(0, 4))):
        before_features = data.draw(st.booleans())
        place = data.draw(st.integers(0, (there[6] if before_features else len(records)) - 1))
        records[place] ^= data.draw(st.integers(1, 255))
    records = records[: data.draw(st.one_of(st.just(len(records)), st.integers(0, len(records))))]
    fields = list(there[1:])
    for _ in range(data.draw(st.integers(0, 2))):
        field = data.draw(st.integers(0, 5))
        huge = st.sampled_from([0, 1, 3, 2**31, 2**32, 2**62, 2**63, 2**64 - 1])
        fields[field] = data.draw(st.one_of(huge, st.integers(0, len(there[0]) + 8)))
    hostile = (as_bytes(records), *fields)
    found, _ = answers(name, as_bytes(segment), hostile)
    require_plausible(found)
    if bytes(records) == there[0].tobytes() and fields == list(there[1:]):
        assert found == answers(name, as_bytes(segment))[0]
    tail = SetTail(plan)
    for call in (lambda: pack_sets(plan, [hostile], None, 1), lambda: tail.add_block(hostile, 1)):
        try:
            made = call()
        except ValueError:
            continue
        if made is not None:
            require_plausible(answers(name, as_bytes(made), hostile)[0])
    view = SetView([], [], tail, 1)
    near = view.search_one(native(plan, documents), 30, 0.5, None, 0, NO_NUMBER)
    require_plausible([near])


def one_segment(plan, documents, numbers=None):
    there = block(plan, documents, list(range(len(documents))) if numbers is None else numbers)
    packed = pack_sets(plan, [there], None, 2)
    return SetSegment(as_bytes(packed), [there])


def view_of(name):
    _, _, there, segment = SMALL[name]
    return SetView([SetSegment(as_bytes(segment), [there])], [NONE], None, 0)


def asked(view, plan, threshold=0.5, skip=None, isa="auto"):
    view.search(
        native(plan, [{1 << 40: 1.0}]),
        threshold=threshold,
        limit=None,
        now=0,
        skip=skip,
        threads=1,
        isa=isa,
    )


def of_arrays(plan, offsets, hashes, weights=None):
    weights = None if weights is None else np.array(weights, np.float64)
    return SetDocuments(
        plan, np.array(offsets, np.int64), np.array(hashes, np.uint64), weights, threads=1
    )


SETS, BANDS, WEIGHTED = PLANS.values()
TWO = native(SETS, [{5: 1.0}, {6: 1.0}])
BLOCK = SMALL["complete"][2]


@pytest.mark.parametrize(
    "call",
    [
        lambda: plan_of("euclid", threshold=0.5),
        lambda: plan_of(threshold=0.0),
        lambda: plan_of(threshold=1.1),
        lambda: plan_of(threshold=float("nan")),
        lambda: plan_of(threshold=0.5, bands=1025, minima=1),
        lambda: plan_of(threshold=0.5, bands=2, minima=17),
        lambda: plan_of(threshold=0.5, bands=2, minima=0),
        lambda: plan_of("cosine", threshold=0.5, bands=2, minima=2, weighted=True),
        lambda: of_arrays(SETS, [], []),
        lambda: of_arrays(SETS, [0, 3], [1, 2]),
        lambda: of_arrays(SETS, [-1, 2], [1, 2]),
        lambda: of_arrays(SETS, [0, 2, 1], [1, 2]),
        lambda: of_arrays(SETS, [0, 2], [2, 1]),
        lambda: of_arrays(SETS, [0, 2], [1, 1]),
        lambda: of_arrays(SETS, [0, 2], [1, 2], [1, 1]),
        lambda: of_arrays(WEIGHTED, [0, 2], [1, 2]),
        lambda: of_arrays(WEIGHTED, [0, 2], [1, 2], [1]),
        lambda: of_arrays(WEIGHTED, [0, 2], [1, 2], [1, np.nan]),
        lambda: of_arrays(WEIGHTED, [0, 2], [1, 2], [1, np.inf]),
        lambda: of_arrays(WEIGHTED, [0, 2], [1, 2], [1, -1]),
        lambda: of_arrays(WEIGHTED, [0, 2], [1, 2], [1, 1e-101]),
        lambda: TWO.stored_one(2),
        lambda: stored_features(b""),
        lambda: SetTail(SETS).add(TWO, 2, 1, NEVER, 1),
        lambda: SetTail(WEIGHTED).add(TWO, 0, 1, NEVER, 1),
        lambda: SetTail(WEIGHTED).add_block(BLOCK, 1),
        lambda: pack_sets(WEIGHTED, [BLOCK], None, 1),
        lambda: pack_sets(SETS, [SMALL["weighted"][2]], None, 1),
        lambda: pack_sets(SETS, [BLOCK], np.array([2, 1], np.uint64), 1),
        lambda: pack_sets(SETS, [BLOCK, BLOCK], None, 1),
        lambda: SetSegment(as_bytes(SMALL["complete"][3]), [BLOCK, BLOCK]),
        lambda: SetView([], [NONE], None, 0),
        lambda: SetView(
            [SetSegment(as_bytes(SMALL["complete"][3]), [BLOCK])],
            [np.array([2, 1], np.uint64)],
            None,
            0,
        ),
        lambda: asked(view_of("bands"), SETS),
        lambda: asked(view_of("complete"), BANDS),
        lambda: asked(view_of("weighted"), SETS),
        lambda: asked(view_of("complete"), WEIGHTED),
        lambda: asked(view_of("bands"), plan_of(threshold=0.5, bands=7, minima=3)),
        lambda: asked(SetView([], [], SetTail(SETS), 0), WEIGHTED),
        lambda: asked(SetView([], [], SetTail(WEIGHTED), 0), SETS),
        lambda: asked(view_of("complete"), SETS, threshold=0.49),
        lambda: asked(view_of("complete"), SETS, threshold=1.01),
        lambda: asked(view_of("complete"), SETS, threshold=float("nan")),
        lambda: asked(SetView([], [], None, 0), SETS, threshold=0.0),
        lambda: asked(view_of("complete"), SETS, skip=NONE),
        lambda: asked(view_of("complete"), SETS, isa="z80"),
        lambda: view_of("complete").search_one(TWO, 2, 0.5, None, 0, NO_NUMBER),
        lambda: view_of("bands").search_one(TWO, 1, 0.5, None, 0, NO_NUMBER),
    ],
)
def test_native_checks_for_itself(call):
    with pytest.raises(ValueError, match=r"."):
        call()


def test_a_record_that_is_missing():
    plan, documents, there, segment = SMALL["complete"]
    for blocks in ([], [block(plan, documents[:3], [2000, 2001, 2002])]):
        view = SetView([SetSegment(as_bytes(segment), blocks)], [NONE], None, 0)
        with pytest.raises(ValueError, match="missing"):
            view.search_one(native(plan, documents), 40, 0.5, None, 0, NO_NUMBER)
    assert there[2] == len(documents)


def test_a_light_feature_after_many_heavy_ones():
    """The mass of the features that are left out is not what rounding leaves of the others."""
    light, random = 2**63, np.random.default_rng(3)
    plan = plan_of("weighted-jaccard", threshold=5e-16, weighted=True)
    # The light feature is the most common one, so that it comes last.
    documents = [{light: 1.0, i: 1.0} for i in range(3_000)]
    for _ in range(20):
        hashes = random.integers(0, 2**63, 2_000, np.uint64).tolist()
        heavy = dict(zip(hashes, random.random(2_000).tolist(), strict=True))
        documents.append(heavy | {light: 1e-12})
    found = SetView([one_segment(plan, documents)], [NONE], None, 0).search_one(
        native(plan, [{light: 1e-12}]), 0, 5e-16, None, 0, NO_NUMBER
    )
    assert sorted(number for number, _ in found) == list(range(len(documents)))


def test_one_set_of_a_million_features():
    random = np.random.default_rng(1)
    hashes = np.unique(random.integers(0, 2**64, 1_000_000, np.uint64))
    others = np.sort(np.concatenate([hashes[: 9 * len(hashes) // 10], hashes[-1:] + np.uint64(1)]))
    for bands, minima in ((0, 0), (14, 4)):
        plan = plan_of(threshold=0.8, bands=bands, minima=minima)
        offsets = np.array([0, len(hashes), len(hashes) + len(others)], np.int64)
        both = SetDocuments(plan, offsets, np.concatenate([hashes, others]), None, threads=2)
        starts, stored = both.stored()
        parts = [np.arange(2, dtype=np.uint32).tobytes(), starts.astype(np.uint32).tobytes()]
        data = as_bytes(b"".join([*parts, stored.tobytes()]))
        there = (data, 0, 2, 0, 0, 8, 8 + len(parts[1]))
        segment = SetSegment(as_bytes(pack_sets(plan, [there], None, 2)), [there])
        found = SetView([segment], [NONE], None, 0).search_one(both, 0, 0.8, None, 0, NO_NUMBER)
        asking, other = (twin.SetDocument(0, x >> np.uint64(32), None) for x in (hashes, others))
        assert found == [(0, 1.0), (1, asking.similarity(other, "jaccard"))]


@pytest.mark.parametrize("bands", [(0, 0), (14, 4)])
def test_many_equal_documents_and_many_small_ones(bands):
    """Equal documents are one set; those of one feature are found whatever their number."""
    plan = plan_of(threshold=0.8, bands=bands[0], minima=bands[1])
    equal = {place * 0x9E3779B97F4A7C15 % 2**64: 1.0 for place in range(30)}
    singles = [{place << 34: 1.0} for place in range(1, 20_001)]
    segment = one_segment(plan, [equal] * 20_000 + singles)
    assert segment.sets == 20_001
    view = SetView([segment], [np.arange(3, 20_000, 2, dtype=np.uint64)], None, 0)
    sets = native(plan, [equal, singles[77]])
    assert view.search_one(sets, 0, 0.8, 3, 0, 1) == [(0, 1.0), (2, 1.0), (4, 1.0)]
    assert len(view.search_one(sets, 0, 0.8, None, 0, NO_NUMBER)) == 10_001
    assert view.search_one(sets, 1, 0.8, None, 0, NO_NUMBER) == [(20_077, 1.0)]


def test_questions_during_changes():
    """Threads that ask an earlier revision of a tail are not disturbed by one that writes."""
    plan = PLANS["bands"]
    documents = collection(np.random.default_rng(2), False, 200)
    sets, tail = native(plan, documents), SetTail(plan)
    for place in range(100):
        tail.add(sets, place, place, NEVER, 1)
    view = SetView([], [], tail, 1)
    options = {"threshold": 0.5, "limit": None, "now": 0, "skip": None, "isa": "auto"}
    expected = matches(view.search(sets, **options, threads=1))
    stop, wrong = threading.Event(), []

    def ask():
        while not stop.is_set():
            found = matches(view.search(sets, **options, threads=2))
            if found != expected:
                wrong.append(found)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    askers = [threading.Thread(target=ask) for _ in range(2)]
    try:
        for asker in askers:
            asker.start()
        for revision in range(2, 30):
            for place in range(200):
                tail.add(sets, place, 1000 * revision + place, NEVER, revision)
            for number in range(0, 100, 7):
                tail.remove(number, revision)
            tail.undo(revision)
    finally:
        stop.set()
        for asker in askers:
            asker.join()
        sys.setswitchinterval(interval)
    assert wrong == []
    assert len(tail) == 100
