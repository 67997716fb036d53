"""A file of pairs to label, opened as a run: its queue, its answers, and where it is kept."""

import json
import os
import stat

import numpy as np
import pytest
from tests.labels.samples import PAIRS, TEXTS, written

from neardup.errors import InputError
from neardup.labels import read_labels
from neardup.runs import open_run
from neardup.runs.rerun import rerun_command
from neardup.runs.why import why


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NEARDUP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pairs"


def asked(run, by="ann"):
    return [(run.document(item.a).id, run.document(item.b).id) for item in run.queue(0, 100, by)]


def decide(run, says, a, b, by="ann"):
    return run.decisions.add(says, [run.named(run.find(one)) for one in (a, b)], by=by)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_all_pairs_are_asked_in_the_order_of_the_file(tmp_path, suffix):
    path = written(tmp_path / f"p{suffix}")
    run = open_run(path)
    assert asked(run) == PAIRS
    assert run.queue_progress() == (0, 4)
    assert (run.documents, run.clusters_count) == (5, 0)
    assert {id: run.text(run.find(id)) for id in TEXTS} == TEXTS
    first = run.queue()[0]
    assert (first.similarity, first.cluster) == (1.0, None)
    assert first.reason == "Why this pair: word:1 tfidf stratum 0."
    assert run.path == path


def test_nothing_was_removed(tmp_path):
    run = open_run(written(tmp_path / "p.csv"))
    rows = run.documents_at(range(run.documents)).values()
    assert all(row.kept and row.copy_of is None and row.duplicate_of is None for row in rows)
    assert [row.words for row in rows] == [5, 5, 5, 5, 5]
    assert why(run, run.document(0)).sentence == "A document of pairs to label."


def test_answers_are_stored_beside_the_file_and_are_labels(tmp_path):
    path = written(tmp_path / "p.jsonl")
    run = open_run(path)
    decide(run, "same", "k4", "k5")
    undone = decide(run, "same", "k1", "k2")
    decide(run, "different", "k3", "k1")
    run.decisions.undo(undone.key, by="ann")
    assert run.decisions.path == tmp_path / "p.jsonl.decisions.jsonl"
    assert asked(run) == [("k2", "k1"), ("k3", "k4")]
    assert asked(open_run(path)) == [("k2", "k1"), ("k3", "k4")]
    labels = read_labels(path)
    found = zip(labels.a.to_pylist(), labels.b.to_pylist(), labels.same.tolist(), strict=True)
    assert {(*sorted((a, b)), same) for a, b, same in found} == {
        ("k4", "k5", True),
        ("k1", "k3", False),
    }


def test_a_row_with_a_label_is_answered(tmp_path):
    path = written(tmp_path / "p.jsonl")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    lines[0]["same"], lines[2]["same"] = True, "no"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    run = open_run(path)
    assert asked(run) == [PAIRS[1], PAIRS[3]]
    assert run.queue_progress() == (2, 4)
    decide(run, "same", *PAIRS[1])
    assert run.queue_progress() == (3, 4)
    assert sorted(read_labels(path).same.tolist()) == [False, True, True]


def test_a_file_that_changes_is_read_again(tmp_path, cache):
    path = written(tmp_path / "p.csv")
    first = open_run(path)
    assert asked(first) == PAIRS
    path.unlink()
    written(path, pairs=PAIRS[1:])
    assert asked(open_run(path)) == PAIRS[1:]
    assert len(list(cache.iterdir())) == 1
    assert asked(first) == PAIRS  # until it is opened again


def test_it_is_made_once_and_only_the_owner_can_read_it(tmp_path, cache):
    path = written(tmp_path / "p.csv")
    open_run(path)
    (folder,) = cache.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    state = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
    open_run(path, read_only=True)
    assert {file.name: file.stat().st_mtime_ns for file in folder.iterdir()} == state
    assert sorted(os.listdir(tmp_path)) == ["cache", "p.csv"]


@pytest.mark.parametrize("damage", ["summary.json", "documents.parquet"])
def test_a_damaged_copy_is_made_again(tmp_path, cache, damage):
    path = written(tmp_path / "p.csv")
    open_run(path)
    (folder,) = cache.iterdir()
    (folder / damage).unlink()
    assert asked(open_run(path)) == PAIRS


def test_without_a_cache_folder(tmp_path, monkeypatch):
    path = written(tmp_path / "p.csv")
    monkeypatch.setenv("NEARDUP_CACHE", str(path / "no"))
    run = open_run(path)
    assert asked(run) == PAIRS
    decide(run, "same", "k4", "k5")
    assert asked(run) == PAIRS[1:]


def test_pairs_without_a_similarity_or_a_reason(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("a,b,a_text,b_text\n1,2,one,two\n2,3,two,three\n")
    run = open_run(path)
    items = run.queue(0, 5)
    assert [(item.similarity, item.reason) for item in items] == [(None, "A pair to label.")] * 2
    assert np.isnan(run.neighbours(run.find("2"))[0].similarity)


def test_a_pair_that_occurs_twice_is_asked_once(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("a,b,same,a_text,b_text\n1,2,,x,y\n2,1,yes,y,x\n1,3,,x,z\n")
    run = open_run(path)
    assert asked(run) == [("1", "3")]
    assert run.queue_progress() == (1, 2)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("a,b,a_text,b_text\n", "has no pairs to label"),
        ("a,b\n1,2\n", "has no column 'a_text'; its columns are 'a', 'b'"),
        ("id,text\n1,2\n", "has no column 'a'; its columns are 'id', 'text'"),
        (
            "a,b,a_text,b_text\n1,2,x,y\n3,1,z,changed\n",
            r"row 2: the document '1' has another text than in .*row 1; give each document an id",
        ),
        (
            "a,b,a_text,b_text,similarity\n1,2,x,y,high\n",
            "row 1: similarity='high' is not a n",
        ),
        ("a,b,a_text,b_text,similarity\n1,2,x,y,7\n", "row 1: similarity='7' is not between -1"),
        ("a,b,a_text,b_text,same\n1,2,x,y,perhaps\n", "row 1: same='perhaps' is no answer"),
    ],
)
def test_what_cannot_be_reviewed(tmp_path, cache, content, fault):
    path = tmp_path / "p.csv"
    path.write_text(content)
    with pytest.raises(InputError, match=fault):
        open_run(path)
    assert list(cache.iterdir()) == []


def test_the_next_command(tmp_path):
    path = written(tmp_path / "my pairs.csv")
    assert rerun_command(open_run(path)) == (
        f"neardup tune INPUT --labels '{path}' -o settings.toml"
    )
    path = written(tmp_path / "p.parquet", about={"command": "neardup tune people.csv --id key"})
    assert rerun_command(open_run(path)) == (
        f"neardup tune people.csv --id key --labels {path} -o settings.toml"
    )
