"""A run takes the memory it was given and a constant, however many pairs there are."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from tests.deduplication.planted import planted_texts
from tests.torture.commands import Process

import neardup as nd
from neardup.collection import budget
from neardup.collection.budget import Budget
from neardup.errors import InputError, NeardupError
from neardup.kernels.hamming_join import TooManyPairsError
from neardup.pairs.by_features import exact_join, verify
from neardup.pairs.by_fingerprints import passes

# What docs/how-it-works/reliability.md promises on top of --memory.
CONSTANT = 400_000_000


def excerpts(count, share, seed=1):
    """Excerpts of one text, each with about so much of it: all pairs are about equally similar.

    Every feature is in most of the documents, so no prefix or band tells any two of them apart.
    """
    chance = random.Random(seed)
    words = [f"w{chance.randrange(5000)}" for _ in range(160)]
    sentences = [" ".join(words[at : at + 8]) for at in range(0, 160, 8)]
    return [". ".join(s for s in sentences if chance.random() < share) for _ in range(count)]


@pytest.fixture(scope="module")
def near_threshold(tmp_path_factory):
    """4,000 documents whose 8 million pairs have a Jaccard similarity of about 0.6."""
    path = tmp_path_factory.mktemp("adversarial") / "excerpts.jsonl"
    with path.open("w") as file:
        for number, text in enumerate(excerpts(4000, share=0.8)):
            file.write(json.dumps({"id": number, "text": text}) + "\n")
    return path


def peak_of(*arguments):
    """Run a command: its exit code, what it prints on standard error, its peak memory in bytes."""
    process = Process(*map(str, arguments), cwd=Path.cwd())
    ran = process.wait()
    return ran.code, ran.err.decode(), process.peak


@pytest.mark.parametrize(
    "chosen",
    [
        ("--threshold", "0.9"),
        ("--threshold", "0.9", "--candidates", "bands:20x8", "--bits", "160"),
        ("--threshold", "0.9", "--candidates", "all"),
        ("--threshold", "0.9", "--weights", "count", "--candidates", "bands:20x8", "--bits", "160"),
        ("--similarity", "hamming", "--threshold", "4"),
    ],
    ids=" ".join,
)
def test_candidates_just_below_the_threshold(near_threshold, tmp_path, chosen):
    memory = 64_000_000
    code, said, peak = peak_of(
        "dedup", near_threshold, "-o", tmp_path / "out", "--memory", memory, *chosen
    )
    assert code == 0, said
    assert peak < memory + CONSTANT


@pytest.mark.parametrize(
    "chosen",
    [
        ("--threshold", "0.5"),
        ("--threshold", "0.5", "--candidates", "bands:20x8", "--bits", "160"),
        ("--similarity", "hamming", "--threshold", "40"),
        ("--threshold", "0.5", "--against", "SAME", "--within"),
    ],
    ids=" ".join,
)
def test_more_pairs_than_fit_are_refused_in_a_sentence(near_threshold, tmp_path, chosen):
    memory = 64_000_000
    arguments = [str(near_threshold) if one == "SAME" else one for one in chosen]
    arguments += ["--cluster", "components"]  # which need all pairs at once
    code, said, peak = peak_of(
        "dedup", near_threshold, "-o", tmp_path / "out", "--memory", memory, *arguments
    )
    assert code == 1
    assert "pairs are of" in said
    assert "--memory" in said
    assert "Traceback" not in said
    assert peak < memory + CONSTANT
    assert not list(tmp_path.iterdir())


def test_pairs_of_fingerprints_keep_within_the_memory(near_threshold, tmp_path):
    fingerprints, memory = tmp_path / "f.parquet", 64_000_000
    assert peak_of("fingerprint", near_threshold, "-o", fingerprints)[0] == 0
    code, said, peak = peak_of(
        *("pairs", fingerprints, "-o", tmp_path / "p.parquet"),
        *("--max-distance", "64", "--memory", memory),
    )
    assert code == 0, said
    assert peak < memory + CONSTANT


def test_a_sweep_and_tune_keep_within_the_memory(near_threshold, tmp_path):
    memory = 64_000_000
    code, said, peak = peak_of(
        *("sweep", near_threshold, "--bands", "4", "--band-bits", "4", "--threshold", "0.9"),
        *("--memory", memory, "-o", tmp_path / "sweep"),
    )
    assert code == 0, said
    assert peak < memory + CONSTANT
    code, said, peak = peak_of(
        "tune", near_threshold, "--threshold", "0.5", "--features", "word:3", "--memory", memory
    )
    assert code == 0, said
    assert peak < memory + CONSTANT


def little_room(monkeypatch):
    """So little of everything that all is done in many small steps."""
    monkeypatch.setattr(budget, "LEAST_WORK", 1 << 16)
    monkeypatch.setattr(exact_join, "_LEAST_GROUP", 1000)
    monkeypatch.setattr(passes, "_FEWEST_ROWS", 1)
    monkeypatch.setattr(passes, "PAIRS_AT_ONCE", 100)


@pytest.mark.parametrize("candidates", ["auto", "exact", "bands:8x8", "all"])
@pytest.mark.parametrize("weights", ["set", "count"])
def test_little_room_changes_nothing(candidates, weights, monkeypatch):
    texts = excerpts(120, 0.8) + planted_texts(100, changed=6)
    chosen = {"threshold": 0.6, "candidates": candidates, "weights": weights, "pairs": "all"}
    whole = nd.dedup(texts, **chosen)
    old = nd.dedup(texts[::2], against=texts[1::2], **chosen)
    assert whole.summary["pairs"] > 1000
    little_room(monkeypatch)
    little = nd.dedup(texts, memory="200KB", **chosen)
    assert little.pairs.equals(whole.pairs)
    assert little.clusters.equals(whole.clusters)
    for name in ("candidates", "false"):
        assert candidates in ("auto", "exact") or little.summary[name] == whole.summary[name]
    assert (little.found.false_by_distance == whole.found.false_by_distance).all()
    little_old = nd.dedup(texts[::2], against=texts[1::2], memory="200KB", **chosen)
    assert little_old.pairs.equals(old.pairs)


def test_verification_takes_few_documents_at_a_time(monkeypatch):
    taken = []
    take = verify.Searched.bytes_of

    def bytes_of(self, some):
        taken.append(len(some))
        return take(self, some)

    monkeypatch.setattr(verify.Searched, "bytes_of", bytes_of)
    little_room(monkeypatch)
    texts = excerpts(60, 0.8)
    chosen = {"candidates": "all", "threshold": 0.6, "pairs": "all"}
    found = nd.dedup(texts, memory="200KB", **chosen)
    assert found.pairs.equals(nd.dedup(texts, **chosen).pairs)
    assert min(taken) < 10 < max(taken)


@pytest.mark.parametrize("candidates", ["exact", "bands:8x8", "all"])
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_limit_of_pairs_is_exact_in_any_number_of_threads(candidates, threads, monkeypatch):
    texts = excerpts(120, 0.8)
    chosen = {"candidates": candidates, "threshold": 0.6, "threads": threads}
    chosen["cluster"] = "components"  # which need all pairs at once
    count = nd.dedup(texts, **chosen).found.accepted
    assert count > 2000
    monkeypatch.setattr(Budget, "pairs", lambda self, used: count)
    assert nd.dedup(texts, **chosen).found.accepted == count
    monkeypatch.setattr(Budget, "pairs", lambda self, used: count - 1)
    with pytest.raises(NeardupError, match=f"more than {count - 1:,} pairs"):
        nd.dedup(texts, **chosen)


def test_more_documents_than_can_be_told_apart(monkeypatch):
    monkeypatch.setattr(budget, "LEAST_BOOKKEEPING", 1000)
    with pytest.raises(NeardupError, match=r"documents take .*--memory"):
        nd.dedup(planted_texts(2000), memory="10KB")


def test_a_sweep_refuses_what_it_cannot_hold():
    texts = planted_texts(20, words=30_000, share=0)
    with pytest.raises(InputError, match="sample of the input, or give more memory"):
        nd.sweep(texts * 4, bands=2, band_bits=8, memory="1MB")


def test_tune_looks_at_fewer_documents_where_they_are_long():
    texts = planted_texts(50, words=40_000, share=0)
    tuning = nd.tune(texts, threshold=0.7, features="word:3", memory="1MB")
    assert 0 < tuning.sampled < 50
    assert nd.tune(texts, threshold=0.7, features="word:3").sampled == 50


@pytest.mark.parametrize("most", [1, 7, 1000])
def test_pairs_in_batches_are_the_pairs(most):
    texts = excerpts(40, 0.8) + planted_texts(30) * 3
    for result in (
        nd.dedup(texts, threshold=0.6),
        nd.dedup(texts, threshold=0.6, pairs="all"),
        nd.dedup(texts, against=texts[::3]),
        nd.dedup(texts, against=texts[::3], pairs="all"),
    ):
        batches = list(result.pair_batches(most))
        rows = [row for batch in batches for row in batch.to_pylist()]
        assert rows == result.pairs.to_pylist()
        assert (len(batches) > 2) == (most < 1000)
    for result in (nd.dedup([]), nd.dedup(["a b c"]), nd.dedup(["a b"], against=["c d"])):
        assert [len(batch) for batch in result.pair_batches(most)] == [0]


@pytest.mark.parametrize("plan", ["auto", "blocks:6", "bands:4x8", "all", "probe:2", "rotate:4"])
def test_a_search_within_the_memory_finds_the_same(plan):
    rows = np.random.default_rng(1).integers(0, 40, 1000).astype(np.uint64)
    distance = 2 if plan == "probe:2" else 3
    whole = nd.find_pairs(rows, max_distance=distance, candidates=plan)
    assert len(whole) > 30_000
    for memory in ("2MB", "50MB"):
        within = nd.find_pairs(rows, max_distance=distance, candidates=plan, memory=memory)
        assert within.equals(whole)


def test_a_plan_that_needs_all_says_what_does_not_fit():
    rows = np.arange(3000, dtype=np.uint64)
    with pytest.raises(NeardupError, match=r"more than .* pairs"):
        nd.find_pairs(rows, candidates="rotate:64:500", memory="3MB")


def test_the_limit_is_an_error_of_its_own():
    assert issubclass(TooManyPairsError, Exception)
    assert not issubclass(TooManyPairsError, NeardupError)
