"""Items of a benchmark in a corpus, one thread: `nd.contamination` beside lists of 13-grams.

The corpus and the items are generated English. Some items are planted in documents: as they are,
with other line breaks, in capitals, with other punctuation. The peers are what papers describe and
scripts do: the 13-grams of all items in a Python set, and every 13-gram of a document looked up in
it; once of words without case and punctuation (Brown et al., 2020, appendix C), once of the text as
it is, split at spaces. They get the first megabytes only.
"""

from __future__ import annotations

import string
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import child, generated, measure
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result, package_versions
from benchmarks.target import Target

BENCHMARK = "contamination"
OURS = "neardup"
NORMALIZED, RAW = "13-grams, lower case, no punctuation", "13-grams, split at spaces"
MEGABYTES, PEER_MEGABYTES, ITEMS, PLANTED = 200.0, 5.0, 100_000, 200
ITEM_WORDS = 100
GRAM = 13
HALF = 0.5
RATE, MEMORY_TIMES, MEMORY_MORE = 300.0, 3.0, 300.0
SPEED, RECALL, MEMORY = "speed", "recall", "memory"

_WITHOUT = str.maketrans("", "", string.punctuation)
DISGUISES: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "a word per line": lambda text: "\n".join(text.split()),
    "in capitals": str.upper,
    "a dash for every comma and stop": lambda text: text.replace(",", " –").replace(".", " –"),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = measure.options(BENCHMARK, __doc__, rounds=3)
    parser.add_argument("--megabytes", type=float, default=MEGABYTES, help="of the corpus")
    parser.add_argument("--items", type=int, default=ITEMS, help="of the benchmark")
    parser.add_argument("--planted", type=int, default=PLANTED, help="items in each disguise")
    chosen = parser.parse_args(arguments)
    measure.one_thread_each()
    corpus, items = _texts(chosen.megabytes, chosen.items)
    corpus = _planted(corpus, items, chosen.planted)
    rows = [*_speeds(corpus, items, chosen.planted, chosen.rounds), *_memory(corpus, items)]
    conditions = {
        "rounds": chosen.rounds,
        "items": len(items),
        "item_megabytes": round(_megabytes(items), 1),
        "planted": chosen.planted,
    }
    versions = package_versions(["neardup", "numpy", "pyarrow"])
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


def _texts(megabytes: float, count: int) -> tuple[list[str], list[str]]:
    """The corpus, and items that are not in it: stretches of text that comes behind it."""
    corpus: list[str] = []
    items: list[str] = []
    # An item has about 600 bytes.
    more = generated.texts(generated.language("English"), megabytes + 700 * count / 1e6)
    size = 0
    for text in more.to_pylist():
        if size < megabytes * 1e6:
            corpus.append(text)
            size += len(text)
            continue
        words = text.split()
        for first in range(0, len(words) - ITEM_WORDS, ITEM_WORDS):
            items.append(" ".join(words[first : first + ITEM_WORDS]))
    return corpus, items[:count]


def _planted(corpus: list[str], items: list[str], count: int) -> list[str]:
    """The corpus with the first items in its first documents, `count` of them in each disguise."""
    planted = list(corpus)
    for number, (place, disguise) in enumerate(_plan(count)):
        half = len(planted[number % len(planted)]) // 2
        text = planted[number % len(planted)]
        planted[number % len(planted)] = (
            f"{text[:half]}\n\n{DISGUISES[disguise](items[place])}\n\n{text[half:]}"
        )
    return planted


def _plan(count: int) -> Iterator[tuple[int, str]]:
    """Which item is planted in which disguise."""
    for number in range(count * len(DISGUISES)):
        yield number, list(DISGUISES)[number % len(DISGUISES)]


def _speeds(corpus: list[str], items: list[str], count: int, rounds: int) -> Iterator[Json]:
    """Each contestant once a round, and the share of the planted items that it found."""
    few = _first(corpus, PEER_MEGABYTES)
    found: dict[str, set[int]] = {}

    def kept(name: str, run: Callable[[], set[int]]) -> None:
        found[name] = run()

    runs = {
        OURS: _ours(corpus, items),
        NORMALIZED: _grams_in(few, items, _normalized),
        RAW: _grams_in(few, items, lambda text: text.split(" ")),
    }
    timings = measure.interleaved([partial(kept, *one) for one in runs.items()], rounds)
    for name, timing in zip(runs, timings, strict=True):
        texts = corpus if name == OURS else few
        yield {
            "task": SPEED,
            "name": name,
            "megabytes": round(_megabytes(texts), 1),
            "cpu_seconds": round(timing.cpu, 3),
            "megabytes_per_second": round(_megabytes(texts) / timing.cpu, 2),
        }
    within = len(few)
    for name, hit in found.items():
        for disguise in DISGUISES:
            own = [
                place
                for number, (place, how) in enumerate(_plan(count))
                if how == disguise and number % len(corpus) < within
            ]
            yield {
                "task": RECALL,
                "name": name,
                "disguise": disguise,
                "items": len(own),
                "recall": round(sum(place in hit for place in own) / max(1, len(own)), 3),
            }


def _ours(corpus: list[str], items: list[str]) -> Callable[[], set[int]]:
    """The pass over the corpus; the benchmark is read before the clock starts."""
    from neardup.collection.source import MemorySource
    from neardup.parts.contamination.items import open_benchmarks, read_items
    from neardup.parts.contamination.scan import CorpusScan
    from neardup.parts.contamination.settings import ContaminationSettings

    settings = ContaminationSettings.of(threads=1)
    known = read_items(open_benchmarks(items, settings), settings)
    source = MemorySource(pa.table({"text": pa.array(corpus, pa.large_string())}), settings.reader)

    def run() -> set[int]:
        with tempfile.TemporaryDirectory() as folder:
            scan = CorpusScan(known, settings, Path(folder), Path(folder) / "marks.parquet")
            scan.run(source, None)
        return set(np.flatnonzero(scan.totals.share >= HALF).tolist())

    return run


def _grams_in(
    corpus: list[str], items: list[str], words: Callable[[str], list[str]]
) -> Callable[[], set[int]]:
    """A list of 13-grams, made before the clock starts; an item is found by any of them."""
    owners: dict[tuple[str, ...], int] = {}
    for place, item in enumerate(items):
        for gram in _grams(words(item)):
            owners.setdefault(gram, place)

    def run() -> set[int]:
        hit = set()
        for text in corpus:
            for gram in _grams(words(text)):
                place = owners.get(gram)
                if place is not None:
                    hit.add(place)
        return hit

    return run


def _grams(words: list[str]) -> Iterator[tuple[str, ...]]:
    return zip(*(words[first:] for first in range(GRAM)), strict=False)


def _normalized(text: str) -> list[str]:
    return text.lower().translate(_WITHOUT).split()


def _memory(corpus: list[str], items: list[str]) -> Iterator[Json]:
    """The peak memory of the command, on a quarter of the corpus and on all of it."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        pq.write_table(pa.table({"text": items}), place / "items.parquet")
        for part, count in (("a quarter", len(corpus) // 4), ("all", len(corpus))):
            pq.write_table(pa.table({"text": corpus[:count]}), place / "corpus.parquet")
            run = child.run(
                [
                    *(child.neardup_command(), "contamination", str(place / "corpus.parquet")),
                    *("--benchmark", str(place / "items.parquet"), "-o", str(place / part)),
                    *("--threads", "1", "--quiet"),
                ]
            )
            yield {
                "task": MEMORY,
                "name": OURS,
                "part": part,
                "megabytes": round(_megabytes(corpus[:count]), 1),
                "wall_seconds": round(run.wall, 2),
                "peak_megabytes": round(run.peak_megabytes, 1),
            }


def _first(texts: list[str], megabytes: float) -> list[str]:
    size, few = 0, []
    for text in texts:
        if size >= megabytes * 1e6:
            break
        few.append(text)
        size += len(text.encode())
    return few


def _megabytes(texts: Sequence[str]) -> float:
    return sum(len(text.encode()) for text in texts) / 1e6


def section(result: Result) -> str:
    """The part of the page."""
    conditions = result.conditions
    ours = result.row(task=SPEED, name=OURS)
    speeds = [
        (
            f"**{row['name']}**" if row is ours else row["name"],
            f"{row['megabytes_per_second']:,.1f}",
            ""
            if row is ours
            else f"{ours['megabytes_per_second'] / row['megabytes_per_second']:,.0f} × as fast",
            f"{row['megabytes']:,.1f}",
        )
        for row in result.rows
        if row["task"] == SPEED
    ]
    recalls = [
        (
            name,
            *(
                f"{result.row(task=RECALL, name=name, disguise=disguise)['recall']:.2f}"
                for disguise in DISGUISES
            ),
        )
        for name in (OURS, NORMALIZED, RAW)
    ]
    memory = [
        (row["part"], f"{row['megabytes']:,.1f}", f"{row['peak_megabytes']:,.1f}")
        for row in result.rows
        if row["task"] == MEMORY
    ]
    return "\n".join(
        [
            "## Contamination by a benchmark, one thread\n",
            provenance(result),
            f"{conditions['items']:,} items of generated English "
            f"({conditions['item_megabytes']:.1f} MB) in a corpus of it, with "
            f"{conditions['planted']:,} items planted in each disguise. The benchmark is read "
            "before the clock starts, by all of them. An item is found by neardup if half of it is "
            "in one document, by a peer if any of its 13-grams is.\n",
            table(("", "MB/s", "neardup is", "MB measured"), speeds),
            "Recall of planted items:\n",
            table(("", *DISGUISES), recalls),
            "Peak memory of `neardup contamination`:\n",
            table(("corpus", "MB", "peak MB"), memory),
        ]
    )


def targets(result: Result) -> Iterator[Target]:
    """What was set out to reach, judged by the result."""
    rate = result.row(task=SPEED, name=OURS)["megabytes_per_second"]
    items = result.conditions["items"]
    what = f"`contamination`, {items:,} items"
    yield Target(what, f"≥ {RATE:g} MB/s", f"{rate:,.0f} MB/s", rate >= RATE)
    most = MEMORY_TIMES * result.conditions["item_megabytes"] + MEMORY_MORE
    peak = max(row["peak_megabytes"] for row in result.rows if row["task"] == MEMORY)
    yield Target(f"{what}, any corpus", f"≤ {most:,.0f} MB", f"{peak:,.0f} MB", peak <= most)
    worst = min(row["recall"] for row in result.rows if row.get("name") == OURS and "recall" in row)
    yield Target(f"{what}, any disguise", "recall 1", f"{worst:.2f}", worst >= 1)


if __name__ == "__main__":
    main()
