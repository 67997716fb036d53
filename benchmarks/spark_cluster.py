"""A standalone Spark cluster on loopback: a master, and workers with one core each.

A worker and its executor stay on their core, as in a container: Java would use others, too.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

LOOPBACK = "127.0.0.1"
WORKER_MEMORY = "4g"
_START_SECONDS = 90
_PACKAGE = "org.apache.spark.deploy"


def absent() -> str | None:
    """Why Spark cannot run here; None if it can."""
    if find_spec("pyspark") is None:
        return "PySpark is not installed: pip install -e '.[spark]'"
    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        return "Java is not installed"
    if not Path("/proc/self/stat").exists():
        return "CPU time is read from /proc, which this system does not have"
    return None


def settings(events: Path) -> dict[str, str]:
    """Settings of a measured run: on loopback, with an event log that can be read as text."""
    events.mkdir(parents=True, exist_ok=True)
    return {
        "spark.driver.host": LOOPBACK,
        "spark.driver.bindAddress": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": events.resolve().as_uri(),
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }


def environment(folder: Path) -> dict[str, str]:
    """Variables of all processes of Spark: loopback, and temporary files in this folder."""
    local = folder / "spark-local"
    local.mkdir(parents=True, exist_ok=True)
    return {"SPARK_LOCAL_IP": LOOPBACK, "SPARK_LOCAL_DIRS": os.fspath(local)}


@contextmanager
def cluster(workers: int, folder: Path) -> Iterator[str]:
    """Start a master and workers; its URL. Their logs and files are in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    master_log = folder / "master.log"
    started: list[subprocess.Popen[bytes]] = []
    try:
        given = ["--host", LOOPBACK, "--port", "0", "--webui-port", "0"]
        started.append(_start("master.Master", given, master_log, folder))
        url = _awaited(started, master_log, r"Starting Spark master at (spark://\S+)")[0]
        for number in range(workers):
            given = ["--host", LOOPBACK, "--cores", "1", "--memory", WORKER_MEMORY]
            given += ["--webui-port", "0", "--work-dir", f"{folder}/worker-{number}", url]
            started.append(_start("worker.Worker", given, folder / f"worker-{number}.log", folder))
            cores = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(started[-1].pid, {cores[number % len(cores)]})
        _awaited(started, master_log, r"(Registering worker)", workers)
        yield url
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _start(name: str, given: list[str], log: Path, folder: Path) -> subprocess.Popen[bytes]:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    home = Path(spec.origin).parent
    with log.open("wb") as said:
        return subprocess.Popen(
            [home / "bin" / "spark-class", f"{_PACKAGE}.{name}", *given],
            env={**os.environ, "SPARK_HOME": os.fspath(home), **environment(folder)},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )


def _awaited(
    processes: list[subprocess.Popen[bytes]], log: Path, pattern: str, times: int = 1
) -> list[str]:
    """What a log says, once it has said it so many times."""
    until = time.monotonic() + _START_SECONDS
    while True:
        text = log.read_text(encoding="utf-8", errors="replace")
        found: list[str] = re.findall(pattern, text)
        if len(found) >= times:
            return found
        if any(one.poll() is not None for one in processes) or time.monotonic() > until:
            raise SystemExit(f"the Spark cluster did not start: {text[-2000:].strip()}")
        time.sleep(0.1)
