"""All pairs from the spool are those of the pair join, in order, whatever the memory."""

from __future__ import annotations

import numpy as np
import pytest

import neardup as nd
from neardup.collection.collected import Collected, collect
from neardup.collection.feature_store import FeatureStore
from neardup.collection.settings import DedupSettings
from neardup.collection.source import MemorySource, fingerprinter_of
from neardup.fingerprints.fingerprinter import Fingerprinter
from neardup.pairs import all_pairs
from neardup.pairs.all_pairs import PairSpool, estimated_pairs, find_all_pairs
from neardup.pairs.search import FoundPairs, find_by_features


def texts(seed: int, count: int) -> list[str]:
    random = np.random.default_rng(seed)
    cores = [random.integers(0, 300, size=60) for _ in range(5)]
    found = []
    for _ in range(count):
        words = cores[random.integers(5)].copy()
        edits = random.integers(0, 12)
        words[random.integers(0, 60, size=edits)] = random.integers(0, 300, size=edits)
        found.append(" ".join(f"w{word}" for word in words))
    return [*found, found[0], ""]


def collected(documents: list[str], settings: DedupSettings) -> tuple[Collected, Fingerprinter]:
    fingerprinter = fingerprinter_of(settings.scheme, settings.threads)
    source = MemorySource(documents, settings)
    return collect(source, fingerprinter, features=FeatureStore(1 << 20)), fingerprinter


def rows(spool: PairSpool) -> list[tuple[int, int, int, float]]:
    return [
        row
        for batch in spool.batches()
        for row in zip(
            batch.a.tolist(),
            batch.b.tolist(),
            batch.distance.tolist(),
            batch.similarity.tolist(),
            strict=True,
        )
    ]


def expected(found: FoundPairs, more: int = 0) -> list[tuple[int, int, int, float]]:
    return list(
        zip(
            found.a.tolist(),
            (found.b + more).tolist(),
            found.distance.tolist(),
            found.similarity.tolist(),
            strict=True,
        )
    )


@pytest.fixture(params=[48 << 20, 70_000], ids=["one index", "many indices"])
def work(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("neardup.collection.budget.LEAST_WORK", request.param)
    return int(request.param)


@pytest.mark.parametrize("weights", ["set", "count"])
@pytest.mark.parametrize("threads", [1, 3])
def test_one_collection(
    work: int, weights: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_pairs, "_AT_ONCE", 7)
    monkeypatch.setattr(all_pairs, "PAIRS_AT_ONCE", 100)
    settings = DedupSettings.of(threshold=0.5, weights=weights, threads=threads, memory="1KB")
    left, fingerprinter = collected(texts(1, 120), settings)
    spool = find_all_pairs(left, None, fingerprinter, settings, floor=0.3)
    lower = DedupSettings.of(threshold=0.3, weights=weights, candidates="exact", threads=1)
    found = find_by_features(left, None, fingerprinter, lower)
    assert len(spool) == len(found.a) > 500
    assert rows(spool) == expected(found)
    spool.close()


def test_two_collections(work: int) -> None:
    settings = DedupSettings.of(threshold=0.5, threads=2, memory="1KB")
    left, fingerprinter = collected(texts(2, 60), settings)
    right, _ = collected(texts(2, 50), settings)
    own = find_by_features(left, None, fingerprinter, settings)
    between = find_by_features(left, right, fingerprinter, settings)
    spool = find_all_pairs(left, right, fingerprinter, settings, floor=0.5, within=False)
    assert rows(spool) == expected(between, len(left))
    spool = find_all_pairs(left, right, fingerprinter, settings, floor=0.5)
    assert rows(spool) == sorted(expected(own) + expected(between, len(left)))


def test_the_estimate_is_near() -> None:
    settings = DedupSettings.of(threshold=0.3)
    left, fingerprinter = collected(texts(3, 400), settings)
    spool = find_all_pairs(left, None, fingerprinter, settings, floor=0.3)
    # All documents are in the sample.
    assert estimated_pairs(left, None, fingerprinter, settings, floor=0.3) == len(spool)
    all_pairs._SAMPLE, before = 100, all_pairs._SAMPLE
    try:
        about = estimated_pairs(left, None, fingerprinter, settings, floor=0.3)
    finally:
        all_pairs._SAMPLE = before
    assert 0.5 * len(spool) < about < 2 * len(spool)


def test_no_documents() -> None:
    settings = DedupSettings.of()
    left, fingerprinter = collected([""], settings)
    spool = find_all_pairs(left, None, fingerprinter, settings, floor=0.5)
    assert len(spool) == 0
    assert rows(spool) == []
    assert estimated_pairs(left, None, fingerprinter, settings, floor=0.5) == 0


def test_a_full_disk_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(all_pairs._Run, "add", full)
    settings = DedupSettings.of(threshold=0.3)
    left, fingerprinter = collected(texts(4, 30), settings)
    with pytest.raises(nd.NeardupError, match="cannot take all pairs: No space left"):
        find_all_pairs(left, None, fingerprinter, settings, floor=0.3)
