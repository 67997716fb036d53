"""The index: built once and completely, also by several processes, and again if it must be."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.runs.stored import store, table, texts

import neardup as nd
from neardup.errors import InputError
from neardup.runs import ClusterQuery, build, index_file, open_run


@pytest.fixture
def out(tmp_path):
    store(tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def builds(monkeypatch):
    """How often the index was built."""
    counted = []

    def counting(*arguments):
        counted.append(1)
        build.build(*arguments)

    monkeypatch.setattr(index_file, "build", counting)
    return counted


def test_it_is_built_once(out, builds):
    before = set(os.listdir(out))
    told = []
    open_run(out, progress=lambda *progress: told.append(progress))
    assert set(os.listdir(out)) == before | {"explore.sqlite"}
    assert os.listdir(out.parent) == ["out"]
    assert told[-1] == (len(texts()),) * 3
    told.clear()
    open_run(out, progress=lambda *progress: told.append(progress))
    assert builds == [1]
    assert told == []


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_rows_that_are_not_parquet_are_converted_beside_it(tmp_path, builds, format):
    store(tmp_path / "out", format=format)
    open_run(tmp_path / "out")
    names = set(os.listdir(tmp_path / "out"))
    assert {"explore.kept.parquet", "explore.removed.parquet", "explore.sqlite"} <= names
    open_run(tmp_path / "out")
    assert builds == [1]
    (tmp_path / "out" / "explore.kept.parquet").unlink()
    assert open_run(tmp_path / "out").text(0) == texts()[0]
    assert builds == [1, 1]


def test_another_run_in_the_folder(out, builds):
    first = open_run(out)
    result = nd.dedup(table(texts(20)), threshold=0.7)
    result.save(out, overwrite=True)
    assert not (out / "explore.sqlite").exists()
    second = open_run(out)
    assert (first.documents, second.documents) == (len(texts()), len(texts(20)))
    assert builds == [1, 1]
    with pytest.raises(InputError, match="holds another run by now"):
        first.clusters(ClusterQuery())


def test_an_index_of_another_run_is_not_used(out, tmp_path, builds):
    open_run(out)
    store(tmp_path / "other", table(texts(20)))
    shutil.copy(out / "explore.sqlite", tmp_path / "other" / "explore.sqlite")
    assert open_run(tmp_path / "other").documents == len(texts(20))
    assert builds == [1, 1]


def test_an_older_index_is_built_again(out, builds, monkeypatch):
    open_run(out)
    monkeypatch.setattr(index_file, "FORMAT", build.FORMAT + 1)
    monkeypatch.setattr(build, "FORMAT", build.FORMAT + 1)
    open_run(out)
    assert builds == [1, 1]


@pytest.mark.parametrize("damage", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_index_is_built_again(out, builds, damage):
    open_run(out)
    (out / "explore.sqlite").write_bytes(damage)
    assert open_run(out).documents == len(texts())
    assert builds == [1, 1]


def test_a_truncated_index_is_built_again(out, builds):
    open_run(out)
    data = (out / "explore.sqlite").read_bytes()
    (out / "explore.sqlite").write_bytes(data[: len(data) // 2])
    run = open_run(out)
    assert run.texts(range(run.documents)) == dict(enumerate(texts()))
    assert builds == [1, 1]


def test_damage_within_the_index_is_said(out):
    open_run(out)
    data = bytearray((out / "explore.sqlite").read_bytes())
    begin, end = len(data) // 4, len(data) // 2
    data[begin:end] = b"\xff" * (end - begin)
    (out / "explore.sqlite").write_bytes(data)
    with pytest.raises(InputError, match=r"explore\.sqlite is damaged.*delete it"):
        run = open_run(out)
        run.clusters(ClusterQuery(search="quick"))
        run.documents_at(range(run.documents))


def test_a_folder_that_cannot_be_written_to(out, tmp_path, monkeypatch, builds):
    monkeypatch.setenv("NEARDUP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(
        "neardup.runs.index_file.os.access", lambda path, mode: "cache" in str(path)
    )
    run = open_run(out)
    assert run.documents == len(texts())
    assert not (out / "explore.sqlite").exists()
    assert list((tmp_path / "cache").rglob("explore.sqlite"))
    assert open_run(out).clusters_count == run.clusters_count
    assert builds == [1]


def test_read_only_leaves_the_folder_alone(out, tmp_path, monkeypatch, builds):
    monkeypatch.setenv("NEARDUP_CACHE", str(tmp_path / "cache"))
    before = sorted(path.name for path in out.iterdir())
    assert open_run(out, read_only=True).text(3) == texts()[3]
    assert sorted(path.name for path in out.iterdir()) == before
    open_run(out, read_only=True)
    open_run(out)
    assert builds == [1]


def test_without_any_folder_to_write_to(out, tmp_path, monkeypatch):
    monkeypatch.setenv("NEARDUP_CACHE", str(out / "summary.json" / "no"))
    monkeypatch.setattr("neardup.runs.index_file.os.access", lambda *_: False)
    run = open_run(out)
    assert run.text(3) == texts()[3]
    assert not (out / "explore.sqlite").exists()


_OPEN = "import sys; from neardup.runs import open_run; print(open_run(sys.argv[1]).clusters_count)"


def test_several_processes_at_once(out):
    command = [sys.executable, "-c", _OPEN, str(out)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
    answers = {process.communicate()[0] for process in started}
    assert answers == {f"{open_run(out).clusters_count}\n".encode()}
    assert os.listdir(out.parent) == ["out"]


def test_a_build_that_was_killed(tmp_path):
    store(tmp_path / "out", table(texts(800)))
    out = tmp_path / "out"
    command = [sys.executable, "-c", _OPEN, str(out)]
    process = subprocess.Popen(command)
    while process.poll() is None and not list(tmp_path.glob(".out.*/explore.sqlite")):
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert open_run(out).documents == len(texts(800))
    assert os.listdir(tmp_path) == ["out"]


def test_no_documents(tmp_path):
    nd.dedup([]).save(tmp_path / "out")
    run = open_run(tmp_path / "out")
    assert (run.documents, run.clusters_count) == (0, 0)
    assert run.clusters(ClusterQuery(search="x", source=None)).rows == ()
    assert run.similarity_histogram().apart == {"copies": 0}
    assert run.matrix().names == ()
    assert run.queue() == []
    assert run.find("0") is None


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv"])
def test_one_document(tmp_path, format):
    nd.dedup(["only this one"], floor=0.5).save(tmp_path / "out", format=format)
    run = open_run(tmp_path / "out")
    assert run.text(0) == "only this one"
    assert run.threshold_table().rows[0].removed == 0
    assert run.length_histogram().series == {"kept": (1,), "removed": (0,)}


def test_what_is_not_a_run(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "summary.json").write_text('{"a": 1}')
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "summary.json").write_text("{")
    for name in ("missing", "file", "empty", "other", "broken"):
        with pytest.raises(InputError, match=name):
            open_run(tmp_path / name)


def test_a_run_of_an_earlier_version(out):
    (out / "documents.parquet").unlink()
    with pytest.raises(InputError, match="run dedup again"):
        open_run(out)


@pytest.mark.parametrize(
    "name", ["documents.parquet", "clusters.parquet", "pairs.parquet", "kept.parquet"]
)
@pytest.mark.parametrize("damage", [lambda data: data[:-20], lambda data: b"x" * len(data)])
def test_damaged_files_are_named(out, name, damage):
    (out / name).write_bytes(damage((out / name).read_bytes()))
    with pytest.raises(InputError, match=f"{name} is damaged"):
        open_run(out)


def test_files_that_do_not_fit(out):
    clusters = pq.read_table(out / "clusters.parquet")
    others = clusters.set_column(1, "id", pa.array([f"x{n}" for n in range(len(clusters))]))
    pq.write_table(others, out / "clusters.parquet")
    with pytest.raises(InputError, match="names documents that documents"):
        open_run(out)
    pq.write_table(clusters, out / "clusters.parquet")
    pq.write_table(pq.read_table(out / "kept.parquet")[1:], out / "kept.parquet")
    with pytest.raises(InputError, match=r"kept\.parquet is damaged: it has \d+ rows"):
        open_run(out)
    summary = json.loads((out / "summary.json").read_text())
    (out / "summary.json").write_text(json.dumps({**summary, "documents": 1}))
    with pytest.raises(InputError, match=r"documents\.parquet is damaged"):
        open_run(out)


def test_without_full_text_search(out, monkeypatch):
    import sqlite3

    class Lacking(sqlite3.Connection):
        def execute(self, statement, *values):
            if "fts5" in statement:
                raise sqlite3.OperationalError("no such module: fts5")
            return super().execute(statement, *values)

    def connect(*arguments, **more):
        return Lacking(*arguments, **more)

    monkeypatch.setattr("neardup.runs.build.sqlite3.connect", connect)
    with pytest.raises(InputError, match="FTS5"):
        open_run(out)
