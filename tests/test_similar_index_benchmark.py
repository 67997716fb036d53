"""The benchmark of the similarity index: its pages, its rows, and the part of the page."""

import hashlib
import json
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from benchmarks import (
    similar_index,
    similar_index_once as once,
    similar_index_pages as pages,
    similar_index_runs as runs,
    similar_index_section as section,
    similar_index_tools as tools,
)
from benchmarks.result import Result

import neardup as nd

# The first pages. A change makes every published number incomparable.
FIRST_PAGES = "cd6fb2db7174416158e1960c8c2f0a809febebea4ee3a6f48701e6f83b7fb29f"


def result(rows, **conditions):
    given = {"rounds": 3, "large_rounds": 1, "sync_microseconds": 200.0, "absent": {}}
    return Result.of(runs.BENCHMARK, [], {}, {**given, **conditions}, rows)


def speed_row(tool, n=runs.MILLION, **more):
    return {
        "part": runs.SPEED,
        "tool": tool,
        "n": n,
        "adds_per_second": 30_000.0,
        "adds_per_wall_second": 29_000.0,
        "queries_per_second": 200_000.0,
        "queries_per_wall_second": 200_000.0,
        "new_p50_microseconds": 40.0,
        "edited_p50_microseconds": 50.0,
        "new_p99_microseconds": 90.0,
        "edited_p99_microseconds": 399.0,
        "recall": 0.9995,
        "new_with_matches": 0.0,
        "matches": 10,
        "bytes_each": 1100.0,
        "parts": {},
        **more,
    }


def recall_row(threshold, corpus, at, precision=1.0):
    names = [once.band_name(*band) for band in once.BANDS if band[0] >= threshold]
    names.append(once.band_name(threshold, threshold + once.AT_THRESHOLD))
    return {
        "part": runs.RECALL,
        "corpus": corpus,
        "documents": 10,
        "threshold": threshold,
        "tool": tools.MEMORY,
        "answers": 4,
        "precision": precision,
        "recall": at,
        "bands": {name: {"pairs": 2, "recall": at} for name in names},
    }


def check_row(mode, rate):
    return {
        "part": runs.CHECK,
        "mode": mode.name,
        "n": runs.MILLION,
        "checks": 100,
        "checks_per_second": rate,
        "cpu_microseconds": 50.0,
        "edited_seen": 1.0,
        "new_new": 1.0,
    }


def growth_row(n, p99, tool=tools.MEMORY):
    return {
        "part": runs.GROWTH,
        "tool": tool,
        "collection": pages.TEMPLATES,
        "n": n,
        "query": once.TEMPLATE_PAGE,
        "p50_microseconds": 20.0,
        "p99_microseconds": p99,
        "matches": 0.0,
    }


def test_pages_are_the_same_everywhere():
    text = "\0".join(pages.block(0).head(50).texts().to_pylist())
    assert hashlib.sha256(text.encode()).hexdigest() == FIRST_PAGES


def test_portions_are_the_pages_in_their_order():
    block = pages.block(1)
    whole = pages.block(0).texts().to_pylist() + block.texts().to_pylist()
    (portion,) = once._portions(9_990, 10_020, pages.ORDINARY)
    assert portion.rows == range(9_990, 10_020)
    assert portion.strings == whole[9_990:10_020]
    assert block.part(5, 20).first == 10_005


def test_streams_have_no_page_in_common():
    stored, new = (
        set(pages.block(0, stream).head(200).texts().to_pylist())
        for stream in (pages.STORED, pages.NEW)
    )
    assert not stored & new


def test_the_similarity_of_an_edited_page_is_known():
    block = pages.block(2).head(40)
    edited = block.edited(range(0, 40, 2), once.WIDE, np.random.RandomState(7))
    assert [each.row for each in edited] == [20_000 + row for row in range(0, 40, 2)]
    texts = block.texts().to_pylist() + [each.text for each in edited]
    found = nd.exact_pairs(texts, 0.6).to_pydict()
    similar = dict(zip(zip(found["a"], found["b"], strict=True), found["similarity"], strict=True))
    assert similar == pytest.approx(
        {(each.row - 20_000, 40 + place): each.jaccard for place, each in enumerate(edited)}
    )


def test_pages_of_the_template_are_near_each_other():
    texts = pages.block(0, pages.STORED, pages.TEMPLATES).head(100).texts().to_pylist()
    family = [texts[row] for row in pages.family_rows(100)]
    found = nd.exact_pairs(family, 0.5)["similarity"].to_numpy()
    assert len(found) == 190
    assert 0.55 < found.min() < found.max() < 0.65
    assert len(nd.exact_pairs(texts, 0.5)) == 190


@pytest.mark.parametrize("threshold", runs.THRESHOLDS)
def test_bands_for_recall_find_nearly_all(threshold):
    bands, rows = tools.bands(threshold)
    assert 1 - (1 - threshold**rows) ** bands > 0.999


def test_the_best_round_is_the_fastest_and_recall_the_worst():
    rounds = [
        {"n": 5, "adds_per_second": 2.0, "p50_microseconds": 7.0, "recall": 1.0, "parts": {}},
        {"n": 5, "adds_per_second": 3.0, "p50_microseconds": 8.0, "recall": 0.5, "parts": {}},
    ]
    best = {"n": 5, "adds_per_second": 3.0, "p50_microseconds": 7.0, "recall": 0.5, "parts": {}}
    assert similar_index.best_of(rounds) == best


def test_targets_are_judged():
    measured = result(
        [
            *(recall_row(threshold, once.ARXIV, 0.995) for threshold in (0.7, 0.8, 0.9)),
            recall_row(0.9, once.LICENCES, 0.98, precision=0.99),
            speed_row(tools.MEMORY),
            speed_row(tools.FOLDER, edited_p50_microseconds=110.0, parts={"disk": 1150.0}),
            speed_row(tools.GAOYA, queries_per_second=30_000.0, recall=0.94),
            speed_row(f"{tools.GAOYA}{tools.FOR_RECALL}", queries_per_second=50_000.0, recall=1.0),
            check_row(runs.THREADS, 3_100.0),
            check_row(runs.UNSYNCED, 5_000.0),
            growth_row(10**5, 900.0),
            growth_row(10**6, 100.0),
        ]
    )
    judged = list(section.targets(measured))
    assert [target.met for target in judged] == [
        *(True, True, False, False),  # recall, precision
        *(True, True, True, False, True, True, True),  # memory, folder, adds
        False,  # the best peer
        *(True, False, None),  # checks
        True,  # template
    ]
    assert "4.0 × (gaoya, for recall, 1,000,000 pages)" in [target.measured for target in judged]
    assert {target.met for target in section.targets(result([]))} == {None}


def test_the_section_leaves_out_what_was_not_measured():
    stopped = {"part": runs.SPEED, "tool": tools.REDIS, "n": 10**6}
    stopped |= {"stopped_after": 600.0, "documents": 450_000}
    text = section.section(
        result(
            [
                recall_row(0.8, once.DJANGO, 0.9991),
                speed_row(tools.MEMORY, parts={"tables": 70.0, "features": 900.0}),
                stopped,
            ],
            absent={tools.RENSA: "rensa is not installed"},
        )
    )
    assert "| **neardup, memory** | 0.9991 | 0.9991 |" in text
    assert "| 1,000,000 | 30,000 | 200,000 | 40 / 50 | 90 / 399 | 0.9995 | 1,100 |" in text
    assert "| neardup, memory | 1,000,000 | 970 | 70 |  | tables 70, features 900 |" in text
    assert "stopped after 600 seconds with 450,000 of 1,000,000 documents added" in text
    assert "rensa was left out: rensa is not installed" in text
    assert "**Checks**" not in text
    assert "**Growth.**" not in text
    assert "Threshold 0.9" not in text


@pytest.fixture
def few_processes(monkeypatch):
    """The first task of each kind has a process of its own, others run here; two are several.

    A process takes a second to start and to make its pages, and every tool and corpus has one.
    """
    in_a_process = similar_index._child
    started = set()

    def child(name, task):
        if name not in started:
            started.add(name)
            return in_a_process(name, task)
        given = json.loads(json.dumps({**task, "task": name}))
        return json.loads(json.dumps(once.TASKS[name](given)))

    monkeypatch.setattr(similar_index, "_child", child)
    modes = [replace(mode, processes=min(mode.processes, 2)) for mode in runs.MODES]
    monkeypatch.setattr(similar_index, "MODES", modes)
    monkeypatch.setattr(pages, "block", cache(pages.block))
    return started


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
def test_a_small_run_has_all_rows(tmp_path, few_processes):
    similar_index.main(["--small", "--out", str(tmp_path)])
    assert few_processes == set(once.TASKS)
    measured = Result.load(runs.BENCHMARK, tmp_path)
    assert {row["part"] for row in measured.rows} == set(runs.PARTS)
    edits = section.rows_of(measured, runs.RECALL, corpus=once.EDITS, tool=tools.MEMORY)
    assert [row["threshold"] for row in edits] == [0.8]
    for tool in (*tools.OURS, tools.OLD):
        (row,) = section.rows_of(measured, runs.SPEED, tool=tool)
        assert row.keys() == speed_row(tool).keys()
    for peer in tools.PEERS:
        assert bool(section.rows_of(measured, runs.SPEED, tool=peer)) == (not tools.absent(peer))
    modes = [row["mode"] for row in section.rows_of(measured, runs.CHECK)]
    assert modes == [mode.name for mode in runs.MODES]
    asked = {(row["collection"], row["query"]) for row in section.rows_of(measured, runs.GROWTH)}
    assert asked == {
        (pages.ORDINARY, once.NEW_PAGE),
        (pages.ORDINARY, once.EDITED_PAGE),
        (pages.TEMPLATES, once.NEW_PAGE),
        (pages.TEMPLATES, once.TEMPLATE_PAGE),
        (pages.TEMPLATES, once.EDITED_TEMPLATE),
    }
    assert (tmp_path / section.PICTURE.name).exists()
    assert "**Growth.**" in section.section(measured)
