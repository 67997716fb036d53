"""The index of sets finds what the twin finds, and stores the same bytes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings, strategies as st
from tests.kernels.set_index_documents import (
    COMMON,
    block,
    collection,
    edited,
    expiries,
    known,
    matches,
    native,
    plan_of,
)

from neardup import kernels
from neardup.kernels.reference import set_index as twin
from neardup.kernels.set_index import (
    NEVER,
    NO_NUMBER,
    SetDocuments,
    SetSegment,
    SetTail,
    SetView,
    pack_sets,
    stored_features,
    text_document,
)
from neardup.pairs.recall import minhash_bands

CORPUS = Path(__file__).parents[1] / "fuzz_corpus" / "sets"
ISAS = kernels.available_isas()
MEASURES = [
    ("jaccard", False),
    ("cosine", False),
    ("weighted-jaccard", True),
    ("cosine", True),
    ("containment", False),
    ("containment", True),
    ("inclusion", False),
    ("inclusion", True),
]
THRESHOLDS = [0.05, 0.1, 0.3, 1 / 3, 0.5, 0.6, 2 / 3, 0.8, 0.9, 1.0]
NOW = 1_000
NONE = np.empty(0, np.uint64)
# Around where another form of storing is shorter.
SIZES = [0, 1, 2, 7, 8, 9, 39, 40, 41, 255, 256, 257, 8999, 9000, 9001, 70_000]


def has_bands(kind):
    measure, weighted = kind
    return not weighted and measure in ("jaccard", "cosine")


class Index:
    """A collection cut into segments and a tail, and the same for the twin."""

    def __init__(self, random, plan, documents, *, parts, in_tail, threads=1, revision=0):
        self.plan, self.documents, self.revision = plan, documents, revision
        self.numbers = np.cumsum(1 + random.integers(0, 3, len(documents))).tolist()
        self.known = []
        self.dead = []
        self.segments = []
        self.packed = []
        self.tail = SetTail(plan)
        cuts = np.sort(random.integers(0, len(documents) + 1 - in_tail, parts - 1)).tolist()
        for begin, end in pairwise([0, *cuts, len(documents) - in_tail]):
            self._segment(random, begin, end, threads)
        begin = len(documents) - in_tail
        times = expiries(random, in_tail, NOW) or [NEVER] * in_tail
        sets = native(plan, documents[begin:])
        for place in range(in_tail):
            self.tail.add(sets, place, self.numbers[begin + place], times[place], revision)
        self._know(begin, times)

    def _segment(self, random, begin, end, threads):
        middle = int(random.integers(begin, end + 1))
        blocks = []
        for first, last in ((begin, middle), (middle, end)):
            if first == last:
                continue
            times = expiries(random, last - first, NOW)
            here = self.documents[first:last]
            shift = int(random.integers(0, 9))
            blocks.append(block(self.plan, here, self.numbers[first:last], times, shift))
            self._know(first, times or [NEVER] * (last - first))
        packed = pack_sets(self.plan, blocks, None, threads)
        self.packed.append(packed)
        self.segments.append(SetSegment(np.frombuffer(packed, np.uint8), blocks))
        self.segments[-1].check()
        gone = [number for number in self.numbers[begin:end] if random.random() < 0.1]
        self.dead.append(np.array(gone, np.uint64))

    def _know(self, first, times):
        for place, expires in enumerate(times, first):
            number, document = self.numbers[place], self.documents[place]
            self.known.append(known(self.plan, document, number, expires=expires))

    @property
    def view(self):
        return SetView(self.segments, self.dead, self.tail, self.revision)

    @property
    def gone(self):
        return frozenset(np.concatenate([NONE, *self.dead]).tolist())

    def find(self, asked, skip, threshold, limit, *, threads=1, isa="auto"):
        found = self.view.search(
            native(self.plan, asked),
            threshold=threshold,
            limit=limit,
            now=NOW,
            skip=np.array(skip, np.uint64),
            threads=threads,
            isa=isa,
        )
        return matches(found)

    def expected(self, measure, asked, skip, threshold, limit):
        return [
            twin.search(
                self.known,
                known(self.plan, document, number),
                measure=measure,
                threshold=threshold,
                limit=limit,
                now=NOW,
                dead=self.gone,
            )
            for document, number in zip(asked, skip, strict=True)
        ]


def questions(random, documents, numbers, count):
    """Documents of the index, with and without their numbers to skip, and edits of them."""
    places = random.integers(0, len(documents), count) if documents else []
    asked, skip = [{}], [NO_NUMBER]
    for place in places:
        asked.append(edited(random, documents[place], random.choice([0, 0, 0.1]), lambda _: {}))
        skip.append(numbers[place] if random.random() < 0.5 else NO_NUMBER)
    return asked, skip


@settings(max_examples=120)
@given(
    seed=st.integers(0, 2**32),
    kind=st.sampled_from(MEASURES),
    threshold=st.sampled_from(THRESHOLDS),
    higher=st.sampled_from([0.0, 0.0, 0.5, 0.75, 0.95, 1.0]),
    limit=st.sampled_from([None, 0, 1, 10]),
    count=st.integers(0, 40),
    parts=st.integers(1, 4),
)
def test_without_bands_nothing_is_missed(seed, kind, threshold, higher, limit, count, parts):
    random = np.random.default_rng(seed)
    measure, weighted = kind
    plan = plan_of(measure, threshold=threshold, weighted=weighted)
    documents = collection(random, weighted, count)
    in_tail = int(random.integers(0, count + 1))
    index = Index(random, plan, documents, parts=parts, in_tail=in_tail)
    asked, skip = questions(random, documents, index.numbers, 12)
    least = max(threshold, higher)
    expected = index.expected(measure, asked, skip, least, limit)
    for isa in ISAS:
        assert index.find(asked, skip, least, limit, threads=2, isa=isa) == expected
    sets = native(plan, asked)
    for place, number in enumerate(skip):
        one = index.view.search_one(sets, place, least, limit, NOW, number)
        assert one == expected[place]


@pytest.mark.parametrize("kind", MEASURES)
@pytest.mark.parametrize("bands", [(0, 0), (9, 3), (40, 1)])
def test_a_family_is_found_by_its_rarest_features(kind, bands):
    """With bands, so many members share one that their rarest features are looked at instead."""
    measure, weighted = kind
    if not has_bands(kind) and bands != (0, 0):
        pytest.skip("this measure has no bands")
    random = np.random.default_rng(16)
    for threshold in (0.3, 0.5, 0.6, 0.7):
        plan = plan_of(
            measure, threshold=threshold, bands=bands[0], minima=bands[1], weighted=weighted
        )
        documents = collection(random, weighted, 60, family=300)
        index = Index(random, plan, documents, parts=2, in_tail=20)
        assert max(segment.prefix_postings for segment in index.segments) > 300
        asked, skip = questions(random, documents[60:], index.numbers[60:], 12)
        for least, limit in ((threshold, None), (threshold, 10), (min(threshold + 0.15, 1), 1)):
            expected = index.expected(measure, asked, skip, least, limit)
            found = index.find(asked, skip, least, limit)
            if bands == (0, 0):
                assert found == expected
            elif limit is None:
                check_bands(index, bands, asked, found, expected)


def check_bands(index, bands, asked, found, expected):
    """Every match is true, and whoever shares a key of a band is found."""
    keys = {
        document.number: set(enumerate(twin.band_keys(document.features.tolist(), *bands)))
        for document in index.known
    }
    in_tail = set(index.numbers[len(index.documents) - len(index.tail) :])
    for document, these, true in zip(asked, found, expected, strict=True):
        assert set(these) <= set(true)
        assert these == sorted(these, key=lambda match: (-match[1], match[0]))
        features = known(index.plan, document).features.tolist()
        own = set(enumerate(twin.band_keys(features, *bands)))
        sure = {match for match in true if match[0] in in_tail or keys[match[0]] & own}
        assert sure <= set(these)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    bands=st.tuples(st.integers(1, 12), st.integers(1, 6)),
    threshold=st.sampled_from([0.05, 0.3, 0.6, 0.9]),
    count=st.integers(0, 60),
)
def test_bands_find_those_that_share_a_key(seed, bands, threshold, count):
    """Of a key, a segment looks at the leading bits, more of them where it has more sets."""
    random = np.random.default_rng(seed)
    plan = plan_of(threshold=threshold, bands=bands[0], minima=bands[1])
    documents = collection(random, False, count)
    index = Index(random, plan, documents, parts=1, in_tail=0)
    assert index.segments[0].prefix_postings == 0
    asked, skip = questions(random, documents, index.numbers, 12)
    expected = index.expected("jaccard", asked, skip, threshold, None)
    found = index.find(asked, skip, threshold, None)
    check_bands(index, bands, asked, found, expected)
    unseen = 24 - max(index.segments[0].sets // 8, 1).bit_length() + 1

    def leading(features):
        return {(i, key >> unseen) for i, key in enumerate(twin.band_keys(features, *bands))}

    keys = {d.number: leading(d.features.tolist()) for d in index.known}
    for document, these, true in zip(asked, found, expected, strict=True):
        own = leading(known(plan, document).features.tolist())
        assert these == [match for match in true if keys[match[0]] & own]


@pytest.mark.parametrize("size", SIZES)
def test_stored_bytes_are_those_of_the_twin(size):
    random = np.random.default_rng(size)
    hashes = np.unique(random.integers(0, 2**64, size, np.uint64))
    for spread in (hashes, np.arange(size).astype(np.uint64) << np.uint64(32), ~hashes[::-1]):
        offsets = np.array([0, len(spread)], np.int64)
        documents = SetDocuments(plan_of(threshold=0.5), offsets, spread, None, threads=1)
        expected = twin.stored_set(twin.short_features(spread))
        assert documents.stored_one(0) == expected
        assert documents.stored()[1].tobytes() == expected
        for read in (stored_features, twin.read_set):
            features, weights = read(expected)
            assert features.tolist() == (spread >> np.uint64(32)).tolist()
            assert weights is None
        plan = plan_of("cosine", threshold=0.5, weighted=True)
        weighed = random.random(len(spread)) + 0.1
        documents = SetDocuments(plan, offsets, spread, weighed, threads=1)
        expected = twin.stored_set(spread, weighed)
        assert documents.stored_one(0) == expected
        for read in (stored_features, twin.read_set):
            features, weights = read(expected)
            assert features.tolist() == spread.tolist()
            assert weights.tolist() == weighed.tolist()


def read_or_refused(read, data):
    try:
        features, weights = read(data)
    except ValueError:
        return "refused"
    return features.tolist(), None if weights is None else weights.tolist()


@settings(max_examples=300)
@given(
    size=st.sampled_from([0, 1, 5, 39, 40, 41, 300, 9001]),
    weighted=st.booleans(),
    changes=st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), max_size=4),
    cut=st.one_of(st.just(0), st.integers(-20, 20)),
)
@example(size=41, weighted=False, changes=[(3, 0x40 ^ 0xC0)], cut=0)
def test_hostile_bytes_are_refused_as_by_the_twin(size, weighted, changes, cut):
    features = np.linspace(0, 2**32 - 1, size).astype(np.uint64)
    weights = np.ones(size) if weighted else None
    data = bytearray(twin.stored_set(features, weights))
    data = data[: len(data) - cut] if cut > 0 else data + bytes(-cut)
    for place, change in changes:
        if data:
            data[place % len(data)] ^= change
    assert read_or_refused(stored_features, bytes(data)) == read_or_refused(
        twin.read_set, bytes(data)
    )


def test_inputs_of_the_fuzzer_are_read_as_by_the_twin():
    inputs = [file.read_bytes() for file in sorted(CORPUS.iterdir())]
    stored = [data[1:] for data in inputs if data and data[0] % 4 == 3]
    assert stored
    for data in stored:
        assert read_or_refused(stored_features, data) == read_or_refused(twin.read_set, data)


@pytest.mark.parametrize("kind", MEASURES)
def test_bytes_and_answers_do_not_depend_on_threads(kind):
    measure, weighted = kind
    documents = collection(np.random.default_rng(3), weighted, 900, family=300)
    for bands in [(0, 0), (12, 3)] if has_bands(kind) else [(0, 0)]:
        plan = plan_of(measure, threshold=0.5, bands=bands[0], minima=bands[1], weighted=weighted)
        alike = []
        for threads in (1, 2, 5):
            random = np.random.default_rng(4)
            index = Index(random, plan, documents, parts=2, in_tail=30, threads=threads)
            asked, skip = questions(random, documents, index.numbers, 100)
            sets = [native(plan, asked, threads=several).stored()[1] for several in (1, threads)]
            assert np.array_equal(*sets)
            for isa in ISAS:
                found = index.find(asked, skip, 0.5, 20, threads=threads, isa=isa)
                alike.append((index.packed, found))
        assert all(one == alike[0] for one in alike[1:])


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(MEASURES), count=st.integers(0, 60))
def test_merging_is_packing_at_once(seed, kind, count):
    """The documents of chosen numbers, from blocks as they are, make the same segment."""
    random = np.random.default_rng(seed)
    measure, weighted = kind
    bands = minhash_bands(0.7) if has_bands(kind) else (0, 0)
    plan = plan_of(measure, threshold=0.7, bands=bands[0], minima=bands[1], weighted=weighted)
    documents = collection(random, weighted, count, family=int(random.choice([0, 90])))
    numbers = (2**33 + np.cumsum(1 + random.integers(0, 3, len(documents)))).tolist()
    times = [int(time) for time in random.choice([NEVER, 5, 6], len(documents))]
    chosen = [i for i in range(len(documents)) if random.random() < 0.7]
    cuts = np.sort(random.integers(0, len(documents) + 1, 3)).tolist()
    blocks = [
        block(plan, documents[a:b], numbers[a:b], times[a:b])
        for a, b in pairwise([0, *cuts, len(documents)])
        if a < b
    ]
    these, of, until = ([column[i] for i in chosen] for column in (documents, numbers, times))
    once = block(plan, these, of, until, shift=3)
    wanted = np.array(of, np.uint64)
    merged = pack_sets(plan, blocks, wanted, 2)
    assert merged == pack_sets(plan, [once] if chosen else [], None, 1)
    # Numbers of nobody are ignored.
    more = np.union1d(wanted, np.array([3, 2**34], np.uint64))
    assert pack_sets(plan, blocks, more, 1) == merged


class Tailed:
    """A tail and what the twin knows of it, changed by revisions."""

    def __init__(self, plan):
        self.plan, self.tail, self.known = plan, SetTail(plan), []

    def add(self, documents, numbers, revision, as_block):
        if as_block:
            self.tail.add_block(block(self.plan, documents, numbers), revision)
        else:
            sets = native(self.plan, documents)
            for place, number in enumerate(numbers):
                self.tail.add(sets, place, number, NEVER, revision)
        for document, number in zip(documents, numbers, strict=True):
            self.known.append(known(self.plan, document, number, since=revision))

    def remove(self, number, revision):
        self.tail.remove(number, revision)
        for place, document in enumerate(self.known):
            if document.number == number and document.until == NO_NUMBER:
                changed = {**vars(document), "until": revision}
                changed.pop("counts", None)
                self.known[place] = twin.SetDocument(**changed)

    def undo(self, revision, before):
        self.tail.undo(revision)
        self.known = before


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(MEASURES))
def test_every_revision_of_a_tail_stays_as_it_was(seed, kind):
    random = np.random.default_rng(seed)
    measure, weighted = kind
    plan = plan_of(measure, threshold=0.3, weighted=weighted)
    tailed, number, revision = Tailed(plan), 1, 1
    documents = collection(random, weighted, 60)
    asked = documents[::7]
    seen = {0: []}
    while documents:
        before = list(tailed.known)
        count = int(random.integers(1, 8))
        numbers = list(range(number, number + len(documents[:count])))
        tailed.add(documents[:count], numbers, revision, random.random() < 0.5)
        for gone in random.integers(1, number + 3, 2).tolist():
            tailed.remove(gone, revision)
        if random.random() < 0.3:
            tailed.undo(revision, before)
            continue
        documents, number = documents[count:], number + count
        seen[revision] = list(tailed.known)
        revision += int(random.integers(1, 3))
    assert len(tailed.tail) == len(tailed.known)
    sets = native(plan, asked)
    for then, those in seen.items():
        view = SetView([], [], tailed.tail, then)
        for place, document in enumerate(asked):
            found = view.search_one(sets, place, 0.3, None, NOW, NO_NUMBER)
            for twins in (those, tailed.known):
                asking = known(plan, document)
                assert found == twin.search(
                    twins, asking, measure=measure, threshold=0.3, limit=None, revision=then
                )


def test_one_text_is_the_document_of_its_features():
    plan = plan_of(threshold=0.8, bands=14, minima=4)
    text = "the quick brown fox jumps over the lazy dog and the quick brown cat " * 3
    document, words, row = text_document(plan, text, (True, 3), 64, False, None)
    texts = pa.array([text], pa.large_string())
    _, hashes, counted = kernels.find_sets(texts, [("word", 3)])
    assert document.stored_one(0) == twin.stored_set(twin.short_features(hashes))
    assert (len(document), words, len(row)) == (1, counted[0], 8)


def test_features_with_one_leading_half():
    """They count as often as both sets have them, in short and in long sets."""
    few = [{int(COMMON[0]) + i: 1.0 for i in range(several)} for several in (1, 2, 3, 5)]
    many = [few[1] | {i << 32: 1.0 for i in range(size)} for size in (3, 20, 40, 60, 200)]
    plan = plan_of("cosine", threshold=0.05)
    index = Index(np.random.default_rng(0), plan, few + many, parts=1, in_tail=0)
    index.dead = [NONE]
    asked, skip = few + many, [NO_NUMBER] * 9
    expected = index.expected("cosine", asked, skip, 0.05, None)
    assert index.find(asked, skip, 0.05, None) == expected
