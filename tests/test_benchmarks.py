"""The benchmarks page matches the results, and the corpora never change."""

import hashlib
import json
import sys
import time
from collections import Counter
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks import (
    child,
    corpora,
    dedup,
    dedup_contests,
    dedup_corpora,
    dedup_once,
    dedup_pairs,
    dedup_peers,
    dedup_quality,
    dedup_real,
    distance,
    end_to_end,
    exact,
    fingerprint,
    generated,
    index,
    join,
    passes,
    report,
    startup,
    strings,
    sweep,
    tune,
    weighted,
)
from benchmarks.corpora import Corpus
from benchmarks.result import RESULTS, Result
from benchmarks.targets import targets

linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="memory is read from /proc"
)

# The first 200 kB of each language. A change makes every published number incomparable.
FIRST_DOCUMENTS = {
    "English": "39904fc4b7ac501d4fd3920576dec741062ca2db6582a2a8f655f762d57af799",
    "Russian": "d9f928988a58b4df67bedf339b42a3a5d2a827eddade5b94a3862ba8a3c7fea3",
    "Chinese": "fb809b26048af41700eeeb3a310224f91ff1e753e915564b31496a72fb9ecb58",
}

TOOLS = ("neardup", dedup_once.TWO_THREADS, dedup_once.BEFORE, "rensa")


def test_page_is_made_of_the_committed_results():
    results = {name: Result.load(name, RESULTS) for name in report.BENCHMARKS}
    assert report.PAGE.read_text(encoding="utf-8") == report.page(results)


@pytest.mark.parametrize("name", corpora.GENERATED)
def test_generated_text_is_the_same_everywhere(name):
    texts = generated.texts(generated.language(name), 0.2).to_pylist()
    assert hashlib.sha256("\0".join(texts).encode()).hexdigest() == FIRST_DOCUMENTS[name]


def test_less_generated_text_is_a_prefix_of_more():
    less, more = (generated.texts(generated.language("Russian"), size) for size in (0.05, 1.5))
    assert more[: len(less)].equals(less)
    assert sum(len(text.encode()) for text in less.to_pylist()) >= 50_000


@pytest.mark.parametrize("name", corpora.GENERATED)
def test_generated_documents_have_the_size_of_real_ones(name):
    sizes = [
        len(text.encode()) for text in generated.texts(generated.language(name), 1).to_pylist()
    ]
    assert 3500 < np.mean(sizes) < 4300


def test_first_documents_reach_the_size_asked_for():
    corpus = _corpus(["four"] * 1000)
    assert len(corpus.first(0.002).texts) == 500
    assert len(corpus.first(1).texts) == 1000


def test_copies_of_a_corpus_share_no_id_and_no_text():
    big = end_to_end.repeated(_corpus([f"text {row}" for row in range(100)]), 0.005)
    assert big.megabytes >= 0.005
    for column in (big.ids, big.texts):
        assert len(column.unique()) == len(column)


def test_unrelated_pairs_leave_out_known_ones_and_a_document_with_itself(monkeypatch):
    corpus = _corpus(["a", "b", "c"])
    known = pa.table({"a": ["id-0", "id-9"], "b": ["id-2", "id-0"]})
    monkeypatch.setattr(corpora, "known_pairs", lambda _: known)
    a, b = distance.unrelated_pairs(corpus, 1000)
    assert {frozenset(pair) for pair in zip(a.tolist(), b.tolist(), strict=True)} == {
        frozenset({0, 1}),
        frozenset({1, 2}),
    }


def test_hamming_counts_bits_over_all_words_of_a_row():
    a = np.array([[0, 0], [1, 2**63]], dtype=np.uint64)
    b = np.array([[0, 0], [2, 0]], dtype=np.uint64)
    assert distance.hamming(a, b).tolist() == [0, 3]


def test_targets_are_met_by_a_fast_run_and_not_by_a_slow_one():
    assert all(target.met for target in targets(_results(our_rate=1000.0)))
    slow = [target for target in targets(_results(our_rate=100.0)) if target.met is False]
    assert "≥ 400 MB/s" in {target.wanted for target in slow}
    assert {"≥ 13 × gaoya", "≥ 10 × gaoya"} <= {target.wanted for target in slow}
    assert "with two threads, 1/1.7 of the wall time" in {target.wanted for target in slow}
    assert "≤ 1/3 of the fastest peer" in {target.wanted for target in slow}


def test_target_against_an_absent_peer_is_neither_met_nor_missed():
    results = _results(our_rate=1000.0)
    measured = results[fingerprint.BENCHMARK]
    rows = [row for row in measured.rows if row["name"] != "gaoya"]
    results[fingerprint.BENCHMARK] = replace(measured, rows=rows)
    open_ones = [target for target in targets(results) if target.met is None]
    contests = [f"≥ {least} × gaoya" for least in (13, 10, 12)]
    assert sorted(target.wanted for target in open_ones) == sorted(contests * len(corpora.NAMES))
    assert "not measured" in report.page(results)


def test_page_says_where_a_peer_is_ahead():
    assert "Nowhere in this run." in report.page(_results(our_rate=1000.0))
    page = report.page(_results(our_rate=40.0))
    assert "- English, `word:3/set/64`: gaoya does 50.0 MB/s, neardup 40.0" in page
    assert "0.8 ×" in page
    assert "**not met**" in page


def test_results_are_read_back_as_they_were_written(tmp_path):
    written = _results(our_rate=500.0)[fingerprint.BENCHMARK]
    written.save(tmp_path)
    assert Result.load(fingerprint.BENCHMARK, tmp_path) == written


def test_missing_result_says_what_to_run(tmp_path):
    with pytest.raises(SystemExit, match=r"run python -m benchmarks\.startup first"):
        Result.load("startup", tmp_path)


@linux_only
def test_child_reports_its_own_peak_of_memory():
    hold = "import time; held = bytearray(b'x' * {}); time.sleep(0.1)"
    small, large = (
        child.run([sys.executable, "-c", hold.format(size)]).peak_megabytes
        for size in (1, 100_000_000)
    )
    assert 80 < large - small < 220
    assert small < 60


def test_failing_child_ends_the_benchmark_with_its_words():
    with pytest.raises(SystemExit, match="ended with 3: no such column"):
        child.run(
            [
                sys.executable,
                "-c",
                "import sys; print('no such column', file=sys.stderr); sys.exit(3)",
            ]
        )


@linux_only
@pytest.mark.parametrize(
    ("limits", "does", "stopped_at"),
    [
        (child.Limits(0.2, 10_000), "", "0.2 seconds"),
        (child.Limits(60, 300), "held = bytearray(b'x' * 400_000_000)", "0.3 GB"),
        (
            child.Limits(60, 300),
            "import subprocess, sys; subprocess.run([sys.executable, '-c',"
            "'import time; held = bytearray(400_000_000 * b\"x\"); time.sleep(60)'])",
            "0.3 GB",
        ),
    ],
    ids=["time", "memory", "memory of its child"],
)
def test_child_that_reaches_a_limit_is_stopped_and_says_which(limits, does, stopped_at):
    began = time.monotonic()
    run = child.run([sys.executable, "-c", f"import time; {does}\ntime.sleep(60)"], limits)
    assert run.stopped_at == stopped_at
    assert time.monotonic() - began < 30


@linux_only
def test_children_of_a_stopped_child_are_stopped_too(tmp_path):
    alive = tmp_path / "alive"
    write = f"import time; time.sleep(1); open({str(alive)!r}, 'w')"
    start = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {write!r}])"
    assert child.run([sys.executable, "-c", start], child.Limits(0.3, 10_000)).stopped_at
    time.sleep(1.5)
    assert not alive.exists()


@linux_only
def test_child_within_its_limits_is_not_stopped():
    run = child.run([sys.executable, "-c", ""], child.Limits(60, 10_000))
    assert run.stopped_at is None
    assert run.wall < 60


def test_limits_are_said_in_words():
    assert dedup_once.LIMITS.reached(599, 19_999) is None
    assert dedup_once.LIMITS.reached(600, 1) == "10 minutes"
    assert dedup_once.LIMITS.reached(1, 20_000) == "20 GB"


def _shingles(path: Path) -> list[set[tuple[str, ...]]]:
    """The runs of three words of each document in a file."""
    texts = [json.loads(line)["text"].split() for line in path.read_text("utf-8").splitlines()]
    return [set(zip(words, words[1:], words[2:], strict=False)) for words in texts]


def _jaccard(sets: list[set[tuple[str, ...]]], a: int, b: int) -> float:
    return len(sets[a] & sets[b]) / len(sets[a] | sets[b])


def test_planted_pairs_are_as_similar_as_their_texts_say(tmp_path):
    collection = dedup_corpora.planted(200, 60, tmp_path / "documents.jsonl")
    lines = collection.path.read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"].split() for line in lines]
    sets = _shingles(collection.path)
    true = [_jaccard(sets, a, b) for a, b in collection.planted.tolist()]
    assert [json.loads(line)["id"] for line in lines] == [str(row) for row in range(200)]
    assert len(true) == 20
    assert collection.jaccard(collection.planted).tolist() == true
    for a, b in collection.planted.tolist():
        assert 1 <= sum(x != y for x, y in zip(texts[a], texts[b], strict=True)) <= 3


def test_families_lie_just_below_the_threshold(tmp_path):
    sets = _shingles(dedup_corpora.just_below(80, tmp_path / "documents.jsonl").path)
    found = [_jaccard(sets, a, b) for a, b in combinations(range(80), 2)]
    within = [value for value in found if value > 0.1]
    assert len(within) == dedup_corpora.FAMILIES * 20 * 19 / 2
    assert 0.66 < min(within) < max(within) < 0.69


def test_form_letters_lie_below_the_threshold_and_have_no_rare_words(tmp_path):
    sets = _shingles(dedup_corpora.letters(400, tmp_path / "documents.jsonl").path)
    found = [_jaccard(sets, a, b) for a, b in combinations(range(80), 2)]
    within = [value for value in found if value > 0.1]
    assert len(within) >= dedup_corpora.FAMILIES * 20 * 19 / 2
    assert 0.6 < min(within) < np.median(within) < 0.63 < max(within) < 0.7
    counts = Counter(shingle for one in sets for shingle in one)
    assert sum(count == 1 for count in counts.values()) < 0.05 * len(counts)


def test_pages_of_a_template_differ_by_their_bodies(tmp_path):
    sets = _shingles(dedup_corpora.template(50, tmp_path / "documents.jsonl").path)
    found = [_jaccard(sets, a, b) for a, b in combinations(range(50), 2)]
    assert 0.66 < min(found) < max(found) < 0.69


def test_giant_clusters_are_of_identical_documents(tmp_path, monkeypatch):
    monkeypatch.setattr(dedup_corpora, "IDENTICAL", 30)
    monkeypatch.setattr(dedup_corpora, "ALIKE_AT_THE_TOP", 20)
    collection = dedup_corpora.giant(tmp_path / "documents.jsonl")
    assert collection.about.startswith("30 identical documents, and 20 that")
    sets = _shingles(collection.path)
    kinds, sizes = np.unique(collection.words, axis=0, return_counts=True)
    assert (len(sets), len(kinds), sizes.max()) == (50, 21, 30)
    assert (
        max(_jaccard(sets, a, b) for a, b in combinations(range(50), 2) if sets[a] != sets[b]) < 0.4
    )


def test_recall_is_of_planted_pairs_with_a_removed_document(tmp_path):
    collection = dedup_corpora.planted(200, 60, tmp_path / "documents.jsonl")
    removed = np.zeros(200, np.bool_)
    assert dedup_once.recall_of(removed, collection, 0.7) == 0
    removed[collection.planted[:10, 0]] = removed[collection.planted[10:15, 1]] = True
    assert dedup_once.recall_of(removed, collection, 0.7) == 15 / 20


def test_precision_is_of_reported_pairs(tmp_path, monkeypatch):
    collection = dedup_corpora.planted(200, 60, tmp_path / "documents.jsonl")
    unrelated = np.array([[0, 0]]) + np.setdiff1d(np.arange(200), collection.planted)[:2]
    reported = np.concatenate((collection.planted[:15], unrelated))
    assert dedup_once.precision_of(reported, collection, 0.7) == 15 / 16
    assert dedup_once.precision_of(reported[:0], collection, 0.7) is None
    monkeypatch.setattr(dedup_once, "MOST_JUDGED", 8)
    assert dedup_once.precision_of(reported, collection, 0.7) in (7 / 8, 1)


def test_pairs_with_kept_documents_alone():
    alike = {0: "a", 1: "b", 2: "a", 3: "ab", 4: "b"}
    kept: dict[int, str] = {}
    pairs = dedup_peers.pairs_with_kept(
        alike.values(),
        lambda text: [row for row, other in kept.items() if set(text) & set(other)],
        kept.__setitem__,
    )
    assert list(pairs) == [(0, 2), (0, 3), (1, 4)]
    assert kept == {0: "a", 1: "b"}


@linux_only
def test_dedup_once_says_what_neardup_removed(tmp_path):
    collection = dedup_corpora.planted(5000, 60, tmp_path / "documents.jsonl")
    run = dedup_once.once("neardup", collection, 0.7)
    assert (run.removed, run.pairs, run.recall, run.precision) == (500, 500, 1.0, 1.0)
    assert run.in_clusters == 1000
    assert 0 < run.after_features_seconds < run.wall_seconds
    assert list(tmp_path.iterdir()) == [collection.path]


@linux_only
def test_dedup_once_reports_a_tool_that_was_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(dedup_once, "LIMITS", child.Limits(0.05, 10_000))
    run = dedup_once.once("neardup", dedup_corpora.planted(200, 60, tmp_path / "documents"), 0.7)
    assert run.stopped_at == "0.05 seconds"
    assert (run.removed, run.pairs, run.recall, run.precision) == (None,) * 4


def test_source_files_are_texts_of_this_machine_and_say_no_path(tmp_path, monkeypatch):
    home = tmp_path / "home" / "3.9"
    lib = home / "lib" / "python3.9" / "site-packages"
    lib.mkdir(parents=True)
    (home / "include").mkdir()
    (home / "include" / "a.h").write_text("int a;")
    (lib / "b.py").write_text("b = 'é'", encoding="utf-8")
    (lib / "empty.py").write_text("")
    (lib / "latin.txt").write_bytes(b"\xe9")
    (lib / "image.png").write_bytes(b"png")
    (lib / "large.json").write_bytes(b" " * dedup_real.SMALLER_THAN)
    (lib / "link.py").symlink_to(lib / "b.py")
    for prefix in ("base_prefix", "prefix"):
        monkeypatch.setattr(sys, prefix, str(home))
    assert dedup_real.installations() == [home]
    collection = dedup_real.source_files(tmp_path / "documents.jsonl")
    rows = [json.loads(line) for line in collection.path.read_text("utf-8").splitlines()]
    assert rows == [{"id": "0", "text": "b = 'é'"}, {"id": "1", "text": "int a;"}]
    assert collection.documents == 2
    assert "1 Python installations (Python 3.9)" in collection.about
    assert str(tmp_path) not in collection.about


def test_rust_documentation_is_left_out_where_it_is_absent(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(dedup_real, "RUSTDOC", tmp_path / "absent.parquet")
    assert dedup_real.rustdoc(tmp_path / "documents.jsonl") is None
    assert "is absent: its contests are left out" in capsys.readouterr().err


def test_rust_documentation_becomes_json_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(dedup_real, "RUSTDOC", tmp_path / "docs.parquet")
    pq.write_table(pa.table({"id": ["x", "y"], "text": ["<p>", "ö"]}), dedup_real.RUSTDOC)
    collection = dedup_real.rustdoc(tmp_path / "documents.jsonl")
    assert collection.documents == 2
    lines = collection.path.read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": "0", "text": "<p>"},
        {"id": "1", "text": "ö"},
    ]


def test_contests_have_names_of_their_own():
    for names in zip(*((one.key, one.name) for one in dedup_contests.CONTESTS), strict=True):
        assert len(set(names)) == len(dedup_contests.CONTESTS)


def test_rows_of_other_contests_and_tools_are_kept():
    usual, million = dedup_contests.USUAL.name, dedup_contests.MILLION.name
    stored = [
        {"task": million, "tool": "neardup", "cpu_seconds": 1},
        {"task": usual, "tool": "text-dedup", "cpu_seconds": 2},
        {"task": usual, "tool": "neardup", "cpu_seconds": 3},
        {"task": "a contest of the past", "tool": "neardup", "cpu_seconds": 4},
    ]
    measured = [{"task": usual, "tool": "neardup", "cpu_seconds": 5}]
    assert dedup.merged(stored, measured) == [stored[1], measured[0], stored[0]]


def test_one_contest_is_measured_and_merged_into_the_result(tmp_path, monkeypatch):
    versions = {"neardup": "0", **dict.fromkeys(dedup_peers.PACKAGES, "1")}
    monkeypatch.setattr(dedup, "package_versions", lambda _: versions)
    monkeypatch.setattr(dedup, "_is_here", lambda tool: tool == "neardup")
    monkeypatch.setattr(dedup, "once", lambda *_: dedup_once.Once(1.5, 1.6, 99.0, "20 GB"))
    monkeypatch.setattr(dedup_corpora, "IDENTICAL", 30)
    monkeypatch.setattr(dedup_corpora, "ALIKE_AT_THE_TOP", 20)
    stored = replace(_results(our_rate=1000.0)["dedup"], versions=versions)
    stored.save(tmp_path)
    dedup.main(["--only", "giant", "--rounds", "1", "--out", str(tmp_path)])
    result = Result.load("dedup", tmp_path)
    giant = result.row(task=dedup_contests.GIANT.name)
    assert (giant["documents"], giant["stopped_at"], giant["cpu_seconds"]) == (50, "20 GB", 1.5)
    assert [row for row in result.rows if row["task"] != giant["task"]] == [
        row for row in stored.rows if row["task"] != giant["task"]
    ]
    assert "| **neardup**: stopped at 20 GB | 1.50 | 1.60 | 99 |" in dedup.section(result)
    missed = {target.measured for target in dedup.targets(result) if target.met is False}
    assert missed == {"stopped at 20 GB"}
    replace(stored, versions={**versions, "gaoya": "0.9"}).save(tmp_path)
    with pytest.raises(SystemExit, match=r"measured with gaoya 0\.9 instead of 1"):
        dedup.main(["--only", "giant", "--out", str(tmp_path)])


def test_contests_that_were_not_measured_are_neither_met_nor_missed():
    result = _results(our_rate=1000.0)["dedup"]
    rows = [row for row in result.rows if row["task"] == dedup_contests.USUAL.name]
    less = replace(result, rows=rows)
    assert {target.met for target in dedup.targets(less)} == {True, None}
    assert dedup_contests.MILLION.name not in dedup.section(less)


def test_stars_of_copies_stand_for_all_their_pairs():
    ids = pa.chunked_array([["p", "q", "r", "s", "t"]])
    pairs = pa.table({"a": ["p", "p", "s"], "b": ["q", "r", "r"], "similarity": [1.0, 0.9, 1.0]})
    keys, similarity = dedup_pairs.every_pair(ids, pairs)
    found = {
        (key >> 32, key & 0xFF): value for key, value in zip(keys.tolist(), similarity, strict=True)
    }
    near = dict.fromkeys([(0, 2), (0, 3), (1, 2), (1, 3)], 0.9)
    assert found == {(0, 1): 1.0, (2, 3): 1.0, **near}


def _corpus(texts: list[str]) -> Corpus:
    ids = pa.array([f"id-{row}" for row in range(len(texts))], pa.large_string())
    return Corpus("English", "a test", ids, pa.array(texts, pa.large_string()))


def _results(our_rate: float) -> dict[str, Result]:
    speeds = []
    for corpus in corpora.NAMES:
        speeds += [_speed(corpus, task, "neardup", our_rate) for task in fingerprint.OURS]
        speeds.append(_speed(corpus, fingerprint.WORDS, "neardup, avx2", our_rate))
        speeds.append(_speed(corpus, fingerprint.WORDS, "gaoya", 50.0))
        speeds.append(_speed(corpus, fingerprint.WORDS, "simhash", 5.0))
        speeds.append(_speed(corpus, fingerprint.CHARACTERS, "gaoya", 20.0))
    described = [{"name": n, "source": n, "documents": 9, "megabytes": 2.0} for n in corpora.NAMES]
    rows = {
        "fingerprint": ({"rounds": 1, "corpora": described}, speeds),
        "passes": (
            {"rounds": 1, "corpora": described},
            [
                {"corpus": corpus, "task": task, "isa": isa, "pass": name, "ticks_per_byte": 0.5}
                for corpus in corpora.NAMES
                for task in passes.TASKS
                for isa in ("portable", "avx512")
                for name in ("tokenize", "units")
            ],
        ),
        "distance": (
            {"corpora": described[:1]},
            [
                {
                    "task": fingerprint.WORDS,
                    "pairs": 9,
                    "mean": 31.7,
                    "variance": 16.3,
                    "smallest": 3,
                }
            ],
        ),
        "weighted": (
            {"rounds": 1, "documents": 9},
            [
                {
                    "task": task,
                    "name": name,
                    "cpu_seconds": 0.1,
                    "million_features_per_second": our_rate / 10,
                }
                for task in (weighted.TERMS, weighted.TFIDF)
                for name in ("neardup", "neardup, the kernel alone")
            ],
        ),
        "strings": ({"rounds": 1, "corpora": {}, "slow_megabytes": 1.0}, _strings(our_rate)),
        "join": ({"rounds": 1}, _searches(our_rate)),
        "index": ({"rounds": 1}, _indices(our_rate)),
        "dedup": ({"rounds": 1}, _dedups(our_rate)),
        "dedup_quality": ({}, _qualities()),
        "sweep": ({"settings": 10, "threshold": 0.9}, _sweeps(our_rate)),
        "exact": ({"threshold": 0.8}, _exact_joins()),
        "tune": ({"recall": 0.95, "threshold": 0.8}, [_foreseen("exact"), _foreseen("bands:9x9")]),
        "end_to_end": ({"threads": 2}, [_run("kernel", 900.0), _run("a single row group", 400.0)]),
        "startup": (
            {"rounds": 1},
            [
                _wait(startup.IMPORT, 20.0),
                _wait(startup.VERSION, 35.0),
                _wait(startup.HELP, 200.0),
                _wait(startup.SMALL, 200.0),
            ],
        ),
    }
    results = {
        name: Result.of(name, [], {"neardup": "0"}, conditions, measured)
        for name, (conditions, measured) in rows.items()
    }
    return {
        name: replace(result, machine={**result.machine, "isa": "avx512"})
        for name, result in results.items()
    }


def _wait(name: str, milliseconds: float) -> dict[str, object]:
    cpu_seconds = milliseconds / 1e3
    return {"name": name, "milliseconds": milliseconds, "ratio": 2.0, "cpu_seconds": cpu_seconds}


def _speed(corpus: str, task: str, name: str, rate: float) -> dict[str, object]:
    return {
        "corpus": corpus,
        "task": task,
        "name": name,
        "use": "as it is",
        "documents": 9,
        "megabytes": 2.0,
        "cpu_seconds": 2.0 / rate,
        "wall_seconds": 2.0 / rate,
        "megabytes_per_second": rate,
    }


def _strings(our_rate: float) -> list[dict[str, object]]:
    return [
        {
            "task": "word:3/md5",
            "corpus": strings.ENGLISH,
            "name": name,
            "megabytes": 2.0,
            "cpu_seconds": 2.0 / rate,
            "megabytes_per_second": rate,
        }
        for name, rate in ((strings.OURS, our_rate), (strings.TWIN, 20.0))
    ]


def _searches(our_rate: float) -> list[dict[str, object]]:
    every = dict.fromkeys([*join.CONTEST, *join.SKEW, *join.THREADS])
    return [
        {
            **asdict(search),
            "cpu_seconds": search.n / (our_rate if search.tool == "neardup" else 50.0) / 1e6,
            "wall_seconds": search.n / our_rate / search.threads / 1e6,
            "pairs": 9,
            "bytes_each": 40.0,
        }
        for search in every
    ]


def _indices(our_rate: float) -> list[dict[str, object]]:
    return [
        {
            **asdict(run),
            "adds_per_second": our_rate * 10_000,
            "adds_per_wall_second": our_rate * 10_000,
            "queries_per_second": our_rate * 10_000,
            "p50_microseconds": 500 / our_rate,
            "p99_microseconds": 500 / our_rate,
            "bytes_each": 60.0,
            "own_bytes_each": 60.0,
            "open_seconds": 0.01,
            "disk_bytes_each": 150.0,
        }
        for run in index.CONTEST
    ]


def _dedups(our_rate: float) -> list[dict[str, object]]:
    measured = {
        "about": "Some documents.",
        "peak_megabytes": 290.0,
        "stopped_at": None,
        "pairs": 199_999,
        "recall": 1.0,
        "precision": 1.0,
        "in_clusters": 200_000,
        "after_features_seconds": 1.0,
        "date": "2026-01-01",
        "commit": None,
    }
    sizes = {contest: 10 ** (4 + power) for power, contest in enumerate(dedup_contests.GROWTH)}
    return [
        {
            **measured,
            "task": contest.name,
            "tool": tool,
            "documents": documents,
            "file_bytes": 9 * documents,
            "removed": contest.goal.removed,
            "cpu_seconds": documents / 1000 / (our_rate if tool == "neardup" else 50.0),
            "wall_seconds": 200 / our_rate if tool == dedup_once.TWO_THREADS else 2.0,
        }
        for contest in dedup_contests.CONTESTS
        for documents in [sizes.get(contest, 60_000)]
        for tool in TOOLS
    ]


def _qualities() -> list[dict[str, object]]:
    truths = [
        {
            "kind": dedup_quality.TRUTH,
            "collection": collection.name,
            "threshold": threshold,
            "memory": memory,
            "plan": "exact",
            "seconds": 1.0,
            "true_pairs": 9,
            "recall": 1.0,
            "precision": 1.0,
        }
        for collection in dedup_quality.EXHAUSTIVE
        for threshold in collection.thresholds
        for memory in (dedup_quality.DEFAULT, dedup_quality.LITTLE)
    ]
    labels = [
        {
            "kind": dedup_quality.LABELS,
            "collection": collection.name,
            "documents": 9,
            "tool": tool,
            "threshold": threshold,
            "recall": 1 - threshold,
            "precision": threshold,
        }
        for collection in dedup_quality.LABELLED
        for threshold in collection.thresholds
        for tool in ("neardup", *dedup_quality.PEERS)
    ]
    return [*truths, *labels]


def _exact_joins() -> list[dict[str, object]]:
    contests = [
        (exact.WEIGHTED, (exact.OURS, exact.PRODUCT)),
        (exact.SETS, (exact.OURS, exact.SETS_ONLY, exact.PRODUCT)),
    ]
    return [
        {"task": task, "name": name, "documents": 9, "pairs": 9, "cpu_seconds": 2.0}
        for task, names in contests
        for name in names
    ]


def _foreseen(plan: str) -> dict[str, object]:
    return {
        "collection": "poems",
        "documents": 9,
        "sampled": 5,
        "features": "word:2",
        "ways": tune.EVERY_WAY,
        "chosen": plan == "exact",
        "plan": plan,
        "recall": 0.97,
        "predicted_recall": 0.96,
        "recall_low": 0.95,
        "recall_high": 0.98,
        "candidates": 100,
        "predicted_candidates": 90,
        "seconds": 1.0,
        "predicted_seconds": 2.0,
        "peak_megabytes": 300,
        "predicted_megabytes": 310,
    }


def test_targets_of_tune_are_missed_where_it_foresees_too_much():
    result = _results(our_rate=1000.0)["tune"]
    assert all(target.met for target in tune.targets(result))
    row = {**_foreseen("exact"), "recall": 0.9, "candidates": 200}
    assert [target.met for target in tune.targets(replace(result, rows=[row]))] == [False] * 3


def _sweeps(our_rate: float) -> list[dict[str, object]]:
    spent = {sweep.OURS: 2000 / our_rate, sweep.VERIFIED: 20.0, sweep.PLAIN: 100.0}
    times = [
        {"kind": sweep.TIME, "name": name, "wall_seconds": seconds, "cpu_seconds": seconds}
        for name, seconds in spent.items()
    ]
    predictions = [
        {
            "kind": sweep.PREDICTION,
            "collection": name,
            "plan": "bands:2x10",
            "candidates": 9,
            "predicted_candidates": 10,
            "recall": 0.9,
            "predicted_recall": 0.91,
        }
        for name in sweep.COLLECTIONS
    ]
    return [*times, *predictions]


def _run(name: str, rate: float) -> dict[str, object]:
    return {
        "name": name,
        "documents": 9,
        "megabytes": 2.0,
        "wall_seconds": 2.0 / rate,
        "cpu_seconds": 4.0 / rate,
        "megabytes_per_second": rate,
        "file_megabytes": 1.0,
        "peak_megabytes": 250.0,
        "peak_megabytes_without_fingerprints": 240.0,
    }
