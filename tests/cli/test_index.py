"""`neardup index`, and `neardup dedup` with an index, as processes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.index.texts import text

import neardup as nd

NEARDUP = str(Path(sys.executable).with_name("neardup"))


def neardup(*arguments, **options):
    return subprocess.run(
        [NEARDUP, *map(str, arguments)], capture_output=True, text=True, check=False, **options
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
    assert "nd1/word:3/set/64, blocks:3" in done.stdout
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
    assert sorted(held(index).values()) == sorted(text(n) for n in (*range(20), *range(100, 120)))


def test_what_given_ids_replace_is_counted(index, tmp_path):
    neardup("index", "add", index, corpus(tmp_path / "a.jsonl", 0, 30))
    lines = [{"id": f"d{n}", "text": text(n + (n < 4))} for n in range(30)]
    changed = tmp_path / "b.jsonl"
    changed.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = neardup("index", "add", index, changed)
    assert "4 replaced" in done.stdout
    assert "the index has 30" in done.stdout


def test_delete_stats_export_compact(index, tmp_path):
    neardup("index", "add", index, corpus(tmp_path / "a.jsonl", 0, 10))
    done = neardup("index", "delete", index, "d3", "none")
    assert (done.returncode, "'none'" in done.stderr) == (1, True)
    done = neardup("index", "delete", index, "d3", "d4")
    assert "2 documents removed; the index has 8" in done.stdout
    assert neardup("index", "compact", index).returncode == 0
    stats = json.loads(neardup("index", "stats", index, "--json").stdout)
    assert (stats["documents"], stats["tables"]) == (8, 4)
    assert "8 documents of nd1/word:3/set/64" in neardup("index", "stats", index).stdout
    prints = tmp_path / "f.parquet"
    assert neardup("index", "export", index, "-o", prints).returncode == 0
    assert nd.Fingerprints.load(prints).ids.to_pylist() == [
        f"d{n}" for n in (0, 1, 2, *range(5, 10))
    ]
    assert neardup("index", "export", index, "-o", tmp_path / "f.jsonl").returncode == 0
    first = json.loads((tmp_path / "f.jsonl").read_text().splitlines()[0])
    assert first == {
        "id": "d0",
        "words": 20,
        "fingerprint": nd.fingerprint([text(0)]).hex()[0],
        "text": text(0),
    }
    assert neardup("index", "export", index, "-o", tmp_path / "f.txt").returncode == 1


def test_numbers_are_ids_too(index, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": 17, "text": "one two three"}\n')
    neardup("index", "add", index, file)
    assert neardup("index", "delete", index, "17").returncode == 0


def test_errors_are_sentences(index, tmp_path):
    for arguments, code, says in [
        (["create", index], 1, "is an index already"),
        (["query", tmp_path / "none", "x"], 1, "there is no index"),
        (["query", index, "x", "-i", "y"], 2, "not both"),
        (["query", index, "x", "--max-distance", "9"], 2, "blocks:3"),
        (["add", tmp_path, "x.jsonl"], 1, "not an index"),
        (["create", tmp_path / "y", "--plan", "rotate:3"], 2, "cannot be used by an index"),
    ]:
        done = neardup("index", *arguments)
        assert done.returncode == code, arguments
        assert says in done.stderr, arguments
        assert done.stderr.startswith("neardup: "), arguments
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
    nd.Index(index).close()
    done = neardup("dedup", new, "-o", tmp_path / "out", "--against", index)
    assert (done.returncode, "store_text" in done.stderr) == (2, True)
    done = neardup("dedup", new, "-o", tmp_path / "out", "--against", index, "--bits", 128)
    assert (done.returncode, "nd1/word:3/set/128" in done.stderr) == (1, True)
