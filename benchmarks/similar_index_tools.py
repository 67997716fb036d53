"""The indexes that are compared: neardup's, and how each peer is used at its best.

Every index gets pages and is asked for a page by its text, so that cutting it into runs of three
words and sketching it are part of a query. Peers get Python strings that were made before the clock
starts, and words cut at white space. A peer is used twice: with its own parameters for the
threshold, and, where its name says `for recall`, with the bands that find 0.999 of the pairs at
the threshold.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from math import ceil, log
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.dedup_peers import SKETCH, WORDS, bands_for

MEMORY, FOLDER, COMPLETE = "neardup, memory", "neardup, folder", "neardup, complete"
OLD = "neardup, max_distance=3"
DATASKETCH, REDIS, GAOYA, RENSA = "datasketch", "datasketch, Redis", "gaoya", "rensa"
FOR_RECALL = ", for recall"
OURS = (MEMORY, FOLDER, COMPLETE)
PEERS = (
    *(DATASKETCH, REDIS, GAOYA, RENSA),
    *(f"{peer}{FOR_RECALL}" for peer in (DATASKETCH, GAOYA, RENSA)),
)
OLD_DISTANCE = 3
MISSED = 0.0008
# gaoya drops what it estimates below the threshold; with few hashes it is often mistaken.
ALLOWANCE = 0.2
SERVER_SECONDS = 20
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")

Rows = Sequence[int]


@dataclass(frozen=True)
class Pages:
    """Pages to add: the number of the first one, and their texts."""

    first: int
    texts: pa.ChunkedArray

    @cached_property
    def strings(self) -> list[str]:
        """The texts as Python strings."""
        return list(self.texts.to_pylist())

    @property
    def rows(self) -> range:
        """The numbers of the pages."""
        return range(self.first, self.first + len(self.texts))


@dataclass
class Tool:
    """An index: `ask` gives what it gives, and `rows` the numbers of the pages in that."""

    add: Callable[[Pages], object]
    ask: Callable[[str], Any]
    ask_many: Callable[[list[str]], Iterable[Any]]
    rows: Callable[[Any], Rows] = list
    ready: Callable[[], object] = lambda: None
    cpu_seconds: Callable[[], float] = time.process_time
    megabytes: Callable[[], float] = lambda: held_megabytes(os.getpid())
    sizes: Callable[[], dict[str, int]] = dict
    close: Callable[[], object] = lambda: None
    wants_strings: bool = True


def absent(tool: str) -> str | None:
    """Why a tool cannot be measured here; None if it can."""
    package = tool.split(",")[0]
    if package != "neardup" and find_spec(package) is None:
        return f"{package} is not installed: pip install -e '.[bench]'"
    if tool == REDIS and find_spec("redis") is None:
        return "the Python client of Redis is not installed: pip install redis"
    if tool == REDIS and shutil.which("redis-server") is None:
        return "redis-server is not installed"
    return None


def bands(threshold: float) -> tuple[int, int]:
    """Bands and rows that miss less than one pair in a thousand at the threshold.

    >>> bands(0.8)
    (14, 4)
    """
    rows = 3 if threshold < 0.75 else 4 if threshold < 0.85 else 6
    return ceil(log(MISSED) / log(1 - threshold**rows)), rows


def make(name: str, threshold: float, folder: Path, limit: int | None = 10) -> Tool:
    """An empty index by its name; `limit` is how many matches neardup gives at most."""
    if name == FOLDER:
        return _in_folder(threshold, folder, limit)
    if name.startswith("neardup"):
        return _in_memory(name, threshold, limit)
    peer = name.removesuffix(FOR_RECALL)
    chosen = bands(threshold) if name.endswith(FOR_RECALL) else None
    if peer == GAOYA:
        return _gaoya(threshold, chosen)
    if peer == RENSA:
        return _rensa(threshold, chosen)
    if peer == REDIS:
        return _redis(threshold, folder)
    return _datasketch(threshold, chosen)


def _in_memory(name: str, threshold: float, limit: int | None) -> Tool:
    import neardup as nd

    settings: dict[str, Any] = {"threshold": threshold}
    if name == OLD:
        settings = {"max_distance": OLD_DISTANCE}
    elif name == COMPLETE:
        settings["complete"] = True
    index = nd.MemoryIndex(**settings, threads=1)

    def add(pages: Pages) -> None:
        index.add_many(pa.table({"id": pa.array(pages.rows, pa.int64()), "text": pages.texts}))

    return Tool(
        add,
        index.query,
        lambda texts: index.query_many(texts, limit=limit),
        lambda matches: [match.id for match in matches],
        sizes=lambda: dict(index.stats().bytes),
        wants_strings=False,
    )


def _in_folder(threshold: float, folder: Path, limit: int | None) -> Tool:
    """With strings for ids; opened again before it is asked."""
    import neardup as nd

    path = folder / "pages.index"
    held: list[Any] = [nd.Index(path, threshold=threshold, threads=1)]

    def add(pages: Pages) -> None:
        ids = pa.array([page_id(row) for row in pages.rows])
        held[0].add_many(pa.table({"id": ids, "text": pages.texts}))

    def ready() -> None:
        held[0].close()
        held[0] = nd.Index(path, threads=1)
        tool.ask = held[0].query

    def sizes() -> dict[str, int]:
        return {**held[0].stats().bytes, "disk": disk_bytes(path)}

    tool = Tool(
        add,
        held[0].query,
        lambda texts: held[0].query_many(texts, limit=limit),
        lambda matches: [page_row(match.id) for match in matches],
        ready=ready,
        sizes=sizes,
        close=lambda: held[0].close(),
        wants_strings=False,
    )
    return tool


def page_id(row: int) -> str:
    """The id of a page in a folder."""
    return f"page-{row:08d}"


def page_row(id: str) -> int:
    """The number of the page with this id."""
    return int(id.removeprefix("page-"))


def disk_bytes(path: Path) -> int:
    """The blocks of the disk that a folder takes; a file with holes takes less than its size."""
    return sum(file.stat().st_blocks * 512 for file in path.rglob("*") if file.is_file())


def _datasketch(
    threshold: float, chosen: tuple[int, int] | None, storage: dict[str, Any] | None = None
) -> Tool:
    from datasketch import MinHash, MinHashLSH
    from xxhash import xxh32_intdigest

    size = chosen[0] * chosen[1] if chosen else SKETCH
    index = MinHashLSH(
        threshold=threshold, num_perm=size, params=chosen, storage_config=storage, prepickle=False
    )

    def sketches(texts: Iterable[str]) -> Any:
        return MinHash.bulk(map(WORDS.encoded, texts), num_perm=size, hashfunc=xxh32_intdigest)

    def sketch(text: str) -> Any:
        made = MinHash(num_perm=size, hashfunc=xxh32_intdigest)
        made.update_batch(WORDS.encoded(text))
        return made

    def add(pages: Pages) -> None:
        with index.insertion_session() as session:
            for row, each in zip(pages.rows, sketches(pages.strings), strict=True):
                session.insert(row if storage is None else str(row).encode(), each)

    return Tool(
        add,
        lambda text: index.query(sketch(text)),
        lambda texts: map(index.query, sketches(texts)),
        list if storage is None else lambda answer: [int(key) for key in answer],
    )


def _redis(threshold: float, folder: Path) -> Tool:
    """The same with its tables in a Redis server, whose time and memory count as well."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = f"redis-server --bind 127.0.0.1 --port {port} --appendonly no --dir {folder}".split()
    server = subprocess.Popen([*command, "--save", ""], stdout=subprocess.DEVNULL)
    try:
        _wait_for(server, port)
        storage = {"type": "redis", "redis": {"host": "127.0.0.1", "port": port}}
        tool = _datasketch(threshold, None, storage)
    except BaseException:
        _stop(server)
        raise
    tool.cpu_seconds = lambda: time.process_time() + _cpu_seconds(server.pid)
    tool.megabytes = lambda: held_megabytes(os.getpid()) + held_megabytes(server.pid)
    tool.close = lambda: _stop(server)
    return tool


def _wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + SERVER_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"redis-server does not answer on port {port}")


def _stop(server: subprocess.Popen[bytes]) -> None:
    server.terminate()
    server.wait()


def _gaoya(threshold: float, chosen: tuple[int, int] | None) -> Tool:
    """The analyzer in Rust; without `chosen`, bands are its own choice for the threshold."""
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        jaccard_threshold=threshold - ALLOWANCE if chosen else threshold,
        num_bands=chosen[0] if chosen else None,
        band_size=chosen[1] if chosen else None,
        num_hashes=SKETCH,
        analyzer=WORDS.unit,
        lowercase=True,
        ngram_range=(WORDS.size, WORDS.size),
        id_container="smallvec",
    )
    return Tool(
        lambda pages: index.par_bulk_insert_docs(list(pages.rows), pages.strings),
        index.query,
        index.par_bulk_query,
    )


def _rensa(threshold: float, chosen: tuple[int, int] | None) -> Tool:
    from rensa import RMinHash, RMinHashLSH

    size = chosen[0] * chosen[1] if chosen else SKETCH
    index = RMinHashLSH(
        threshold=threshold, num_perm=size, num_bands=chosen[0] if chosen else bands_for(threshold)
    )

    def sketches(texts: Iterable[str]) -> Any:
        return RMinHash.from_token_sets(map(WORDS.encoded, texts), num_perm=size, seed=42)

    def ask(text: str) -> Any:
        sketch = RMinHash(num_perm=size, seed=42)
        sketch.update(WORDS.encoded(text))
        return index.query(sketch)

    return Tool(
        lambda pages: index.insert_many(sketches(pages.strings), start_key=pages.first),
        ask,
        lambda texts: index.query_all(sketches(texts)),
    )


def held_megabytes(pid: int) -> float:
    """The memory of a process that no file lies behind, in megabytes."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("RssAnon"))


def _cpu_seconds(pid: int) -> float:
    """The processor's time that a process has used; its name, in brackets, may hold spaces."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS
