"""What a distributed run refuses, and inputs at the edge of having any documents."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.cli.forked import neardup
from tests.distributed.both_engines import assert_same_output, run_distributed, run_local
from tests.distributed.planted import columns, planted, write_jsonl, write_parquet

import neardup as nd
from neardup.distributed.run import Sizes
from neardup.engines.exchange import InProcess
from neardup.errors import InputError, NeardupError, SettingError

SPARK = ("--engine", "spark", "--master", "local[2]")
ROWS = columns(planted(30), "text", id=int)


@pytest.fixture
def box(tmp_path):
    write_jsonl(tmp_path / "a.jsonl", ROWS)
    write_parquet(tmp_path / "p.parquet", ROWS)
    (tmp_path / "folder").mkdir()
    write_jsonl(tmp_path / "folder" / "b.jsonl", ROWS)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("do not delete")
    (tmp_path / "decisions.jsonl").write_text("")
    (tmp_path / "plain").write_text("")
    return tmp_path


def refusal(done):
    """The sentence on standard error, after lines about stages; nothing else was printed."""
    assert done.returncode in (1, 2)
    assert done.stdout == ""
    *stages, sentence = done.stderr.splitlines()
    assert all(re.fullmatch(r"[\w ]+: [\d.]+ s", line) for line in stages), done.stderr
    assert sentence.startswith("neardup: ")
    return sentence


REFUSED = {
    "hamming": (("--similarity", "hamming", "--threshold", "3"), "needs the local engine"),
    "fields": (
        ("--text", "text:char:3 + id:number:0.1"),
        "similarity='fields' with candidates='auto' needs the local engine",
    ),
    "bands": (("--candidates", "bands:40x16"), "candidates='bands:40x16' needs the local engine"),
    "decisions": (
        ("--decisions", "decisions.jsonl"),
        "--decisions needs the local engine; leave out --engine spark",
    ),
    "index": (("--index", "i"), "--index needs the local engine; leave out --engine spark"),
    "update": (
        ("--update", "--against", "i"),
        "--update needs the local engine; leave out --engine spark",
    ),
    "a conf without a value": (("--conf", "spark.cores.max"), "--conf spark.cores.max: give a"),
    "a conf without a name": (("--conf", "=4"), "--conf =4: give a name and a value"),
    "several kept without within": (
        ("--keep", "each:2", "--against", "folder"),
        "keep=each:2 needs",
    ),
    "a work folder inside the input": (
        ("--against", "folder", "--work", "folder/work"),
        "folder",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_engine_cannot_do_is_refused_before_spark_starts(box, name):
    arguments, sentence = REFUSED[name]
    before = sorted(os.listdir(box))
    # Without Java, whatever starts Spark is refused with another sentence.
    done = neardup(
        "dedup", "a.jsonl", "-o", "out", *SPARK, *arguments, cwd=box, env={"PATH": "/nowhere"}
    )
    assert sentence in refusal(done)
    assert sorted(os.listdir(box)) == before


# Both engines say the same.
SAME = {
    "no such input": ("b.jsonl", "-o", "out"),
    "no such column": ("p.parquet", "-o", "out", "--text", "body"),
    "no such id": ("p.parquet", "-o", "out", "--id", "key"),
    "no such column to keep by": ("p.parquet", "-o", "out", "--keep", "max:quality"),
    "an output that is there": ("a.jsonl", "-o", "taken"),
    "an output of others to overwrite": ("a.jsonl", "-o", "taken", "--overwrite"),
    "an output that is a file": ("a.jsonl", "-o", "plain"),
    "an output inside the input": ("folder", "-o", "folder/out"),
    "an output that is the input": ("folder", "-o", "folder", "--overwrite"),
    "an output that is the other input": ("a.jsonl", "-o", "folder", "--against", "folder"),
    "an output in no folder": ("a.jsonl", "-o", "nowhere/out"),
    "an output below a file": ("a.jsonl", "-o", "decisions.jsonl/out"),
    "within without against": ("a.jsonl", "-o", "out", "--within"),
    "an unknown format": ("a.jsonl", "-o", "out", "--format", "xlsx"),
    "an unknown measure": ("a.jsonl", "-o", "out", "--similarity", "dice"),
    "a threshold that is none": ("a.jsonl", "-o", "out", "--threshold", "80"),
}


@pytest.mark.parametrize("name", SAME)
def test_wrong_usage_is_refused_as_by_the_local_engine(box, name):
    before = sorted(os.listdir(box))
    local = neardup("dedup", *SAME[name], cwd=box)
    done = neardup("dedup", *SAME[name], *SPARK, cwd=box, env={"PATH": "/nowhere"})
    assert done.returncode == local.returncode
    # The output may be named by its whole path.
    assert refusal(done).replace(f"{box}/", "") == refusal(local).replace(f"{box}/", "")
    assert sorted(os.listdir(box)) == before
    assert (box / "taken" / "mine.txt").read_text() == "do not delete"


@pytest.mark.parametrize(
    "option", [("--master", "local[2]"), ("--work", "w"), ("--conf", "spark.cores.max=4")]
)
def test_options_of_the_cluster_need_the_engine(box, option):
    done = neardup("dedup", "a.jsonl", "-o", "out", *option, cwd=box)
    expected = f"{option[0]} is for --engine spark; add it, or leave {option[0]} out"
    assert refusal(done) == f"neardup: {expected}"
    assert not (box / "out").exists()


@pytest.mark.skipif("JAVA_HOME" in os.environ, reason="JAVA_HOME is set, and Java is found by it")
def test_without_java_the_sentence_says_what_to_install(box):
    done = neardup("dedup", "a.jsonl", "-o", "out", *SPARK, cwd=box, env={"PATH": "/nowhere"})
    assert "the engine spark needs Java 17 or later, and there is none; install" in refusal(done)
    assert not (box / "out").exists()


@pytest.mark.parametrize("ids", ["numbers", "strings"])
@pytest.mark.parametrize("where", ["far apart", "in one part"])
@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_repeated_ids_are_refused_as_by_the_local_engine(tmp_path, ids, where, form):
    rows = [dict(row, id=row["id"] if ids == "numbers" else f"ü{row['id']}") for row in ROWS]
    rows[25]["id"] = rows[2 if where == "far apart" else 24]["id"]
    rows[28]["id"] = rows[3]["id"]  # a later one, which is not named
    path = tmp_path / f"a.{form}"
    (write_jsonl if form == "jsonl" else write_parquet)(path, rows, *([4] * (form == "parquet")))
    with pytest.raises(InputError) as local:
        nd.dedup(path)
    assert "occurs twice" in str(local.value)
    for split_bytes in (300, None):
        with pytest.raises(InputError) as other:
            run_distributed(path, tmp_path / "out", sizes=Sizes(split_bytes))
        assert str(other.value) == str(local.value)
    assert not (tmp_path / "out").exists()


def test_ids_repeated_in_two_files_are_refused_as_by_the_local_engine(tmp_path):
    (tmp_path / "in").mkdir()
    write_jsonl(tmp_path / "in" / "a.jsonl", ROWS)
    write_jsonl(tmp_path / "in" / "b.jsonl", ROWS[7:])
    with pytest.raises(InputError) as local:
        nd.dedup(tmp_path / "in")
    for split_bytes in (300, None):
        with pytest.raises(InputError) as other:
            run_distributed(tmp_path / "in", tmp_path / "out", sizes=Sizes(split_bytes))
        assert str(other.value) == str(local.value)


def test_an_id_of_both_collections_is_no_repetition(tmp_path):
    path, other = write_jsonl(tmp_path / "a.jsonl", ROWS), tmp_path / "b.jsonl"
    write_jsonl(other, ROWS[:5])
    run_local(path, tmp_path / "local", against=other)
    run_distributed(path, tmp_path / "out", against=other, sizes=Sizes(300))
    assert_same_output(tmp_path / "local", tmp_path / "out")


def test_ids_of_two_kinds_are_refused_as_by_the_local_engine(tmp_path):
    paths = [write_jsonl(tmp_path / "a.jsonl", ROWS), tmp_path / "b.jsonl"]
    write_jsonl(paths[1], [{"id": f"s{row['id']}", "text": row["text"]} for row in ROWS])
    with pytest.raises(InputError) as local:
        nd.dedup(paths)
    for split_bytes in (300, None):
        with pytest.raises(InputError) as other:
            run_distributed(paths, tmp_path / "out", sizes=Sizes(split_bytes))
        assert str(other.value) == str(local.value)


def test_ids_that_change_their_kind_inside_a_file_are_refused_alike(tmp_path):
    rows = [dict(row) for row in ROWS]
    rows[20]["id"] = "twenty"
    path = write_jsonl(tmp_path / "a.jsonl", rows)
    with pytest.raises(InputError) as local:
        nd.dedup(path)
    with pytest.raises(InputError) as other:
        run_distributed(path, tmp_path / "out")
    assert str(other.value) == str(local.value)
    # In parts, another sentence may be the first to be true, but there is one.
    with pytest.raises(InputError):
        run_distributed(path, tmp_path / "out", sizes=Sizes(300))


EDGES = {
    "one document": [{"text": "the only one here"}],
    "two alike": [{"text": "one and the same"}] * 2,
    "all identical": [{"text": "one and the same"}] * 15,
    "all empty": [{"text": ""}] * 12,
    "one empty": [{"text": " "}],
    "all different": [{"text": f"a{n} b{n} c{n} d{n}"} for n in range(12)],
    "identical but for the case": [{"text": t} for t in ["The Same Text", "the same text"] * 4],
}


@pytest.mark.parametrize("cluster", ["star", "components"])
@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("split_bytes", [25, None])
def test_inputs_at_the_edge(tmp_path, name, cluster, split_bytes):
    path = write_jsonl(tmp_path / "a.jsonl", EDGES[name])
    run_local(path, tmp_path / "local", cluster=cluster)
    run_distributed(path, tmp_path / "out", cluster=cluster, sizes=Sizes(split_bytes, 3))
    assert_same_output(tmp_path / "local", tmp_path / "out")


@pytest.mark.parametrize("form", ["jsonl", "parquet", "txt"])
def test_an_empty_input(tmp_path, form):
    path = tmp_path / f"a.{form}"
    if form == "parquet":
        write_parquet(path, ROWS)
        pq.write_table(pq.read_table(path).slice(0, 0), path)
    else:
        path.write_bytes(b"")
    run_local(path, tmp_path / "local")
    for number, split_bytes in enumerate((1, None)):
        run_distributed(path, tmp_path / f"out{number}", sizes=Sizes(split_bytes))
        assert_same_output(tmp_path / "local", tmp_path / f"out{number}")


def test_nothing_in_the_other_collection(tmp_path):
    path, other = write_jsonl(tmp_path / "a.jsonl", ROWS), tmp_path / "b.jsonl"
    other.write_bytes(b"")
    for within in (False, True):
        folder = tmp_path / str(within)
        folder.mkdir()
        run_local(path, folder / "local", against=other, within=within)
        run_distributed(path, folder / "out", against=other, within=within, sizes=Sizes(300))
        assert_same_output(folder / "local", folder / "out")


def test_no_row_that_can_be_read_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("[1]\n[2]\n")
    with pytest.raises(InputError) as local:
        nd.dedup(path)
    assert "line 1: an array, not an object" in str(local.value)
    with pytest.raises(InputError, match="line 1: an array, not an object"):
        run_distributed(path, tmp_path / "out", sizes=Sizes(3))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("given", [{"text": "body"}, {"id": "key"}, {"keep": "max:quality"}])
def test_a_column_that_no_row_has_is_refused_as_by_the_local_engine(tmp_path, given):
    path = write_jsonl(tmp_path / "a.jsonl", ROWS)
    with pytest.raises(NeardupError) as local:
        nd.dedup(path, **given)
    assert "no column" in str(local.value)
    for split_bytes in (300, None):
        with pytest.raises(NeardupError) as other:
            run_distributed(path, tmp_path / "out", sizes=Sizes(split_bytes), **given)
        assert str(other.value) == str(local.value)


@pytest.mark.parametrize("similarity", ["hamming", "fields"])
def test_measures_without_features_are_refused(tmp_path, similarity):
    path = write_jsonl(tmp_path / "a.jsonl", ROWS)
    more = {"threshold": 3} if similarity == "hamming" else {"text": "text:char:3 + id:exact"}
    with pytest.raises(SettingError, match="needs the local engine"):
        run_distributed(path, tmp_path / "out", similarity=similarity, **more)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="/proc is a folder of no files")
def test_an_output_that_cannot_be_written_is_a_sentence(tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", ROWS)
    with pytest.raises(NeardupError, match="cannot write /proc/out"):
        run_distributed(path, Path("/proc/out"), work=tmp_path / "work")


def test_a_file_that_changes_during_the_run_is_refused(tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", ROWS)

    class Meddling(InProcess):
        def run(self, name, job):
            if name == "output":
                with path.open("a") as file:
                    file.write('{"id": 1000, "text": "a late one"}\n')
            return super().run(name, job)

    with pytest.raises(NeardupError, match="changed while it was read"):
        run_distributed(path, tmp_path / "out", engine=Meddling())
    assert not (tmp_path / "out").exists()
