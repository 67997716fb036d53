"""What the benchmark of the similarity index measures: collections, tools, sizes, ways to check."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks import similar_index_tools as tools
from benchmarks.similar_index_once import ARXIV, DJANGO, EDITS, LICENCES

BENCHMARK = "similar_index"
RECALL, SPEED, CHECK, GROWTH = "recall", "speed", "check", "growth"
PARTS = (RECALL, SPEED, CHECK, GROWTH)
CORPORA = (ARXIV, DJANGO, LICENCES, EDITS)
THRESHOLDS, THRESHOLD = (0.7, 0.8, 0.9), 0.8
RECALL_TOOLS = (
    *(tools.MEMORY, tools.COMPLETE, tools.OLD),
    *(peer for peer in tools.PEERS if peer != tools.REDIS),
)
SPEED_TOOLS = (*tools.OURS, tools.OLD, *tools.PEERS)
MILLION = 10**6
EVERYTHING = 10**9


@dataclass(frozen=True)
class Scale:
    """How much is measured; `many` is for neardup, `few` for peers, which take longer."""

    speed: tuple[int, ...]
    growth: tuple[int, ...]
    stored: int
    checks: int
    many: int
    few: int
    edits: int
    texts: int = EVERYTHING
    thresholds: tuple[float, ...] = THRESHOLDS


FULL = Scale(
    speed=(10**5, MILLION),
    growth=(10**4, 10**5, MILLION, 10**7),
    stored=MILLION,
    checks=20_000,
    many=10_000,
    few=2_000,
    edits=20_000,
)
SMALL = Scale(
    speed=(2_000,),
    growth=(1_000, 2_000),
    stored=2_000,
    checks=200,
    many=100,
    few=50,
    edits=400,
    texts=200,
    thresholds=(THRESHOLD,),
)


@dataclass(frozen=True)
class Mode:
    """One way to check pages against a folder."""

    name: str
    sync: bool = True
    threads: int = 1
    batch: int = 0
    processes: int = 1


DURABLE, THREADS, UNSYNCED, BATCHES = (
    Mode("one caller"),
    Mode("16 threads", threads=16),
    Mode("one caller, sync=False", sync=False),
    Mode("check_many, 1,000 a batch", batch=1_000),
)
PROCESSES = Mode("4 processes", processes=4)
MODES = (
    *(DURABLE, THREADS, UNSYNCED, BATCHES, PROCESSES),
    Mode("4 processes, sync=False", sync=False, processes=4),
)
