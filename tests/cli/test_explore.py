"""`neardup explore`: where it listens, how it is told to end, and what it opens."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

import neardup as nd

NEARDUP = str(Path(sys.executable).with_name("neardup"))
TEXT = "the quick brown fox jumps over the lazy dog near the river bank at dawn"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explore")
    rows = [{"id": name, "text": TEXT} for name in "ab"]
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    nd.dedup(str(folder / "in.jsonl")).save(folder / "out")
    return folder / "out"


class Started:
    """A running `neardup explore`, which has printed its address."""

    def __init__(self, *arguments, **options):
        self.process = subprocess.Popen(
            [NEARDUP, "explore", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        self.said = ""
        while "http://" not in self.said:
            line = self.process.stderr.readline()
            assert line, f"it ended: {self.said}"
            self.said += line
        self.address = re.search(r"http://\S+", self.said)[0]

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.process.kill()
        self.process.communicate()

    def get(self, path=""):
        with urllib.request.urlopen(self.address + path) as answer:
            return answer.read().decode()

    def end(self, number=signal.SIGTERM):
        """Its exit code and what it printed since the address."""
        self.process.send_signal(number)
        printed, told = self.process.communicate()
        return self.process.returncode, printed, told


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_until_it_is_told_to_end(out, number):
    with Started(out, "--no-browser", "--port", "0") as started:
        assert started.address.startswith("http://127.0.0.1:")
        assert "2 documents: 1 removed, 1 kept" in started.get()
        assert "read-only" not in started.get()
        assert started.end(number) == (0, "", "")


def test_without_a_run_it_opens_the_laboratory():
    with Started("--no-browser", "--port", "0") as started:
        assert "neardup explores the laboratory on" in started.said
        assert "<h1>Laboratory</h1>" in started.get()
        assert started.end() == (0, "", "")


def test_it_ends_while_a_browser_holds_a_connection(out):
    with Started(out, "--no-browser", "--port", "0") as started:
        port = int(started.address.split(":")[2].strip("/"))
        with socket.create_connection(("127.0.0.1", port)) as link:
            link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert link.recv(15) == b"HTTP/1.1 200 OK"
            assert started.end()[0] == 0


def test_the_index_is_built_once(out):
    with Started(out, "--no-browser", "--port", "0"):
        pass
    with Started(out, "--no-browser", "--port", "0") as again:
        assert "explore:" not in again.said


def test_read_only(out):
    with Started(out, "--no-browser", "--port", "0", "--read-only") as started:
        assert "read-only" in started.get()


def test_who_decides(out):
    with Started(out, "--no-browser", "--port", "0", "--by", "Ann <b>") as started:
        assert "Ann &lt;b&gt;" in started.get("review")


def test_a_port_that_is_taken_is_an_error(out):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [NEARDUP, "explore", out, "--no-browser", "--port", str(port)],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert f"neardup: port {port} is in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_no_run(tmp_path):
    done = subprocess.run(
        [NEARDUP, "explore", tmp_path, "--no-browser"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "neardup: " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_browser_is_opened_without_our_signals(out, tmp_path, monkeypatch):
    """The program in BROWSER gets the address; it can be ended as usual."""
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(
        f"#!{sys.executable}\nimport signal, sys, pathlib\n"
        "blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [])\n"
        f"pathlib.Path({str(opened)!r}).write_text(f'{{sys.argv[1]}} {{len(blocked)}}\\n')\n"
    )
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    with Started(out, "--port", "0") as started:
        while not (opened.exists() and opened.read_text().endswith("\n")):
            time.sleep(0.01)
        assert opened.read_text() == f"{started.address} 0\n"


def test_without_a_screen_no_browser_takes_the_terminal(out, monkeypatch):
    for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with Started(out, "--port", "0") as started:
        assert "2 documents" in started.get()
