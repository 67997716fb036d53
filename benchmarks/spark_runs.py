"""What the benchmark of the Spark engine measures: collections, masters, parts."""

from __future__ import annotations

from dataclasses import dataclass

BENCHMARK = "spark"
MILLION = 10**6
WORDS = 60
THRESHOLD = 0.8

LOCAL = "local engine"
LOCAL_1, LOCAL_2 = "local[1]", "local[2]"
ONE_EXECUTOR, TWO_EXECUTORS = "standalone, 1 executor", "standalone, 2 executors"
FINE = "local[2], small splits"
EXECUTORS_KILLED, DRIVER_KILLED = "executors and workers killed", "driver killed and resumed"
CORES = {LOCAL_1: 1, LOCAL_2: 2, ONE_EXECUTOR: 1, TWO_EXECUTORS: 2, FINE: 2}
STANDALONE = (ONE_EXECUTOR, TWO_EXECUTORS)

ARXIV, DJANGO, RUSTDOC, LICENCES = "arXiv abstracts", "Django docs", "rustdoc", "licences"
REAL = (ARXIV, DJANGO, LICENCES, RUSTDOC)

MILLION_PART, REAL_PART, GROWTH_PART, KILLS_PART = "million", "real", "growth", "kills"
PARTS = (MILLION_PART, REAL_PART, GROWTH_PART, KILLS_PART)

# The tables of a run that must be those of the local engine.
TABLES = ("kept", "removed", "pairs", "clusters")


@dataclass(frozen=True)
class Scale:
    """Numbers of generated documents: of the main contest and of growth.

    `scaled` documents are also run by one and by two executors: Java compiles for the first half
    minute, which tells more in a short run.

    `killed` are the collections of runs with kills: rustdoc has giant families, whose stages the
    generated documents do not need.

    `fine` documents are also run in splits of `fine_bytes` each, so that the cost of a task and of
    a message can be told from that of text.
    """

    million: int
    growth: tuple[int, ...]
    longest: int
    scaled: int
    killed: tuple[int | str, ...]
    fine: int
    fine_bytes: tuple[int, ...]


FULL = Scale(
    million=MILLION,
    growth=(10**5, 3 * 10**5, 3 * MILLION),
    longest=5 * MILLION,
    scaled=3 * MILLION,
    killed=(3 * 10**5, RUSTDOC),
    fine=3 * 10**5,
    fine_bytes=(1 << 20, 1 << 22),
)
SMALL = Scale(
    million=10**4,
    growth=(2_000, 5_000, 20_000),
    longest=40_000,
    scaled=20_000,
    killed=(10**4,),
    fine=5_000,
    fine_bytes=(1 << 17, 1 << 18),
)


def generated_name(n: int) -> str:
    """Such as `10^6 × 60 words`."""
    digits = f"{n:,}"
    power = len(str(n)) - 1
    if n == 10**power:
        digits = f"10^{power}"
    elif n % 10**power == 0:
        digits = f"{n // 10**power}·10^{power}"
    return f"{digits} × {WORDS} words"


def fine_name(split_bytes: int) -> str:
    """Such as `local[2], small splits of 1.0 MB`."""
    return f"{FINE} of {split_bytes / 1e6:.2g} MB"


def cores_of(where: str) -> int:
    """The cores that the tasks of a run have together."""
    return CORES[FINE] if where.startswith(FINE) else CORES[where]
