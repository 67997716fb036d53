"""What is written beside the kept rows: removed rows, pairs, the summary, progress."""

import json
import os
import shlex
import stat
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st
from tests.cli.test_hostile_usage import run
from tests.deduplication.planted import planted_texts
from tests.needs_posix import READS_EVERYTHING

import neardup as nd
from neardup.collection.settings import DedupSettings
from neardup.deduplication.listed_pairs import HeldPairs, with_copies
from neardup.deduplication.page import chain_of
from neardup.deduplication.run import deduplicate
from neardup.deduplication.save import save
from neardup.deduplication.sources import source_of
from neardup.pairs.all_pairs import PairBatch

BASE = " ".join(f"w{number}" for number in range(30))
ROWS = [
    {"id": "a", "text": BASE, "n": 1},
    {"id": "b", "text": BASE + " more", "n": 2},
    {"id": "c", "text": "something else", "n": 3},
    {"id": "d", "text": BASE + "!", "n": 4},
]


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def summary_in(folder):
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def test_removed_rows_have_all_columns_and_the_reason(tmp_path):
    result = nd.dedup(write_lines(tmp_path / "in.jsonl", ROWS))
    result.save(tmp_path / "out")
    expected = [
        {**ROWS[1], "duplicate_of": "a", "similarity": 28 / 29},
        {**ROWS[3], "duplicate_of": "a", "similarity": 1.0},
    ]
    assert pq.read_table(tmp_path / "out" / "removed.parquet").to_pylist() == expected
    assert result.removed.to_pylist() == expected
    assert [row["id"] for row in result.kept.to_pylist()] == ["a", "c"]
    result.save(tmp_path / "lines", format="jsonl")
    lines = (tmp_path / "lines" / "removed.jsonl").read_text(encoding="utf-8").splitlines()
    assert list(map(json.loads, lines)) == expected
    result.save(tmp_path / "csv", format="csv")
    lines = (tmp_path / "csv" / "removed.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == '"id","text","n","duplicate_of","similarity"'
    assert lines[2] == f'"d","{BASE}!",4,"a",1.0'


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv"])
def test_columns_of_the_input_keep_their_names(tmp_path, format):
    rows = [{**row, "similarity": "mine", "copies": "x"} for row in ROWS]
    rows[0]["duplicate_of_1"] = "taken"
    result = nd.dedup(write_lines(tmp_path / "in.jsonl", rows))
    result.save(tmp_path / "out", format=format, copies=True)
    again = nd.dedup(tmp_path / "out" / f"removed.{format}", keep="each:9").kept
    assert set(again.column_names) >= {"similarity", "similarity_1", "duplicate_of"}
    assert "duplicate_of_2" not in again.column_names
    assert again["similarity"].to_pylist() == ["mine", "mine"]
    kept = nd.dedup(tmp_path / "out" / f"kept.{format}").kept
    assert kept["copies"].to_pylist() == ["x", "x"]
    assert list(map(int, kept["copies_1"].to_pylist())) == [3, 1]


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv"])
def test_a_column_of_that_name_may_come_late(tmp_path, format):
    """In JSON only a later batch may have the column."""
    texts = planted_texts(12_000, share=0)
    rows = [{"text": text} for text in [*texts, texts[0], texts[1]]]
    rows[-1]["similarity"] = "mine"
    write_lines(tmp_path / "in.jsonl", rows)
    nd.dedup(tmp_path / "in.jsonl").save(tmp_path / "out", format=format)
    removed = nd.dedup(tmp_path / "out" / f"removed.{format}").kept
    assert [float(value) for value in removed["similarity_1"].to_pylist()] == [1.0, 1.0]
    assert removed["similarity"].to_pylist()[-1] == "mine"


def test_few_removed_rows_are_one_row_group(tmp_path):
    texts = planted_texts(20_000, share=0.002)
    nd.dedup(texts).save(tmp_path / "out")
    removed = pq.read_metadata(tmp_path / "out" / "removed.parquet")
    assert removed.num_rows > 20
    assert removed.num_row_groups == 1
    assert pq.read_metadata(tmp_path / "out" / "kept.parquet").num_row_groups > 1


def test_copies_count_every_document_once(tmp_path):
    texts = planted_texts(300, changed=3)
    for keep in ("first", "longest", "each:2"):
        nd.dedup(texts, keep=keep).save(tmp_path / keep, copies=True)
        kept = pq.read_table(tmp_path / keep / "kept.parquet")
        assert sum(kept["copies"].to_pylist()) == len(texts)
        assert min(kept["copies"].to_pylist()) == 1
    nd.dedup(texts).save(tmp_path / "plain")
    assert "copies" not in pq.read_schema(tmp_path / "plain" / "kept.parquet").names


@pytest.mark.parametrize(
    ("chosen", "meaning"),
    [
        ({}, "one for each removed document"),
        ({"pairs": "all"}, "all of jaccard ≥ 0.8"),
        ({"floor": 0.5}, "all of jaccard ≥ 0.5"),
        ({"cluster": "components"}, "the next one in its chain"),
        ({"similarity": "hamming", "threshold": 9, "pairs": "all"}, "all of hamming ≤ 9"),
    ],
)
def test_the_number_of_pairs_is_that_of_the_file(tmp_path, monkeypatch, chosen, meaning):
    rows = [{"id": n, "text": text} for n, text in enumerate(planted_texts(200, changed=6))]
    source = write_lines(tmp_path / "in.jsonl", rows)
    options = [part for name, value in chosen.items() for part in (f"--{name}", str(value))]
    code, printed, errors = run(
        monkeypatch, ["dedup", str(source), "-o", str(tmp_path / "out"), *options]
    )
    assert code == 0, errors
    pairs = pq.read_table(tmp_path / "out" / "pairs.parquet")
    summary = summary_in(tmp_path / "out")
    assert summary["pairs"] == len(pairs) > 15
    assert f"{len(pairs):,} pairs in pairs.parquet" in printed
    assert meaning in printed
    assert pairs.equals(nd.dedup(source, **chosen).pairs)
    if "floor" in chosen:
        assert min(pairs["similarity"].to_pylist()) < 0.8
        assert summary["settings"]["pairs"] == "all"


def test_no_pairs(tmp_path):
    result = nd.dedup(planted_texts(100), pairs="none")
    result.save(tmp_path / "out")
    assert not (tmp_path / "out" / "pairs.parquet").exists()
    assert summary_in(tmp_path / "out")["pairs"] == 0
    assert (tmp_path / "out" / "report.html").exists()
    assert result._repr_html_()
    assert len(result.weakest(3)) == 3
    with pytest.raises(nd.SettingError, match="pairs='none' lists no pairs"):
        _ = result.pairs


ENDS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda ends: ends[0] < ends[1]),
    unique=True,
)


def batch_of(ends):
    a, b = np.array(ends, np.int64).reshape(-1, 2).T
    return PairBatch(a, b, np.zeros(len(a), np.uint16), np.ones(len(a))).in_order()


@given(ENDS, st.data(), st.integers(1, 4))
def test_pairs_and_copies_are_merged_in_order(ends, data, most):
    is_copy = data.draw(st.lists(st.booleans(), min_size=len(ends), max_size=len(ends)))
    copies = [pair for pair, one in zip(ends, is_copy, strict=True) if one]
    pairs = [pair for pair, one in zip(ends, is_copy, strict=True) if not one]
    found = []
    for batch in with_copies(HeldPairs(batch_of(pairs)), batch_of(copies), most):
        assert len(batch.a) <= most
        found += zip(batch.a.tolist(), batch.b.tolist(), strict=True)
    assert found == sorted(ends)


def test_inputs_are_named_with_their_sizes_and_dates(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    first = write_lines(tmp_path / "in" / "one.jsonl", ROWS)
    second = write_lines(tmp_path / "in" / "two.jsonl", [{"id": "z", "text": "other"}])
    for path, when in ((first, 1_700_000_000), (second, 1_600_000_000)):
        os.utime(path, (when, when))
    sizes = first.stat().st_size + second.stat().st_size
    entry = {"files": 2, "bytes": sizes, "modified": "2023-11-14T22:13:20+00:00"}
    for name in ("in", "in/*.jsonl"):
        assert nd.dedup(name).summary["inputs"] == [{"name": name, **entry}]
    summary = nd.dedup(first, against="in/two.jsonl").summary
    assert summary["inputs"][0]["files"] == 1
    assert summary["against"][0]["modified"] == "2020-09-13T12:26:40+00:00"
    assert nd.dedup(ROWS).summary["inputs"] == []


def test_the_command_and_the_times_are_in_the_summary_and_on_the_page(tmp_path):
    source = write_lines(tmp_path / "two words.jsonl", ROWS)
    arguments = ["dedup", str(source), "-o", str(tmp_path / "out"), "--keep", "max:n"]
    command = [sys.executable, "-m", "neardup", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    summary = summary_in(tmp_path / "out")
    assert summary["command"] == shlex.join(["neardup", *arguments])
    assert {"features", "keep order", "pairs", "clusters", "output"} <= set(summary["seconds"])
    assert summary["wall_seconds"] >= sum(summary["seconds"].values()) - 0.01
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "two words.jsonl" in page
    assert "seconds in all" in page
    assert f"{summary['wall_seconds']:.2f} s in all" in done.stdout
    nd.dedup(source).save(tmp_path / "python")
    assert summary_in(tmp_path / "python")["command"] is None


def test_every_stage_moves():
    texts = planted_texts(3000, share=0.1)
    table = pa.table({"text": texts, "n": range(len(texts))})
    settings = DedupSettings.of(weights="tfidf", keep="max:n", floor=0.5)
    seen = {}

    def stage(name):
        seen[name] = []
        return lambda done, total, documents: seen[name].append((done, total, documents))

    result = deduplicate(source_of(table, settings), settings, stage=stage)
    assert list(seen) == ["idf", "features", "keep order", "pairs", "clusters", "all pairs"]
    for name in ("idf", "features", "keep order"):
        assert seen[name][-1] == (3000, 3000, 3000), name
    assert result.summary["removed"] > 100


def test_the_output_moves(tmp_path):
    result = nd.dedup(planted_texts(3000, share=0.1))
    seen = []
    follow = lambda done, total, documents: seen.append((done, total))  # noqa: E731
    save(result, tmp_path / "out", overwrite=False, format="parquet", progress=follow)
    assert seen[-1] == (3000, 3000)


def test_the_end_of_a_long_chain_is_an_ellipsis(tmp_path):
    words = [f"c{number}" for number in range(400)]
    texts = [" ".join(words[i : i + 60]) for i in range(0, 340, 3)]
    result = nd.dedup(texts, cluster="components")
    chains = [[step.id for step in chain_of(result, row)] for row in range(len(texts))]
    assert chains[:5] == [[], [], [], ["1", "0"], ["2", "0"]]  # two steps apart are still a pair
    assert chains[24] == [str(place) for place in range(22, -1, -2)]
    assert chains[25] == [*(str(place) for place in range(23, 1, -2)), "…"]
    result.save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "connected by a chain of pairs" in page
    assert "→ …" in page


def test_ids_of_two_collections_of_different_types():
    new = pa.table({"id": [1, 2, 3], "text": [BASE, BASE + " x", "other words here"]})
    old = pa.table({"id": ["o"], "text": ["Other words here!"]})
    alone = nd.dedup(new, against=old)
    row = {"cluster": 0, "id": 3, "kept": False, "duplicate_of": "o", "similarity": 1.0}
    assert alone.clusters.to_pylist() == [{**row, "duplicate_of_other": True}]
    both = nd.dedup(new, against=old, within=True)
    named = {row["id"]: row["duplicate_of"] for row in both.clusters.to_pylist()}
    assert named == {1: None, 2: "1", 3: "o"}
    assert [(row["a"], row["b"]) for row in both.pairs.to_pylist()] == [(1, "2"), (3, "o")]
    assert both.removed["duplicate_of"].to_pylist() == ["1", "o"]


def test_within_beside_against(tmp_path, monkeypatch):
    texts = planted_texts(120, changed=2)
    write_lines(tmp_path / "new.jsonl", [{"text": text} for text in texts])
    write_lines(tmp_path / "old.jsonl", [{"text": text} for text in texts[:5]])
    line = ["dedup", str(tmp_path / "new.jsonl"), "-o", str(tmp_path / "out"), "--within"]
    code, _, errors = run(monkeypatch, line)
    assert code == 2
    assert "--within needs another collection" in errors
    code, _, errors = run(monkeypatch, [*line, "--against", str(tmp_path / "old.jsonl")])
    assert code == 0, errors
    summary = summary_in(tmp_path / "out")
    assert summary["within"]
    alone = nd.dedup(texts).summary["removed"]
    assert summary["removed"] == alone + 5
    every = nd.dedup(texts, against=texts[:5], within=True, pairs="all")
    assert len(every.pairs) > every.summary["removed"]
    stricter = nd.dedup(texts, against=texts[:5], within=True, threshold=0.95)
    assert stricter.summary["removed"] < summary["removed"]
    assert every.rethreshold(0.95).clusters.equals(stricter.clusters)
    none = nd.dedup(texts, against=texts[:5], within=True, keep="none")
    assert none.summary["removed"] > summary["removed"]


@pytest.mark.parametrize("keep", ["first", "none", "each:2", "longest"])
@pytest.mark.parametrize("cluster", ["star", "components", "dense"])
@pytest.mark.parametrize("texts", [[], [""], ["", "", " "], ["only one"], ["same words here"] * 50])
def test_next_to_nothing_in_every_way(texts, keep, cluster, tmp_path):
    result = nd.dedup(texts, keep=keep, cluster=cluster, pairs="all")
    result.save(tmp_path / "out", copies=True)
    summary = summary_in(tmp_path / "out")
    assert summary["kept"] + summary["removed"] == len(texts)
    kept = {"first": 1, "none": 0, "each:2": 2, "longest": 1}[keep]
    assert summary["removed"] == (50 - kept if len(texts) == 50 else 0)
    assert pq.read_metadata(tmp_path / "out" / "removed.parquet").num_rows == summary["removed"]
    assert len(result.rethreshold(1.0).clusters) == len(result.clusters)


@pytest.mark.skipif(READS_EVERYTHING, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed").chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(nd.NeardupError, match="cannot write"):
        nd.dedup(ROWS).save(tmp_path / "closed" / "out")


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(nd.NeardupError):
        nd.dedup(ROWS).save(tmp_path / "file" / "out")
    assert (tmp_path / "file").read_text() == "mine"


def test_only_columns_that_repeat_have_a_dictionary(tmp_path):
    rows = [
        {"id": f"d{number}", "text": f"word{number} " * 20, "kind": f"k{number % 3}"}
        for number in range(200)
    ]
    nd.dedup(rows).save(tmp_path / "out")
    group = pq.ParquetFile(tmp_path / "out" / "kept.parquet").metadata.row_group(0)
    encodings = {
        group.column(number).path_in_schema: group.column(number).encodings
        for number in range(group.num_columns)
    }
    assert {name for name, found in encodings.items() if "RLE_DICTIONARY" in found} == {"kind"}
    assert set(encodings) == {"id", "text", "kind"}


def test_input_that_changes_before_it_is_written(tmp_path):
    source = write_lines(tmp_path / "in.jsonl", ROWS)
    result = nd.dedup(source)
    write_lines(source, ROWS[:2])
    with pytest.raises(nd.InputError, match="changed while it was read"):
        result.save(tmp_path / "out")
    assert os.listdir(tmp_path) == ["in.jsonl"]
