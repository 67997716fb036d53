"""The server beside services that people write: checks, queries, adding in bulk.

Everything is on loopback; each server is started in a new folder, and loaded by wrk and curl.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks import measure, serve_bodies as bodies, serve_load
from benchmarks.result import Json, Result, package_versions, today
from benchmarks.serve_load import Load
from benchmarks.serve_processes import REPOSITORY, Server, start_neardup, start_peer
from benchmarks.serve_runs import (
    ADD_ARROW,
    ADD_LINES,
    ALONE,
    BATCH,
    BATCHES,
    BENCHMARK,
    BULK,
    CHECK,
    CHECK_BESIDE,
    FULL,
    INDEX,
    LIBRARY,
    PACED,
    PARTS,
    PAUSE_MILLISECONDS,
    PEER_BATCH,
    PEER_LOADS,
    PEER_PACKAGES,
    PEERS,
    QUERY,
    QUERY_BESIDE,
    SERVER,
    SMALL,
    THRESHOLD,
    WORKERS,
    Scale,
)
from benchmarks.similar_index import _sync_microseconds

PACKAGES = ("uvicorn", "starlette", "fastapi", "datasketch", "simhash")
CONNECTIONS, HALF = 16, 8
# Requests a second that one connection or a paced load never reach.
FEW = 2_500
IS_NEW, NO_MATCH = '"is_new":true', '"matches":[]'


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    chosen = _options().parse_args(arguments)
    if why := serve_load.absent():
        print(f"the server is not measured: {why}", file=sys.stderr)
        return
    scale = _scale(chosen)
    rows, dates = _kept(chosen)
    with tempfile.TemporaryDirectory(prefix="neardup-bench-", dir=chosen.scratch) as folder:
        bench = Bench(scale, Path(folder))
        measured: dict[str, Callable[[], Iterator[Json]]] = {
            LIBRARY: bench.library,
            SERVER: bench.server,
            **{peer: (lambda peer=peer: bench.peer(peer)) for peer in PEERS},  # type: ignore[misc]
        }
        absent = {tool: why for tool in PEERS if (why := _absent(tool))}
        for part in (PARTS[short] for short in chosen.parts):
            if part in absent:
                print(f"{part} is left out: {absent[part]}", file=sys.stderr)
                continue
            rows += [{"tool": part, **_rounded(row)} for row in measured[part]()]
            dates[part] = today()
        conditions = {
            "n": scale.n,
            "rounds": scale.rounds,
            "seconds": scale.seconds,
            "workers": WORKERS,
            "threshold": THRESHOLD,
            "peer_seconds": scale.peer_seconds,
            "sync_microseconds": _sync_microseconds(chosen.scratch),
            "dates": dates,
            "absent": absent,
        }
    Result.of(BENCHMARK, arguments, _versions(), conditions, rows).save(chosen.out)


class Bench:
    """The measurements of one run, with their files in one folder."""

    def __init__(self, scale: Scale, folder: Path) -> None:
        self.scale = scale
        self.folder = folder
        self.turn = 0

    def library(self) -> Iterator[Json]:
        """Add the pages without a server."""
        for name, lines in ((ADD_ARROW, None), (ADD_LINES, str(self._lines()))):
            best = min(self._added(lines) for _ in range(self._fill_rounds()))
            yield {"row": name, **_added(self.scale.n, best)}

    def _added(self, lines: str | None) -> float:
        index = self.folder / "library.index"
        task = {"folder": str(index), "n": self.scale.n, "threshold": THRESHOLD, "lines": lines}
        command = [sys.executable, "-m", "benchmarks.serve_once", json.dumps(task)]
        _say(f"{LIBRARY}: {ADD_ARROW if lines is None else ADD_LINES}")
        done = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            raise SystemExit(f"{' '.join(command)} ended with {done.returncode}")
        shutil.rmtree(index)
        return float(json.loads(done.stdout)["seconds"])

    def server(self) -> Iterator[Json]:
        """Fill a server by one stream, and load it."""
        server, spent = self._filled_server()
        try:
            for _ in range(self._fill_rounds() - 1):
                server.stop()
                server, again = self._filled_server()
                spent = min(spent, again)
            yield {"row": BULK, **_added(self.scale.n, spent)}
            path = f"/v1/indexes/{INDEX}"
            yield from self._loads(server, f"{path}/query", f"{path}/query", f"{path}/check")
            yield from self._beside(server, f"{path}/query", f"{path}/check")
        finally:
            server.stop()

    def _filled_server(self) -> tuple[Server, float]:
        data, answers = self.folder / "data", self.folder / "answers"
        shutil.rmtree(data, ignore_errors=True)
        lines = self._lines()
        server = start_neardup(data, self.folder / "server.log", WORKERS)
        try:
            serve_load.call(server.port, "PUT", f"/v1/indexes/{INDEX}", {"threshold": THRESHOLD})
            _say(f"{SERVER}: {BULK} of {self.scale.n:,} pages")
            path = f"/v1/indexes/{INDEX}/documents"
            spent = serve_load.stream(server, path, lines, answers)
            stored = _count(answers, b'"stored":true')
            told = serve_load.call(server.port, "GET", f"/v1/indexes/{INDEX}")["documents"]
            if (stored, told) != (self.scale.n, self.scale.n):
                raise SystemExit(
                    f"of {self.scale.n} pages {stored} were answered as stored, and the index "
                    f"has {told}"
                )
            answers.unlink()
        except BaseException:
            server.stop()
            raise
        return server, spent

    def peer(self, tool: str) -> Iterator[Json]:
        """Fill a peer by JSON batches within its time, and load it."""
        server = start_peer(PEERS[tool], self.folder / "peer.log")
        try:
            # What a peer could never take within its time need not be made.
            most = min(self.scale.n, int(self.scale.peer_seconds * FEW))
            batches = bodies.batches(bodies.stored(most), PEER_BATCH)
            file = self.folder / "fill.bodies"
            bodies.write_bodies(file, batches)
            _say(f"{tool}: {BULK}")
            sent, spent, reason = serve_load.send_batches(
                server, "/documents", file, self.scale.peer_seconds
            )
            file.unlink()
            n = min(most, sent * PEER_BATCH)
            stopped = {} if reason is None else {"stopped": reason}
            yield {"row": BULK, **_added(n, spent), **stopped}
            for row in self._loads(server, "/query", "/query_many", "/check", PEER_LOADS, n):
                yield {**row, **stopped}
        finally:
            server.stop()

    def _loads(
        self,
        server: Server,
        query: str,
        query_many: str,
        check: str,
        names: Sequence[str] = (QUERY, BATCHES, CHECK, PACED, ALONE),
        n: int | None = None,
    ) -> Iterator[Json]:
        """Each kind of load for some rounds; the best is the one with the most requests."""
        held = n or self.scale.n
        asked, asked_many = self.folder / "query.bodies", self.folder / "queries.bodies"
        checked, warm = self.folder / "check.bodies", self.folder / "warm.bodies"
        kinds = {
            QUERY: Load(query, asked, CONNECTIONS, True, 0, NO_MATCH),
            BATCHES: Load(query_many, asked_many, CONNECTIONS, True),
            CHECK: Load(check, checked, CONNECTIONS, False, 0, IS_NEW),
            PACED: Load(check, checked, CONNECTIONS, False, PAUSE_MILLISECONDS, IS_NEW),
            ALONE: Load(check, checked, 1, False, 0, IS_NEW),
        }
        bodies.write_bodies(asked, self._mixed(held, self.scale.asked))
        bodies.write_bodies(asked_many, bodies.batches(self._mixed(held, self.scale.asked), BATCH))
        bodies.write_bodies(warm, self._mixed(held, self.scale.asked))
        for name in names:
            load = kinds[name]
            warming = load if load.again else replace(load, bodies=warm, again=True)
            if self.scale.warm_seconds:
                serve_load.run(server, warming, self.scale.warm_seconds)
            done = []
            for _ in range(self.scale.rounds):
                if not load.again:
                    self._write_checks(checked, held, self.scale.most if name == CHECK else FEW)
                _say(name)
                done.append(serve_load.run(server, load, self.scale.seconds))
            row = max(done, key=lambda each: float(each["requests_per_second"]))
            errors = sum(each["errors"] for each in done)
            if name == BATCHES:
                row["documents_per_second"] = row["requests_per_second"] * BATCH
            yield {"row": name, "n": held, **row, "errors": errors}

    def _beside(self, server: Server, query: str, check: str) -> Iterator[Json]:
        """Queries and checks at the same time."""
        asked, checked = self.folder / "query.bodies", self.folder / "check.bodies"
        loads = [
            Load(query, asked, HALF, True, 0, NO_MATCH),
            Load(check, checked, HALF, False, 0, IS_NEW),
        ]
        done = []
        for _ in range(self.scale.rounds):
            self._write_checks(checked, self.scale.n, self.scale.most)
            _say(QUERY_BESIDE)
            done.append(serve_load.run_together(server, loads, self.scale.seconds))
        best = max(done, key=lambda rows: sum(float(row["requests_per_second"]) for row in rows))
        for place, (name, row) in enumerate(zip((QUERY_BESIDE, CHECK_BESIDE), best, strict=True)):
            errors = sum(rows[place]["errors"] for rows in done)
            yield {"row": name, "n": self.scale.n, **row, "errors": errors}

    def _write_checks(self, path: Path, n: int, most: int) -> None:
        bodies.write_bodies(path, self._mixed(n, most * (self.scale.seconds + 1)))

    def _mixed(self, n: int, count: int) -> Iterator[Json]:
        """Pages that no load before this one had."""
        self.turn += 1
        return bodies.mixed(n, count, self.turn)

    def _lines(self) -> Path:
        """The stored pages as NDJSON; made once."""
        path = self.folder / "pages.ndjson"
        if not path.exists():
            _say(f"making {self.scale.n:,} pages")
            bodies.write_lines(path, bodies.stored(self.scale.n))
        return path

    def _fill_rounds(self) -> int:
        """Filling takes long: twice at most."""
        return min(self.scale.rounds, 2)


def _options() -> Any:
    parser = measure.options(BENCHMARK, __doc__, rounds=None)
    parser.add_argument("--n", type=int, help="documents that are stored first (10^6)")
    parser.add_argument("--seconds", type=int, help="of each load (10)")
    parser.add_argument("--rounds", type=int, help="rounds to take the best of (3)")
    parser.add_argument("--limit", type=float, help="seconds for a peer to be filled (300)")
    parser.add_argument("--most", type=int, help="make bodies for so many checks a second (8000)")
    parser.add_argument(
        "--parts",
        nargs="+",
        choices=PARTS,
        default=tuple(PARTS),
        help="measure these only, and keep what the last result says of the others",
    )
    parser.add_argument("--scratch", type=Path, help="folder for indexes (the system's)")
    parser.add_argument("--small", action="store_true", help="2,000 documents, to try it out")
    return parser


def _scale(chosen: Any) -> Scale:
    scale = SMALL if chosen.small else FULL
    given = {
        "n": chosen.n,
        "seconds": chosen.seconds,
        "rounds": chosen.rounds,
        "peer_seconds": chosen.limit,
        "most": chosen.most,
    }
    return replace(scale, **{name: value for name, value in given.items() if value is not None})


def _kept(chosen: Any) -> tuple[list[Json], dict[str, str]]:
    """The rows of the parts that are not measured now, and when they were."""
    if not (chosen.out / f"{BENCHMARK}.json").exists():
        return [], {}
    before = Result.load(BENCHMARK, chosen.out)
    parts = [PARTS[short] for short in chosen.parts]
    dates = before.conditions["dates"]
    return (
        [row for row in before.rows if row["tool"] not in parts],
        {part: dates[part] for part in dates if part not in parts},
    )


def _absent(tool: str) -> str | None:
    """Why a peer cannot be measured here; None if it can."""
    missing = [package for package in PEER_PACKAGES[tool] if find_spec(package) is None]
    if missing:
        return f"{' and '.join(missing)} not installed: pip install -e '.[bench]'"
    return None


def _versions() -> dict[str, str]:
    found = package_versions(["neardup"])
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            print(f"{package} is not installed", file=sys.stderr)
    said = subprocess.run(["wrk", "-v"], capture_output=True, check=False, text=True).stdout
    return {**found, "wrk": said.split()[1].removeprefix("debian/")}


def _added(n: int, seconds: float) -> Json:
    return {"n": n, "seconds": seconds, "documents_per_second": n / seconds}


def _rounded(row: Json) -> Json:
    return {name: round(v, 4) if isinstance(v, float) else v for name, v in row.items()}


def _count(path: Path, mark: bytes) -> int:
    """How often a mark is in a file of lines."""
    with path.open("rb") as file:
        return sum(mark in line for line in file)


def _say(what: str) -> None:
    print(what, file=sys.stderr)


if __name__ == "__main__":
    main()
