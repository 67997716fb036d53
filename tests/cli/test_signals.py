"""Every interrupted command: one sentence, the right exit code, and no partial output."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import neardup as nd

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="looks at a process by /proc"
)

NEARDUP = str(Path(sys.executable).with_name("neardup"))
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
PROBE = re.compile("[a-z0-9_]{8}")  # the file with which Python's tempfile tests a folder
PATIENCE = 60  # seconds; only a broken program takes that long


class Run:
    """A running command in `box`, with temporary files in `tmp` and an open standard input."""

    def __init__(self, place, *arguments, **options):
        self.box, self.tmp = place / "box", place / "tmp"
        for folder in (self.box, self.tmp):
            folder.mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [NEARDUP, *map(str, arguments)],
            cwd=self.box,
            env={**os.environ, "TMPDIR": str(self.tmp)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def wait_for(self, seen):
        """Wait until something is seen or the process has ended."""
        deadline = time.monotonic() + PATIENCE
        while not seen() and self.process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def watches(self):
        """Whether the program has installed its signal handling."""
        with contextlib.suppress(FileNotFoundError):
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            blocked = int(status.partition("SigBlk:")[2].split()[0], 16)
            return bool(blocked >> (signal.SIGTERM - 1) & 1)
        return False

    def leftovers(self):
        hidden = [name for name in os.listdir(self.box) if name.startswith(".")]
        return hidden + [name for name in os.listdir(self.tmp) if not PROBE.fullmatch(name)]

    def stop(self, number):
        self.process.send_signal(number)
        self.process.wait(PATIENCE)  # with its standard input still open
        return self.process.stderr.read().decode()


@pytest.mark.parametrize("number", SIGNALS)
def test_during_imports(tmp_path, number):
    run = Run(tmp_path, "dedup", "-", "-o", "out")
    run.wait_for(run.watches)
    said = run.stop(number)
    assert run.process.returncode == 128 + number
    assert said.startswith("neardup: stopped; ")
    assert said.count("\n") == 1
    assert os.listdir(run.box) == run.leftovers() == []


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("dedup", "-", "-o", "out"), "out"),
        (("fingerprint", "-", "-o", "f.parquet"), "f.parquet"),
    ],
)
def test_while_it_reads(tmp_path, number, arguments, output):
    run = Run(tmp_path, *arguments)
    run.process.stdin.write(b'{"text": "the first of many"}\n')
    run.process.stdin.flush()
    run.wait_for(run.leftovers)
    assert run.leftovers()
    assert run.stop(number) == f"neardup: stopped; {output} was not written\n"
    assert run.process.returncode == 128 + number
    assert os.listdir(run.box) == run.leftovers() == []


def many_rows(path, count=30_000):
    rows = ({"id": n, "text": f"number {n} of many, as others are"} for n in range(count))
    path.write_text("\n".join(map(json.dumps, rows)))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_while_it_replaces_an_output(tmp_path, number):
    many_rows(tmp_path / "in.jsonl")
    (tmp_path / "box").mkdir()
    nd.dedup(["a b c"]).save(tmp_path / "box" / "out")
    before = (tmp_path / "box" / "out" / "summary.json").read_bytes()
    for _ in range(5):  # until the signal arrives during the run
        run = Run(tmp_path, "dedup", tmp_path / "in.jsonl", "-o", "out", "--overwrite")
        run.wait_for(run.leftovers)
        said = run.stop(number)
        if run.process.returncode:
            break
        before = (run.box / "out" / "summary.json").read_bytes()
    assert (run.box / "out" / "summary.json").read_bytes() == before
    if number == signal.SIGKILL:
        assert run.process.returncode == -signal.SIGKILL
        subprocess.run(
            [NEARDUP, "dedup", "-", "-o", run.box / "out", "--overwrite", "--quiet"],
            input=b'{"text": "x"}\n',
            env={**os.environ, "TMPDIR": str(run.tmp)},
            check=True,
        )
    else:
        assert run.process.returncode == 128 + number
        assert said.splitlines()[-1] == "neardup: stopped; out was not written"
        assert "Traceback" not in said
    assert os.listdir(run.box) == ["out"]
    assert run.leftovers() == []


def test_an_index_says_how_much_it_has_for_good(tmp_path):
    many_rows(tmp_path / "in.jsonl", 250_000)  # about 65,000 are committed at a time
    path = tmp_path / "box" / "x.index"
    path.parent.mkdir()
    nd.Index(path).close()
    for wait in (0.0, 0.2, 1.0, 5.0):  # a commit is visible a moment before it is reported
        run = Run(tmp_path, "index", "add", "x.index", "-")
        run.process.stdin.write((tmp_path / "in.jsonl").read_bytes())
        run.process.stdin.flush()
        with nd.Index(path, readonly=True) as index:
            run.wait_for(lambda index=index: len(index) > 0)
            time.sleep(wait)
            said = run.stop(signal.SIGTERM)
            held = len(index)
        assert run.process.returncode == 143
        told = int(said.removeprefix("neardup: stopped; ").split()[0].replace(",", ""))
        assert said.endswith(
            " documents of this run are stored in x.index; run the same command again to add the "
            "rest\n"
        )
        if told:
            break
    assert 0 < told <= held < 250_000
    assert run.leftovers() == []


def test_an_ignored_signal_stays_ignored(tmp_path):
    run = Run(
        tmp_path,
        *("fingerprint", "-", "-o", "f.parquet"),
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    run.wait_for(run.leftovers)
    run.process.send_signal(signal.SIGHUP)
    _, said = run.process.communicate(b'{"text": "one"}\n', timeout=PATIENCE)
    assert (run.process.returncode, said) == (0, b"")
    assert os.listdir(run.box) == ["f.parquet"]


def test_signals_one_after_the_other(tmp_path):
    run = Run(tmp_path, "fingerprint", "-", "-o", "f.parquet")
    run.wait_for(run.leftovers)
    while run.process.poll() is None:
        for number in SIGNALS:
            run.process.send_signal(number)
    assert run.process.returncode in [128 + number for number in SIGNALS]
    assert run.process.stderr.read() == b"neardup: stopped; f.parquet was not written\n"
    assert run.leftovers() == []


def test_no_file_gets_the_number_of_a_closed_descriptor(tmp_path):
    """What is printed would go into it."""
    path = tmp_path / "box" / "x.index"
    path.parent.mkdir()
    with nd.Index(path) as index:
        index.add("a", "some words of a text")
    run = Run(tmp_path, "index", "add", "x.index", "-", preexec_fn=lambda: os.close(2))
    files = Path(f"/proc/{run.process.pid}/fd")

    def is_open():
        with contextlib.suppress(FileNotFoundError):  # files come and go
            return any("data.mdb" in os.readlink(file) for file in files.iterdir())
        return False

    run.wait_for(is_open)
    assert os.readlink(files / "2") == "/dev/null"
    assert run.stop(signal.SIGTERM) == ""
    assert run.process.returncode == 143
    with nd.Index(path, readonly=True) as index:
        assert list(index.ids()) == ["a"]


def test_a_name_cannot_steer_the_terminal(tmp_path):
    run = Run(tmp_path, "fingerprint", "-", "-o", "f\x1b[31m.parquet")
    run.wait_for(run.leftovers)
    assert run.stop(signal.SIGINT) == ("neardup: stopped; f\\x1b[31m.parquet was not written\n")


def test_a_full_pipe_does_not_keep_it_alive(tmp_path):
    run = Run(tmp_path, "fingerprint", "-", "-o", "f.parquet")
    run.wait_for(run.leftovers)
    into = os.open(f"/proc/{run.process.pid}/fd/2", os.O_WRONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(into, b"x" * 4096)
    os.close(into)
    run.process.send_signal(signal.SIGTERM)
    assert run.process.wait(PATIENCE) == 143
    assert run.leftovers() == []


def test_nobody_reads_what_is_printed(tmp_path):
    for arguments in (("presets",), ("curve", "--plan", "bands:2x4")):
        run = Run(tmp_path, *arguments)
        run.process.stdout.close()
        assert run.process.wait(PATIENCE) == 141
        assert run.process.stderr.read() == b""


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
def test_what_is_printed_finds_no_room():
    for arguments in (("presets",), ("curve", "--plan", "bands:2x4")):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [NEARDUP, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 1
        assert done.stderr.startswith("neardup: cannot write standard output")
        assert done.stderr.count("\n") == 1
