"""`neardup index`, and `neardup dedup` with an index, as processes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.cli import forked
from tests.index.texts import text

import neardup as nd

NEARDUP = str(Path(sys.executable).with_name("neardup"))
FIXTURE = Path(__file__).parents[1] / "fixtures" / "index_version_1"
SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"


def neardup(*arguments, input=None, **options):
    if input is None:
        return forked.neardup(*arguments, **options)
    return subprocess.run(
        [NEARDUP, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        input=input,
        **options,
    )


def corpus(path, first, last, **more):
    lines = [{"id": f"d{n}", "text": text(n), **more} for n in range(first, last)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def index(tmp_path):
    path = tmp_path / "x.index"
    done = neardup("index", "create", path, "--store-text")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "finds jaccard ≥ 0.8, an expected 0.9994 of the pairs at the threshold\n"
        f"nd1/word:3/set/64 → {path}\n"
    )
    return path


def test_documents_go_in_and_are_found(index, tmp_path):
    file = corpus(tmp_path / "a.jsonl", 0, 50, url="u")
    done = neardup("index", "add", index, file, "--metadata", "url")
    assert done.returncode == 0, done.stderr
    assert "50 documents, 50 of them new or changed" in done.stdout
    done = neardup("index", "query", index, text(7))
    assert done.stdout == "d7\t0\t1.0000\t{'url': 'u'}\n"
    done = neardup("index", "query", index, "--json", input=text(8))
    assert json.loads(done.stdout) == {
        "query": None,
        "matches": [{"id": "d8", "distance": 0, "similarity": 1.0, "metadata": {"url": "u"}}],
    }
    done = neardup("index", "query", index, "nothing of the kind")
    assert (done.returncode, done.stdout) == (0, "no match\n")


def test_many_are_asked_about(index, tmp_path):
    neardup("index", "add", index, corpus(tmp_path / "a.jsonl", 0, 20))
    new = corpus(tmp_path / "b.jsonl", 18, 23)
    done = neardup("index", "query", index, "--input", new, "--threshold", 0.8)
    assert [line.split("\t")[:2] for line in done.stdout.splitlines()] == [
        ["d18", "d18"],
        ["d19", "d19"],
        *([f"d{n}", "no match"] for n in (20, 21, 22)),
    ]
    done = neardup("index", "query", index, "-i", "-", "--json", input=new.read_text())
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(each["query"], len(each["matches"])) for each in found] == [
        *(("d18", 1), ("d19", 1), ("d20", 0), ("d21", 0), ("d22", 0)),
    ]


def test_an_index_that_was_not_quite_made_is_made_again(tmp_path):
    path = tmp_path / "x.index"
    path.mkdir()
    (path / "data.mdb").touch()  # as left by a kill before the first commit
    assert neardup("index", "create", path).returncode == 0
    again = neardup("index", "create", path)
    assert again.returncode == 1
    assert "is an index already" in again.stderr


def test_adding_again_doubles_nothing(index, tmp_path):
    file = corpus(tmp_path / "a.jsonl", 0, 30)
    neardup("index", "add", index, file)
    done = neardup("index", "add", index, file, "--json")
    summary = json.loads(done.stdout)
    assert (summary["documents"], summary["changed"], summary["total"]) == (30, 0, 30)


def test_a_run_that_is_stopped_can_be_run_again(index, tmp_path):
    file = corpus(tmp_path / "a.jsonl", 0, 3000)
    reading = subprocess.Popen(
        [NEARDUP, "index", "add", str(index), "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    reading.stdin.write(file.read_bytes()[:100_000])
    reading.stdin.flush()
    time.sleep(1.5)
    reading.send_signal(signal.SIGINT)
    assert reading.wait(20) == 130
    assert b"neardup: stopped; " in reading.stderr.read()
    done = neardup("index", "add", index, file)
    assert "the index has 3,000" in done.stdout
    with nd.Index(index, readonly=True) as opened:
        assert sorted(opened.ids()) == sorted(f"d{n}" for n in range(3000))


def rows(path, first, last):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps({"text": text(n)}) + "\n" for n in range(first, last)))
    return path


def held(index):
    with nd.Index(index, readonly=True, create=False) as opened:
        return {id: opened.get(id).text for id in opened.ids()}


@pytest.mark.parametrize("option", [[], ["--id", "row"]])
def test_deliveries_without_ids_replace_nothing(index, tmp_path, option):
    first = rows(tmp_path / "a" / "rows.jsonl", 0, 20)
    second = rows(tmp_path / "b" / "rows.jsonl", 100, 120)
    for file in (first, second, first):
        done = neardup("index", "add", index, file, *option)
        assert done.returncode == 0, done.stderr
    assert "0 of them new or changed" in done.stdout  # the first again
    assert "the index has 40" in done.stdout
    expected = {f"{first}:{n}": text(n) for n in range(20)}
    expected |= {f"{second}:{n}": text(100 + n) for n in range(20)}
    assert held(index) == expected


def test_a_name_that_another_document_has_is_not_given_again(index, tmp_path):
    for folder, first in (("a", 0), ("b", 100)):
        rows(tmp_path / folder / "rows.jsonl", first, first + 20)
        done = neardup("index", "add", index, "rows.jsonl", cwd=tmp_path / folder)
    assert "20 documents without id renamed" in done.stdout
    again = neardup("index", "add", index, "./rows.jsonl", cwd=tmp_path / "b")
    assert "0 of them new or changed" in again.stdout
    assert "renamed" not in again.stdout
    found = held(index)
    assert sorted(found.values()) == sorted(text(n) for n in (*range(20), *range(100, 120)))
    assert found["rows.jsonl:7"] == text(7)
    assert sum(id.startswith("rows.jsonl:7#") for id in found) == 1


def test_deliveries_by_standard_input_and_folders_replace_nothing(index, tmp_path):
    for first in (0, 100):
        file = rows(tmp_path / "rows.jsonl", first, first + 5)
        done = neardup("index", "add", index, "-", input=file.read_text())
        assert done.returncode == 0, done.stderr
        folder = tmp_path / f"folder {first}"
        folder.mkdir()
        (folder / "page.txt").write_text(text(first + 50))
        assert neardup("index", "add", index, folder).returncode == 0
    expected = [*range(5), 50, *range(100, 105), 150]
    assert sorted(held(index).values()) == sorted(map(text, expected))


def test_dedup_leaves_an_index_that_keeps_every_delivery(tmp_path):
    index = tmp_path / "kept.index"
    for number, first in enumerate((0, 100)):
        file = rows(tmp_path / f"{number}" / "rows.jsonl", first, first + 20)
        out = tmp_path / f"out {number}"
        done = neardup("dedup", "rows.jsonl", "-o", out, "--index", index, cwd=file.parent)
        assert done.returncode == 0, done.stderr
    with nd.Index(index, create=False) as found:
        assert len(found) == 40
        kept = (*range(20), *range(100, 120))
        assert all(found.query(text(n))[0].similarity == 1 for n in kept)


def test_documents_of_other_inputs_are_replaced_only_if_asked(index, tmp_path):
    neardup("index", "add", index, corpus(tmp_path / "a.jsonl", 0, 30))
    lines = [{"id": f"d{n}", "text": text(n + (n in (3, 5)))} for n in range(40)]
    changed = tmp_path / "b.jsonl"
    changed.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = neardup("index", "add", index, changed)
    assert (done.returncode, done.stdout) == (1, "")
    assert "other content under 2 of the ids" in done.stderr
    assert "'d3'" in done.stderr
    assert "--replace" in done.stderr
    assert len(held(index)) == 30
    done = neardup("index", "add", index, changed, "--replace")
    assert "2 replaced" in done.stdout
    assert "the index has 40" in done.stdout
    assert held(index)["d3"] == text(4)
    assert neardup("index", "add", index, changed).returncode == 0  # nothing has changed


def test_delete_export_compact(index, tmp_path):
    neardup("index", "add", index, corpus(tmp_path / "a.jsonl", 0, 10))
    done = neardup("index", "delete", index, "d3", "none")
    assert (done.returncode, "'none'" in done.stderr) == (1, True)
    done = neardup("index", "delete", index, "d3", "d4")
    assert "2 documents removed; the index has 8" in done.stdout
    assert neardup("index", "compact", index).returncode == 0
    prints = tmp_path / "f.parquet"
    assert neardup("index", "export", index, "-o", prints).returncode == 0
    assert nd.Fingerprints.load(prints).ids.to_pylist() == [
        f"d{n}" for n in (0, 1, 2, *range(5, 10))
    ]
    assert neardup("index", "export", index, "-o", tmp_path / "f.jsonl").returncode == 0
    first = json.loads((tmp_path / "f.jsonl").read_text().splitlines()[0])
    assert abs(first.pop("added") - time.time()) < 60
    assert first == {
        "id": "d0",
        "words": 20,
        "fingerprint": nd.fingerprint([text(0)]).hex()[0],
        "text": text(0),
    }
    assert neardup("index", "export", index, "-o", tmp_path / "f.txt").returncode == 1


def test_stats(index, tmp_path):
    neardup("index", "add", index, corpus(tmp_path / "a.jsonl", 0, 8))
    neardup("index", "check", index, "this one does not live for long", "--ttl", "0.01")
    time.sleep(0.02)
    stats = json.loads(neardup("index", "stats", index, "--json").stdout)
    assert stats["documents"] == 9
    assert stats["finds"].startswith("jaccard ≥ 0.8")
    assert sum(part["documents"] for part in stats["segments"]) == 9
    assert stats["bytes_per_document"] == stats["bytes"]["file"] / 9
    assert abs(stats["oldest"] - time.time()) < 60
    assert stats["oldest"] <= stats["newest"]
    assert stats["added"] == {"hour": 9, "day": 9, "week": 9}
    assert (stats["expired"], stats["largest_buckets"]) == (1, [])
    said = neardup("index", "stats", index).stdout
    assert said.startswith("9 documents of nd1/word:3/set/64\nfinds jaccard ≥ 0.8")
    assert "per document" in said
    assert "9 in the last hour" in said
    assert "1 expired" in said
    assert time.strftime("%Y-%m-%d", time.gmtime(stats["newest"])) in said


def test_stats_of_an_empty_index_and_of_one_by_distance(index, tmp_path):
    assert neardup("index", "stats", index).stdout.startswith("0 documents")
    assert (
        json.loads(neardup("index", "stats", index, "--json").stdout)["bytes_per_document"] is None
    )
    other = tmp_path / "d.index"
    assert "finds blocks:3" in neardup("index", "create", other, "--max-distance", 3).stdout
    neardup("index", "add", other, corpus(tmp_path / "a.jsonl", 0, 8))
    assert "largest buckets" in neardup("index", "stats", other).stdout


def test_documents_expire(tmp_path):
    index = tmp_path / "x.index"
    assert neardup("index", "create", index, "--ttl", "0.5s").returncode == 0
    neardup("index", "add", index, corpus(tmp_path / "a.jsonl", 0, 3))
    neardup("index", "add", index, corpus(tmp_path / "b.jsonl", 3, 5), "--ttl", "7d")
    exported = tmp_path / "f.jsonl"
    neardup("index", "export", index, "-o", exported)
    lines = map(json.loads, exported.read_text().splitlines())
    lives = [line["expires"] - line["added"] for line in lines]
    assert lives == pytest.approx([0.5] * 3 + [7 * 86400] * 2, abs=0.01)
    time.sleep(0.6)
    assert neardup("index", "query", index, text(1)).stdout == "no match\n"
    done = neardup("index", "expire", index)
    assert done.stdout == "3 expired documents removed; the index has 2\n"
    assert "0 expired documents" in neardup("index", "expire", index).stdout


def test_a_backup_is_an_index(index, tmp_path):
    neardup("index", "add", index, corpus(tmp_path / "a.jsonl", 0, 20))
    copy = tmp_path / "copy"
    done = neardup("index", "backup", index, copy)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(rf"20 documents, [\d.]+ kB → {copy}\n", done.stdout)
    assert held(copy) == held(index)
    assert "d7" in neardup("index", "query", copy, text(7)).stdout
    again = neardup("index", "backup", index, copy)
    assert (again.returncode, "replaces nothing" in again.stderr) == (1, True)
    none = neardup("index", "backup", tmp_path / "none", tmp_path / "other")
    assert (none.returncode, "there is no index" in none.stderr) == (1, True)
    assert not (tmp_path / "other").exists()


def test_an_index_of_format_1_is_upgraded(tmp_path):
    index = tmp_path / "old.index"
    shutil.copytree(FIXTURE, index)
    assert neardup("index", "query", index, text(7)).stdout == "7\t0\t1.0000\n"
    assert "1,200 documents" in neardup("index", "stats", index).stdout
    new = corpus(tmp_path / "a.jsonl", 2000, 2003)
    for arguments in (["add", index, new], ["check", index, text(2000)], ["delete", index, "7"]):
        done = neardup("index", *arguments)
        assert done.returncode == (2 if arguments[0] == "check" else 1)
        assert "neardup index upgrade" in done.stderr
    never = neardup("index", "check", index, text(7), "--add", "never", "--id", "x")
    assert (never.returncode, never.stdout) == (1, "seen\tx\t7\t1.0000\n")
    done = neardup("index", "upgrade", index)
    assert done.stdout == f"{index} is neardup index 2, with 1,200 documents\n"
    assert "already" in neardup("index", "upgrade", index).stdout
    assert "the index has 1,203" in neardup("index", "add", index, new).stdout
    assert neardup("index", "query", index, text(7)).stdout == "7\t0\t1.0000\n"
    assert neardup("index", "query", index, text(2001)).stdout == "d2001\t0\t1.0000\n"


def test_numbers_are_ids_too(index, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": 17, "text": "one two three"}\n')
    neardup("index", "add", index, file)
    assert neardup("index", "delete", index, "17").returncode == 0


def test_errors_are_sentences(index, tmp_path):
    near = tmp_path / "near.index"
    neardup("index", "create", near, "--max-distance", 3)
    for arguments, code, says in [
        (["create", index], 1, "is an index already"),
        (["query", tmp_path / "none", "x"], 1, "there is no index"),
        (["query", index, "x", "-i", "y"], 2, "not both"),
        (["query", index, "x", "--id", "y"], 2, "--input"),
        (["query", near, "x", "--max-distance", "9"], 2, "blocks:3"),
        (["query", near, "x", "--threshold", "0.9"], 2, "store"),
        (["query", index, "x", "--max-distance", "3"], 2, "by similarity"),
        (["query", index, "x", "--threshold", "0.5"], 2, "from 0.8"),
        (["add", tmp_path, "x.jsonl"], 1, "not an index"),
        (["add", near, SAMPLE, "--ttl", "3d"], 2, "ttl"),
        (["create", tmp_path / "y", "--plan", "rotate:3"], 2, "cannot be used by an index"),
        (["create", tmp_path / "y", "--threshold", "2"], 2, "above 0, at most 1"),
        (["create", tmp_path / "y", "--threshold", "0.9", "--max-distance", "3"], 2, "one of them"),
        (["create", tmp_path / "y", "--complete", "--plan", "blocks:3"], 2, "one of them"),
        (["create", tmp_path / "y", "--ttl", "3d", "--max-distance", "3"], 2, "one of them"),
        (["create", tmp_path / "y", "--ttl", "soon"], 2, "amount of time"),
        (["expire", tmp_path / "none"], 1, "there is no index"),
        (["upgrade", tmp_path / "none"], 1, "there is no index"),
        (["upgrade", tmp_path], 1, "not an index"),
    ]:
        done = neardup("index", *arguments)
        assert done.returncode == code, (arguments, done.stderr)
        assert says in done.stderr, (arguments, done.stderr)
        assert done.stderr.startswith("neardup: "), arguments
        assert done.stderr.count("\n") == 1, arguments
    assert not os.path.exists(tmp_path / "y")


@pytest.mark.parametrize("how", [[], ["--similarity", "hamming", "--threshold", "3"]])
def test_dedup_leaves_an_index_and_takes_one(tmp_path, how):
    index, out = tmp_path / "seen.index", tmp_path / "out"
    old = corpus(tmp_path / "old.jsonl", 0, 40)
    old.write_text(old.read_text() + json.dumps({"id": "copy", "text": text(5)}) + "\n")
    done = neardup("dedup", old, "-o", out, "--index", index, "--overwrite", *how)
    assert done.returncode == 0, done.stderr
    with nd.Index(index) as opened:
        assert list(opened.ids()) == [f"d{n}" for n in range(40)]
    new = corpus(tmp_path / "new.jsonl", 30, 60)
    arguments = ["dedup", new, "-o", out, "--against", index, "--overwrite", *how]
    done = neardup(*arguments, "--index", index)
    assert done.returncode == 0, done.stderr
    kept = pq.read_table(out / "kept.parquet")["id"].to_pylist()
    assert kept == [f"d{n}" for n in range(40, 60)]
    clusters = pq.read_table(out / "clusters.parquet")
    assert clusters["duplicate_of"].to_pylist() == [f"d{n}" for n in range(30, 40)]
    with nd.Index(index) as opened:
        assert len(opened) == 60
    assert neardup(*arguments).returncode == 0
    assert pq.read_table(out / "kept.parquet").num_rows == 0


def test_dedup_against_an_index_that_cannot_tell(tmp_path):
    index, new = tmp_path / "x.index", corpus(tmp_path / "new.jsonl", 0, 3)
    nd.Index(index, max_distance=3).close()
    done = neardup("dedup", new, "-o", tmp_path / "out", "--against", index)
    assert (done.returncode, "stores no texts" in done.stderr) == (2, True)
    done = neardup("dedup", new, "-o", tmp_path / "out", "--against", index, "--bits", 128)
    assert (done.returncode, "nd1/word:3/set/128" in done.stderr) == (1, True)
