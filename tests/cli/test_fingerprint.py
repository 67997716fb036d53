"""`neardup fingerprint` as a process: arguments, output and exit code."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli import forked

import neardup as nd

NEARDUP = str(Path(sys.executable).with_name("neardup"))


def neardup(*arguments, **options):
    if not options:
        return forked.neardup(*arguments)
    return subprocess.run(
        [NEARDUP, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"id": "a", "text": "one two three"}\n{"id": "b", "text": ""}\n')
    return path


def test_it_prints_what_it_did(corpus, tmp_path):
    done = neardup("fingerprint", corpus, "-o", tmp_path / "f.parquet")
    assert done.returncode == 0, done.stderr
    assert "2 documents (1 empty)" in done.stdout
    assert "documents/s" in done.stdout
    assert "MB/s" in done.stdout
    assert "nd1/word:3/set/64" in done.stdout
    assert done.stderr == ""


def test_json_for_machines(corpus, tmp_path):
    done = neardup("fingerprint", corpus, "-o", tmp_path / "f.parquet", "--bits", 128, "--json")
    summary = json.loads(done.stdout)
    assert summary["scheme"] == "nd1/word:3/set/128"
    assert (summary["documents"], summary["empty"], summary["rejected"]) == (2, 1, 0)


def test_standard_input_and_row_ids(tmp_path):
    done = neardup(
        *("fingerprint", "-", "-o", tmp_path / "f.parquet", "--id", "row"),
        input='{"id": 7, "text": "x y z"}\n{"id": 7, "text": "z y x"}\n',
    )
    assert done.returncode == 0, done.stderr
    assert nd.Fingerprints.load(tmp_path / "f.parquet").ids.to_pylist() == [0, 1]


def test_rejected_rows_are_told(corpus, tmp_path):
    corpus.write_bytes(b'{"id": 1, "text": "\xff"}\n{"id": 2, "text": "fine"}\n')
    done = neardup("fingerprint", corpus, "-o", tmp_path / "f.parquet")
    assert done.returncode == 0
    assert "1 row rejected" in done.stderr
    assert (tmp_path / "f.rejected.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["{corpus}", "-o", "{out}", "--features", "sentence"], 2, "word:3"),
        (["{corpus}", "-o", "{out}", "--bits", "5000"], 2, "1 to 4096"),
        (["{corpus}", "-o", "{out}", "--threads", "0"], 2, "from 1 to 1,024"),
        (["{corpus}", "-o", "{out}", "--weights", "idfs"], 2, "set or count"),
        (["{corpus}"], 2, "--output"),
        (["no-such-file.jsonl", "-o", "{out}"], 1, "no-such-file.jsonl"),
        (["{corpus}", "-o", "{out}", "--text", "body"], 1, "body"),
        (["{corpus}", "-o", "no/such/folder/f.parquet"], 1, "cannot write"),
    ],
)
def test_bad_use_is_one_sentence(corpus, tmp_path, arguments, code, said):
    places = {"corpus": corpus, "out": tmp_path / "f.parquet"}
    done = neardup("fingerprint", *(argument.format(**places) for argument in arguments))
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "f.parquet").exists()


def test_a_warning_is_a_sentence_too(corpus, tmp_path):
    (tmp_path / "file").write_text("no folder")
    environment = {**os.environ, "NEARDUP_CACHE": str(tmp_path / "file" / "cache")}
    arguments = ("fingerprint", corpus, "-o", tmp_path / "f.parquet", "--projection", "sphere:4x8")
    done = neardup(*arguments, env=environment)
    assert done.returncode == 0
    assert done.stderr.startswith("neardup: the sphere 4x8 cannot be cached")
    assert done.stderr.count("\n") == 1


def test_interrupting_leaves_nothing_behind(tmp_path):
    output = tmp_path / "f.parquet"
    process = subprocess.Popen(
        [NEARDUP, "fingerprint", "-", "-o", str(output)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write('{"text": "the first of many"}\n')
    process.stdin.flush()
    deadline = time.monotonic() + 20
    while not os.listdir(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)  # until the unfinished output shows that the run has started
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130  # before the input ends, which is another way to end
    _, stderr = process.communicate()
    assert stderr == f"neardup: stopped; {output} was not written\n"
    assert os.listdir(tmp_path) == []
