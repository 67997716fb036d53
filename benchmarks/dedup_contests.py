"""The contests of the whole job: the collections, who takes part, and what is to be reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import dedup_corpora, dedup_real
from benchmarks.dedup_corpora import Collection
from benchmarks.dedup_once import BEFORE, TEXT_DEDUP, TWO_THREADS
from benchmarks.dedup_peers import KEPT_ONLY, PACKAGES

THRESHOLD = 0.7
FASTEST = ("rensa", "gaoya")
FASTEST_KEPT_ONLY = tuple(f"{peer}{KEPT_ONLY}" for peer in FASTEST)
EVERY_PEER = (*PACKAGES, *(f"{peer}{KEPT_ONLY}" for peer in PACKAGES), TEXT_DEDUP)


@dataclass(frozen=True)
class Goal:
    """What neardup is to reach in a contest; None where nothing is asked.

    `times` is how much less CPU time it takes than the peer `than`, however that is used, or than
    the fastest; `gain` how much less wall time with two threads. With `as_before`, it takes no more
    CPU time and memory than the last version that listed all pairs, in the same run.
    """

    times: int | None = None
    than: str | None = None
    gain: float | None = None
    recall: float | None = None
    cpu_seconds: float | None = None
    megabytes: float | None = None
    after_features_seconds: float | None = None
    removed: int | None = None
    as_before: bool = False


@dataclass(frozen=True)
class Contest:
    """A collection that everyone deduplicates, and what is to be reached on it.

    `key` is its name on the command line, `name` the one in rows and on the page. `write` gives no
    collection where the data is absent.
    """

    key: str
    name: str
    write: Callable[[Path], Collection | None]
    peers: tuple[str, ...] = ()
    slow_peers: tuple[str, ...] = ()
    goal: Goal = Goal()
    threshold: float = THRESHOLD


def _planted(
    key: str,
    documents: int,
    words: int,
    goal: Goal,
    peers: tuple[str, ...] = (),
    slow_peers: tuple[str, ...] = (),
) -> Contest:
    write = partial(dedup_corpora.planted, documents, words)
    return Contest(key, f"{documents:,} documents of {words} words", write, peers, slow_peers, goal)


def _rustdoc(threshold: float) -> Contest:
    return Contest(
        f"rustdoc-{threshold}",
        f"Rust documentation, threshold {threshold}",
        dedup_real.rustdoc,
        EVERY_PEER,
        goal=Goal(cpu_seconds=8, megabytes=700, after_features_seconds=3),
        threshold=threshold,
    )


GROWTH_WORDS = 60
RECALL = Goal(recall=0.98)
USUAL = _planted(
    "usual",
    58_000,
    150,
    Goal(times=3, recall=0.99, as_before=True),
    (TWO_THREADS, BEFORE, *PACKAGES, TEXT_DEDUP),
)
MILLION = _planted(
    "million",
    10**6,
    GROWTH_WORDS,
    Goal(times=4, gain=1.7, recall=0.98, megabytes=2000, as_before=True),
    (TWO_THREADS, BEFORE, *FASTEST),
    ("datasketch",),
)
LARGE = _planted("large", 5 * 10**6, GROWTH_WORDS, RECALL)
GROWTH = (
    _planted("ten-thousand", 10**4, GROWTH_WORDS, RECALL),
    _planted("hundred-thousand", 10**5, GROWTH_WORDS, RECALL),
    MILLION,
    LARGE,
)
# Of about 4 GB.
LARGE_FILE = _planted(
    "large-file",
    5 * 10**6,
    112,
    Goal(recall=0.98, megabytes=4000, as_before=True),
    (BEFORE, *FASTEST),
)
RUSTDOC = (_rustdoc(0.7), _rustdoc(0.8))
SOURCE = Contest(
    "source",
    "Source files",
    dedup_real.source_files,
    (TWO_THREADS, *FASTEST, *FASTEST_KEPT_ONLY),
    goal=Goal(times=4, than="rensa", gain=1.7),
)
JUST_BELOW = Contest(
    "just-below",
    "20,000 documents just below the threshold",
    partial(dedup_corpora.just_below, 20_000),
    FASTEST_KEPT_ONLY,
    goal=Goal(cpu_seconds=10, megabytes=2000, removed=0),
)
LETTERS = Contest(
    "letters",
    "20,000 form letters",
    partial(dedup_corpora.letters, 20_000),
    FASTEST_KEPT_ONLY,
    goal=Goal(cpu_seconds=10, megabytes=2000),
)
TEMPLATE = Contest(
    "template",
    "100,000 pages of one template",
    partial(dedup_corpora.template, 100_000),
    FASTEST_KEPT_ONLY,
    goal=Goal(cpu_seconds=30, megabytes=2000, removed=0),
)
GIANT = Contest(
    "giant",
    "giant clusters",
    dedup_corpora.giant,
    (BEFORE, *FASTEST_KEPT_ONLY),
    goal=Goal(cpu_seconds=30, as_before=True),
)
REAL = (*RUSTDOC, SOURCE)
ADVERSARIAL = (JUST_BELOW, LETTERS, TEMPLATE, GIANT)
CONTESTS = (
    USUAL,
    *GROWTH,
    LARGE_FILE,
    *REAL,
    *ADVERSARIAL,
)
