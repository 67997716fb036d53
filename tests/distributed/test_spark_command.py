"""`neardup dedup --engine spark`: the files of the local command, also after it was stopped."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.forked import neardup
from tests.distributed.both_engines import assert_same_output
from tests.distributed.planted import columns, planted, write_jsonl, write_parquet

if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java, and there is none", allow_module_level=True)
pytest.importorskip("pyspark", reason="Spark needs pyspark")

NEARDUP = str(Path(sys.executable).with_name("neardup"))
ROWS = planted(150)
# For short runs the better compiler of Java does not pay.
JAVA = "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SPARK = ("--engine", "spark", "--master", "local[2]", "--conf", JAVA)
PATIENCE = 120  # seconds; only a broken program takes that long


class Command:
    """A running command in a session of its own, as one that a terminal runs."""

    def __init__(self, folder, *arguments):
        self.process = subprocess.Popen(
            [NEARDUP, *map(str, arguments)],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def wait_for(self, file: Path) -> None:
        """Wait until there is a file."""
        deadline = time.monotonic() + PATIENCE
        while not file.exists():
            assert self.process.poll() is None, self.process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def ended(self) -> tuple[int, str, str]:
        """Exit code and output, when all processes of the command have gone."""
        out, err = self.process.communicate(timeout=PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while processes_of(self.process.pid):
            assert time.monotonic() < deadline, "Java was left behind"
            time.sleep(0.05)
        return self.process.returncode, out, err


def processes_of(group: int) -> list[int]:
    """The processes of a group that still run, as far as /proc tells."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # After the name, which may hold anything: state, parent, group.
            state, _, its_group = file.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state not in "ZX":
                found.append(int(file.parent.name))
    return found


def test_a_run_that_was_interrupted_and_killed_gives_the_files_of_the_local_command(tmp_path):
    write_parquet(tmp_path / "a.parquet", columns(ROWS, "text", "quality", id=int))
    others = columns(ROWS[20:50], "text", id=lambda number: f"other{number}")
    write_jsonl(tmp_path / "b.jsonl", others)
    command = [
        *("dedup", "a.parquet", "--against", "b.jsonl", "--within", "--keep", "max:quality"),
        *("--weights", "tfidf", "--threshold", "0.6", "--pairs", "all"),
        *("--copies", "--format", "jsonl"),
    ]
    local = neardup(*command, "-o", "local", cwd=tmp_path)
    assert local.returncode == 0, local.stderr
    before = set(os.listdir(tmp_path))
    resumed = (*command, "-o", "out", "--work", "work", "--resume", *SPARK)
    done = tmp_path / "work" / "done"

    interrupted = Command(tmp_path, *resumed)
    interrupted.wait_for(done / "copies")
    os.killpg(interrupted.process.pid, signal.SIGINT)  # as Ctrl-C in a terminal
    code, out, err = interrupted.ended()
    assert code == 128 + signal.SIGINT
    assert out == ""
    assert beside_stages(err) == [
        "neardup: stopped; out was not written; --resume goes on after the stages that are complete"
    ]
    assert not (tmp_path / "out").exists()

    killed = Command(tmp_path, *resumed)
    killed.wait_for(done / "candidates")
    killed.process.kill()
    assert killed.ended()[0] == -signal.SIGKILL
    assert not (tmp_path / "out").exists()

    code, out, err = Command(tmp_path, *resumed).ended()
    assert code == 0, err
    assert_same_output(tmp_path / "local", tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_bytes())
    assert summary["resumed"][:4] == ["idf", "copies", "keep column", "candidates"]
    assert set(os.listdir(tmp_path)) == before | {"out"}
    assert out.splitlines()[0] == local.stdout.splitlines()[0]
    assert out.splitlines()[-1].endswith("→ out")
    assert all("taken over" in line for line in beside_stages(err)), err


def beside_stages(err: str) -> list[str]:
    """The lines of standard error that do not tell how long a stage took."""
    return [line for line in err.splitlines() if not line.endswith(" s")]


def test_a_master_that_is_none_is_a_sentence(tmp_path):
    write_jsonl(tmp_path / "a.jsonl", columns(ROWS[:9], "text", id=int))
    options = ("--engine", "spark", "--master", "nonsense", "--conf", JAVA, "-q")
    code, out, err = Command(tmp_path, "dedup", "a.jsonl", "-o", "out", *options).ended()
    assert code == 1
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("neardup: Spark could not be started on nonsense (")
    assert err.endswith("check --master and --conf\n")
    assert os.listdir(tmp_path) == ["a.jsonl"]
