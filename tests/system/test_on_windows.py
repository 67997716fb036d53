"""The branches for Windows, run as far as possible in processes that resemble one there."""

import json
import os
import pkgutil
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import neardup

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCE = Path(neardup.__file__).parent
START = [sys.executable, str(HERE / "on_windows.py")]

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="there the whole suite runs these branches"
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    text = "one two three four five six seven eight nine ten eleven twelve\n"
    for number, name in enumerate(["a.txt", "b.txt", "c.txt"]):
        (tmp_path / "in" / name).write_text(text * 3 + f"{number} ≥ ×\n", encoding="utf-8")
    return tmp_path


def run(folder, *arguments, code=0, **options):
    done = subprocess.run([*START, *arguments], cwd=folder, capture_output=True, **options)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout.decode(), done.stderr.decode()


def started(folder, *arguments):
    return subprocess.Popen(
        [*START, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_every_module_is_imported(tmp_path):
    left_out = ("neardup.service", "neardup.__main__", "neardup.spark", "neardup.contrib")
    names = [
        module.name
        for module in pkgutil.walk_packages([str(SOURCE)], "neardup.")
        if not module.name.startswith((*left_out, "neardup.system.windows"))
    ]
    assert len(names) > 300
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from on_windows import become_windows\n"
        "become_windows()\n"
        "from importlib import import_module\n"
        "for name in sys.argv[2:]: import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(HERE), *names], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()[-2000:]


def test_dedup_and_explain(folder):
    run(folder, "dedup", "in", "-o", "out")
    assert pq.read_table(folder / "out" / "kept.parquet").column("id").to_pylist() == ["a.txt"]
    summary = json.loads((folder / "out" / "summary.json").read_bytes())
    assert summary["peak_megabytes"] > 1
    said, _ = run(folder, "explain", "out", "b.txt")
    assert "a.txt" in said
    run(folder, "dedup", "in", "-o", "out", "--overwrite")
    run(folder, "dedup", "in", "-o", "other", "--resume")
    assert sorted(os.listdir(folder)) == ["in", "other", "out"]


def test_backslashes_become_slashes(folder):
    (folder / "in" / "deep").mkdir()
    (folder / "in" / "a.txt").rename(folder / "in" / "deep" / "a.txt")
    run(folder, "dedup", "in\\deep", "in\\*.txt", "-o", "out")
    ids = pq.read_table(folder / "out" / "documents.parquet").column("id").to_pylist()
    assert ids == ["in/deep/a.txt", "in/b.txt", "in/c.txt"]


def test_index_check(folder):
    run(folder, "index", "create", "idx")
    for expected in ("new", "known"):
        said, _ = run(folder, "index", "check", "idx", "a text of some words", "--id", "1")
        assert said.split("\t")[0] in {expected, "new", "same", "known", "unchanged"}
    said, _ = run(folder, "index", "query", "idx", "a text of some words")
    assert said.split("\t")[0] == "1"


def test_tune_and_passages(folder):
    run(folder, "tune", "in")
    run(folder, "passages", "in", "-o", "out")
    assert (folder / "out" / "families.parquet").exists()


def test_utf8_is_printed_whatever_the_locale(folder):
    said, _ = run(
        folder, "dedup", "in", "-o", "out", env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"}
    )
    assert "≥" in said
    assert "→" in said


def test_serve_says_where_it_runs(folder):
    _, told = run(folder, "serve", "data", code=1)
    assert told == "neardup: neardup serve needs Linux or macOS; on Windows, run it in WSL\n"


def test_explore_answers_until_ctrl_c(folder):
    run(folder, "dedup", "in", "-o", "out")
    process = started(folder, "explore", "out", "--port", "0", "--no-browser")
    lines = iter(process.stderr.readline, b"")
    address = next(found[0] for line in lines if (found := re.search(rb"http://\S+", line)))
    with urllib.request.urlopen(address.decode() + "clusters") as page:
        assert b"a.txt" in page.read()
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0
    process.stdout.close(), process.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGUSR1])
def test_an_interrupted_run_leaves_nothing(folder, number):
    big = folder / "big.jsonl"
    with big.open("w", encoding="utf-8") as lines:
        for place in range(60_000):
            words = " ".join(str(place * k % 99_991) for k in range(1, 60))
            lines.write(json.dumps({"id": place, "text": words}) + "\n")
    process = started(folder, "dedup", "big.jsonl", "-o", "out")
    assert process.stderr.readline()  # the features are done
    time.sleep(0.05)
    process.send_signal(number)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 128 + number, told
    assert told.endswith(b"neardup: stopped; out was not written\n")
    assert sorted(os.listdir(folder)) == ["big.jsonl", "in"]


def test_what_a_killed_run_left_is_removed(folder):
    hidden = folder / ".out.neardup-unfinished-abcdefgh"
    hidden.mkdir()
    (hidden / "half").write_bytes(b"1")
    (folder / (hidden.name + ".lock")).touch()
    (folder / ".out.neardup-unfinished-12345678.lock").touch()  # its folder was removed already
    run(folder, "dedup", "in", "-o", "out")
    assert sorted(os.listdir(folder)) == ["in", "out"]


def test_a_second_run_with_resume_is_refused(folder):
    process = subprocess.run(
        [
            *(sys.executable, "-c"),
            "import sys; sys.path.insert(0, sys.argv[1])\n"
            "from on_windows import become_windows\n"
            "become_windows()\n"
            "from neardup.atomic import WorkFolder\n"
            "import subprocess\n"
            "held = WorkFolder('out')\n"
            "second = subprocess.run([*sys.argv[2:], 'dedup', 'in', '-o', 'out', '--resume'],\n"
            "                        capture_output=True)\n"
            "print(second.returncode, second.stderr.decode())\n",
            str(HERE),
            *START,
        ],
        cwd=folder,
        capture_output=True,
    )
    assert process.stdout.startswith(b"1 "), process.stderr.decode()
    assert b"another run with --resume is writing out" in process.stdout
