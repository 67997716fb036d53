"""Load from a second process: wrk for requests, curl for one long stream."""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.result import Json
from benchmarks.serve_bodies import read_bodies
from benchmarks.serve_processes import HOST, Server

SCRIPT = Path(__file__).with_name("serve_load.lua")
TIMEOUT_SECONDS = 60
STREAM_SECONDS = 1_800


@dataclass(frozen=True)
class Load:
    """Requests to one path: bodies from a file over so many connections.

    `pause` is the mean of the milliseconds that a connection waits between an answer and its next
    request. Answers that contain `mark` are counted. Without `again`, running out of bodies ends
    the benchmark.
    """

    path: str
    bodies: Path
    connections: int = 16
    again: bool = False
    pause: int = 0
    mark: str = ""


def absent() -> str | None:
    """Why there can be no load here; None if there can."""
    for program in ("wrk", "curl"):
        if shutil.which(program) is None:
            return f"{program} is not installed: apt install {program}"
    return None


def run(server: Server, load: Load, seconds: int) -> Json:
    """Send requests for some seconds."""
    return run_together(server, [load], seconds)[0]


def run_together(server: Server, loads: list[Load], seconds: int) -> list[Json]:
    """Send several kinds of requests at the same time; CPU time is that of the server for all."""
    before, cpu = time.perf_counter(), server.cpu_seconds()
    started = [_start(server, load, seconds) for load in loads]
    try:
        said = [each.communicate(timeout=seconds + TIMEOUT_SECONDS)[0] for each in started]
    except BaseException:
        for each in started:
            each.kill()
        raise
    used, spent = server.cpu_seconds() - cpu, time.perf_counter() - before
    rows = []
    for load, text, each in zip(loads, said, started, strict=True):
        if each.returncode:
            raise SystemExit(f"{load.path}: wrk ended with {text.strip()!r}; {server.state()}")
        rows.append(_row(load, json.loads(text.splitlines()[-1])))
    requests = sum(row["requests"] for row in rows)
    for row in rows:
        row["server_cpu_microseconds"] = used / max(1, requests) * 1e6
        row["server_cores"] = used / spent
    return rows


def _start(server: Server, load: Load, seconds: int) -> subprocess.Popen[str]:
    command = ["wrk", "-t1", f"-c{load.connections}", f"-d{seconds}s"]
    command += ["--timeout", f"{TIMEOUT_SECONDS}s", "-s", str(SCRIPT), server.url, "--"]
    told = [load.path, str(load.bodies), "again" if load.again else "once", str(load.pause)]
    return subprocess.Popen(
        [*command, *told, load.mark], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def _row(load: Load, counted: Json) -> Json:
    if counted["repeated"]:
        raise SystemExit(f"{load.bodies.name} has too few bodies for {load.path}: give --most more")
    errors = sum(counted["statuses"].values()) + counted["failed_connections"] + counted["timeouts"]
    seconds = counted["seconds"]
    return {
        "connections": load.connections,
        "requests": counted["requests"],
        "requests_per_second": counted["requests"] / seconds,
        **{name: float(counted[name]) for name in counted if name.endswith("_milliseconds")},
        "errors": errors,
        "statuses": counted["statuses"],
        **({"marked": counted["marked"] / max(1, counted["requests"])} if load.mark else {}),
    }


def stream(server: Server, path: str, lines: Path, answers: Path) -> float:
    """Send a file of NDJSON in one request; the seconds until the last answer is there."""
    command = ["curl", "-sS", "--fail-with-body", "-X", "POST", "-T", str(lines)]
    command += ["-H", "Expect:", "-H", "Content-Type: application/x-ndjson"]
    started = time.perf_counter()
    done = subprocess.run(
        [*command, "-m", str(STREAM_SECONDS), "-o", str(answers), f"{server.url}{path}"],
        capture_output=True,
        check=False,
        text=True,
    )
    spent = time.perf_counter() - started
    if done.returncode:
        with answers.open("rb") as file:
            raise SystemExit(f"POST {path}: {done.stderr.strip()} {file.read(2_000)!r}")
    return spent


def send_batches(
    server: Server, path: str, bodies: Path, most_seconds: float
) -> tuple[int, float, str | None]:
    """Send one body after the other, within some seconds: how many were taken, the seconds, and
    what ended it before the last one.
    """
    connection = http.client.HTTPConnection(HOST, server.port, timeout=most_seconds + 60)
    sent, started, reason = 0, time.perf_counter(), None
    for body in read_bodies(bodies):
        if time.perf_counter() - started > most_seconds:
            reason = f"stopped after {most_seconds:g} seconds"
            break
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        said = answer.read()
        if answer.status != 200:
            raise SystemExit(f"POST {path} gave {answer.status}: {said[:500]!r}")
        sent += 1
    connection.close()
    return sent, time.perf_counter() - started, reason


def call(port: int, method: str, path: str, body: Json | None = None) -> Json:
    """One request with a JSON answer, which must be 2xx."""
    connection = http.client.HTTPConnection(HOST, port, timeout=TIMEOUT_SECONDS)
    content = None if body is None else json.dumps(body)
    headers = {} if body is None else {"Content-Type": "application/json"}
    connection.request(method, path, content, headers)
    answer = connection.getresponse()
    said = answer.read()
    connection.close()
    if answer.status >= 300:
        raise SystemExit(f"{method} {path} gave {answer.status}: {said[:500]!r}")
    found: Json = json.loads(said)
    return found
