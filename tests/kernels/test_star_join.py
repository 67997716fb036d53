"""The star join equals the sequential definition in any number of threads, memory and parts."""

from __future__ import annotations

import tempfile
from typing import IO, Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

from neardup.errors import SettingError
from neardup.kernels import star_join
from neardup.kernels.reference import set_join as twin_join, star_join as twin
from neardup.kernels.set_join import Documents, join_similar
from neardup.kernels.star_join import (
    KEPT,
    OPEN,
    Decisions,
    DocumentCounts,
    StarJoin,
    StoredFeatures,
)

MEASURES = ("jaccard", "weighted-jaccard", "cosine", "containment", "inclusion")
Places = NDArray[np.int64]


def random_documents(
    random: np.random.Generator, count: int, *, weighted: bool, features: int = 40
) -> Documents:
    """Families around a few cores: many pairs just above and just below any threshold."""
    cores = [
        random.choice(features * 6, size=random.integers(1, features), replace=False)
        for _ in range(4)
    ]
    lists = []
    for _ in range(count):
        core = cores[random.integers(len(cores))]
        kept = core[random.random(len(core)) > random.choice([0.0, 0.05, 0.2, 0.2, 0.8])]
        more = random.integers(0, features * 6, size=random.integers(0, 5))
        lists.append(np.unique(np.concatenate((kept, more))).astype(np.uint64))
    mixed = [np.unique(one * np.uint64(0x9E3779B97F4A7C15)) for one in lists]
    offsets = np.concatenate(([0], np.cumsum([len(one) for one in mixed]))).astype(np.int64)
    hashes = np.concatenate([np.zeros(0, np.uint64), *mixed])
    weights = None
    if weighted:
        weights = random.choice([0.0, 0.5, 1.0, 1.0, 2.0, 7.25], size=len(hashes))
    return offsets, hashes, weights


def stored(documents: Documents, parts: int, file: IO[bytes] | None) -> StoredFeatures:
    """The documents in so many parts, every second one in the file, if there is one."""
    offsets, hashes, weights = documents
    found = StoredFeatures(weighted=weights is not None)
    for number, some in enumerate(np.array_split(np.arange(len(offsets) - 1), parts)):
        if not len(some):
            continue
        first, last = offsets[some[0]], offsets[some[-1] + 1]
        own = np.ascontiguousarray(offsets[some[0] : some[-1] + 2] - first)
        part = hashes[first:last].copy(), None if weights is None else weights[first:last].copy()
        if file is None or number % 2 == 0:
            found.add((own, *part))
            continue
        at = file.seek(0, 2)
        file.write(part[0].tobytes())
        if part[1] is not None:
            file.write(part[1].tobytes())
        file.flush()
        found.add_from_file(file.fileno(), own, hashes_at=at, weights_at=at + part[0].nbytes)
    return found


def copies_in(documents: Documents, order: Places) -> Places:
    """The first in `order` of the documents with the same features."""
    offsets, hashes, weights = documents
    first: dict[bytes, int] = {}
    copy_of = np.arange(len(offsets) - 1)
    for place in order.tolist():
        some = slice(offsets[place], offsets[place + 1])
        key = hashes[some].tobytes() + (b"" if weights is None else weights[some].tobytes())
        copy_of[place] = first.setdefault(key, place)
    return copy_of


def found_stars(
    documents: Documents,
    order: Places,
    *,
    measure: str,
    threshold: float,
    kept_first: int = 0,
    within: bool = True,
    threads: int = 1,
    memory: int = 1 << 30,
    table: int = 1 << 20,
    parts: int = 1,
    file: IO[bytes] | None = None,
    copies: bool = False,
) -> tuple[Places, NDArray[np.float64]]:
    """By the native join, with an index that is emptied whenever it is full."""
    count = len(documents[0]) - 1
    order = order[np.diff(documents[0])[order] > 0] if not kept_first else order
    counts = DocumentCounts(len(documents[1]), table)
    counts.see(documents, np.ones(count, np.bool_), threads=threads)
    join = StarJoin(
        stored(documents, parts, file),
        counts,
        measure=measure,
        threshold=threshold,
        features=len(documents[1]),
        memory=memory,
    )
    known = Decisions.none(copies_in(documents, order) if copies else np.arange(count))
    known.decision[order[:kept_first]] = KEPT
    decided, looked_up = (order, order[:0]) if within else np.split(order, [kept_first])
    while len(decided):
        done = join.decide(decided, known, threads=threads)
        assert done > 0
        decided = decided[done:]
        join.look_up(np.concatenate((decided, looked_up)), known, threads=threads)
        join.clear()
    return known.kept_for, known.similarity


def stars(
    documents: Documents, order: Places, **options: Any
) -> tuple[Places, NDArray[np.float64]]:
    """By the twin, but with the documents read once, not again for each of them."""
    weighed = list(twin_join._weighed(documents))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(twin_join, "_weighed", lambda side: weighed)
        return twin.stars(documents, order, **options)


@settings(max_examples=120, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    measure=st.sampled_from(MEASURES),
    weighted=st.booleans(),
    threshold=st.sampled_from([0.05, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0]),
    threads=st.sampled_from([1, 2, 8]),
    memory=st.sampled_from([1, 34_000, 1 << 30]),
    table=st.sampled_from([1, 1 << 20]),
    parts=st.sampled_from([1, 5]),
    spilled=st.booleans(),
)
def test_equals_the_sequential_definition(
    seed: int,
    measure: str,
    weighted: bool,
    threshold: float,
    threads: int,
    memory: int,
    table: int,
    parts: int,
    spilled: bool,
) -> None:
    random = np.random.default_rng(seed)
    weighted = weighted and measure != "jaccard"
    documents = random_documents(random, int(random.integers(0, 90)), weighted=weighted)
    order = random.permutation(len(documents[0]) - 1)
    with tempfile.TemporaryFile() as file:
        found = found_stars(
            documents,
            order,
            measure=measure,
            threshold=threshold,
            threads=threads,
            memory=memory,
            table=table,
            parts=parts,
            file=file if spilled else None,
            copies=not weighted,
        )
    expected = stars(documents, order, measure=measure, threshold=threshold)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    measure=st.sampled_from(MEASURES),
    within=st.booleans(),
    threads=st.sampled_from([1, 3]),
    memory=st.sampled_from([1, 34_000, 1 << 30]),
)
def test_documents_that_are_kept_beforehand(
    seed: int, measure: str, within: bool, threads: int, memory: int
) -> None:
    random = np.random.default_rng(seed)
    weighted = measure == "weighted-jaccard" or (measure != "jaccard" and seed % 2 == 0)
    documents = random_documents(random, 60, weighted=weighted)
    order = random.permutation(60)
    options = {"measure": measure, "threshold": 0.6, "kept_first": 25, "within": within}
    found = found_stars(documents, order, threads=threads, memory=memory, **options)
    expected = stars(documents, order, **options)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    measure=st.sampled_from(MEASURES),
    threshold=st.sampled_from([0.3, 0.7, 0.9]),
    threads=st.sampled_from([1, 2, 8]),
    memory=st.sampled_from([1, 34_000, 1 << 30]),
    most=st.sampled_from([1, 50, 1 << 30]),
)
def test_all_pairs_are_those_of_the_pair_join(
    seed: int, measure: str, threshold: float, threads: int, memory: int, most: int
) -> None:
    random = np.random.default_rng(seed)
    weighted = measure == "weighted-jaccard" or (measure != "jaccard" and seed % 2 == 0)
    documents = random_documents(random, int(random.integers(0, 90)), weighted=weighted)
    count = len(documents[0]) - 1
    counts = DocumentCounts(len(documents[1]), 1 << 20)
    counts.see(documents, np.ones(count, np.bool_), threads=threads)
    join = StarJoin(
        stored(documents, 3, None),
        counts,
        measure=measure,
        threshold=threshold,
        features=len(documents[1]),
        memory=memory,
    )
    found = []
    places = np.arange(count)[::-1]
    while len(places):
        done, *pairs = join.pairs(places, search=True, insert=True, most=most, threads=threads)
        found.append(pairs)
        places = places[done:]
        if join.full:
            rest = places
            while len(rest):
                done, *pairs = join.pairs(
                    rest, search=True, insert=False, most=most, threads=threads
                )
                found.append(pairs)
                rest = rest[done:]
            join.clear()
    empty = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    a, b, similarity = (np.concatenate(column) for column in zip(empty, *found, strict=True))
    order = np.lexsort((b, a))
    expected = join_similar(*documents, measure=measure, threshold=threshold)
    # By inclusion, documents are looked up among later ones.
    looked_up = expected.a < expected.b
    np.testing.assert_array_equal(a[order], expected.a[looked_up])
    np.testing.assert_array_equal(b[order], expected.b[looked_up])
    np.testing.assert_array_equal(similarity[order], expected.similarity[looked_up])


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), threshold=st.sampled_from([0.3, 0.7, 0.9]))
def test_stars_of_given_pairs(seed: int, threshold: float) -> None:
    random = np.random.default_rng(seed)
    documents = random_documents(random, 70, weighted=False)
    order = random.permutation(70)
    order = order[np.diff(documents[0])[order] > 0]
    pairs = join_similar(*documents, measure="jaccard", threshold=threshold)
    copy_of = copies_in(documents, order)
    # One document of each content stands for its copies, not always the first of them.
    last = {int(first): place for place, first in enumerate(copy_of.tolist())}
    stands = np.isin(pairs.a, list(last.values())) & np.isin(pairs.b, list(last.values()))
    known = Decisions.none(copy_of)
    star_join.stars_of_pairs(
        order, pairs.a[stands], pairs.b[stands], pairs.similarity[stands], known
    )
    expected = stars(documents, order, measure="jaccard", threshold=threshold)
    np.testing.assert_array_equal(known.kept_for, expected[0])
    np.testing.assert_array_equal(known.similarity, expected[1])


def test_a_dense_family_is_scanned_by_its_bitmaps() -> None:
    """Thousands of sets just below the threshold: their bitmaps are read, not their postings."""
    random, count, threshold = np.random.default_rng(5), 1500, 0.62
    has = np.zeros((count, 500), np.int64)
    has[:, :100] = 1
    for row in has:
        row[random.integers(100, 500, size=45)] = 1
    sets = [
        np.sort(np.flatnonzero(row).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
        for row in has
    ]
    offsets = np.concatenate(([0], np.cumsum(has.sum(axis=1)))).astype(np.int64)
    found = found_stars(
        (offsets, np.concatenate(sets), None),
        np.arange(count),
        measure="jaccard",
        threshold=threshold,
        threads=2,
    )
    shared = has @ has.T
    sizes = np.diag(shared)
    similarity = shared / (sizes[:, None] + sizes[None, :] - shared)
    kept: list[int] = []
    for place in range(count):
        best = kept[int(np.argmax(similarity[place, kept]))] if kept else place
        if kept and similarity[place, best] >= threshold:
            assert (found[0][place], found[1][place]) == (best, similarity[place, best])
        else:
            assert found[0][place] == place
            kept.append(place)
    assert 0 < len(kept) < count


def test_bad_input_is_refused() -> None:
    documents = (np.array([0, 1], np.int64), np.array([5], np.uint64), None)
    features = StoredFeatures(weighted=False)
    features.add(documents)
    with pytest.raises(SettingError, match="weights"):
        features.add((*documents[:2], np.ones(1)))
    join = StarJoin(
        features, DocumentCounts(1, 1), measure="jaccard", threshold=0.5, features=1, memory=1
    )
    with pytest.raises(SettingError, match="not among the 1"):
        join.decide(np.array([1]), Decisions.none(np.zeros(1, np.int64)))
    with pytest.raises(SettingError, match="one entry for each document"):
        join.decide(np.array([0]), Decisions.none(np.zeros(2, np.int64)))
    with pytest.raises(SettingError, match="must not decrease"):
        features.add_from_file(0, np.array([2, 1], np.int64), hashes_at=0, weights_at=0)


def test_a_short_file_is_an_error() -> None:
    with tempfile.TemporaryFile() as file:
        features = StoredFeatures(weighted=False)
        features.add_from_file(file.fileno(), np.array([0, 4], np.int64), hashes_at=0, weights_at=0)
        join = StarJoin(
            features, DocumentCounts(1, 1), measure="jaccard", threshold=0.5, features=1, memory=1
        )
        known = Decisions.none(np.zeros(1, np.int64))
        with pytest.raises(RuntimeError, match="too short"):
            join.decide(np.array([0]), known)
        assert known.decision.tolist() == [OPEN]
