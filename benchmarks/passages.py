"""Passages in several documents, one thread: `nd.passages` beside a set of hashes of paragraphs.

The texts are generated English into which notices are put: as they are, or with a word changed. The
peer is what CCNet and dolma do: each line is stripped and lower-cased, digits become 0, punctuation
goes, and the first bytes of its SHA-1 are looked up in a set. It finds exact copies, and keeps no
account of them. It gets the first megabytes only. Runs of words that two texts share (`nd.spans`)
are timed, too; and the memory of the command is measured on a corpus in files.
"""

from __future__ import annotations

import hashlib
import string
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import neardup as nd
from benchmarks import child, generated, measure
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result, package_versions
from benchmarks.target import Target

BENCHMARK = "passages"
EXACT, NEAR, HASHES = "neardup, exact copies", "neardup, near ones, too", "set of hashes of lines"
MEGABYTES, PEER_MEGABYTES, SPAN_MEGABYTES = 100.0, 20.0, 5.0
CORPUS_GIGABYTES, MEMORY_GIGABYTES = 10.0, 2.0
SPEED, SPANS, MEMORY = "speed", "spans", "memory"
EXACT_RATE, NEAR_RATE, SPAN_SECONDS = 150.0, 40.0, 1.0
_NOTICES, _ONE_IN = 40, 4
# What a process has beside `--memory`; docs/how-it-works/reliability.md.
_BESIDE = 400.0

_PLAIN = str.maketrans(string.digits, "0" * 10, string.punctuation)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = measure.options(BENCHMARK, __doc__, rounds=3)
    parser.add_argument("--megabytes", type=float, default=MEGABYTES, help="of the texts")
    parser.add_argument("--gigabytes", type=float, default=CORPUS_GIGABYTES, help="of the corpus")
    chosen = parser.parse_args(arguments)
    measure.one_thread_each()
    texts = _texts(chosen.megabytes)
    rows = [*_speeds(texts, chosen.rounds), *_spans(chosen.rounds)]
    rows += _memory(texts, chosen.gigabytes)
    versions = package_versions(["neardup", "numpy", "pyarrow"])
    Result.of(BENCHMARK, arguments, versions, {"rounds": chosen.rounds}, rows).save(chosen.out)


def _texts(megabytes: float) -> list[str]:
    """Documents, one in four with a notice, every second time with a word changed."""
    every = generated.texts(generated.language("English"), megabytes).to_pylist()
    words = every[0].replace("\n", " ").split()
    notices = [" ".join(words[n : n + 60]) for n in range(_NOTICES)]
    for number in range(0, len(every), _ONE_IN):
        notice = notices[number // _ONE_IN % _NOTICES]
        if number // _ONE_IN % 2:
            notice = notice.replace(notice.split()[30], f"number{number}", 1)
        every[number] = f"{notice}\n\n{every[number]}"
    return list(every)


def _speeds(texts: list[str], rounds: int) -> Iterator[Json]:
    few = _first(texts, PEER_MEGABYTES)
    held = pa.table({"text": pa.array(texts, pa.large_string())})
    runs = {
        EXACT: _ours(held, threshold=1.0),
        NEAR: _ours(held, threshold=0.9),
        HASHES: lambda: _lines_seen(few),
    }
    timings = measure.interleaved(list(runs.values()), rounds)
    for name, timing in zip(runs, timings, strict=True):
        size = _megabytes(few if name == HASHES else texts)
        yield {
            "task": SPEED,
            "name": name,
            "megabytes": round(size, 1),
            "cpu_seconds": round(timing.cpu, 3),
            "megabytes_per_second": round(size / timing.cpu, 1),
        }


def _ours(held: pa.Table, *, threshold: float) -> Callable[[], object]:
    """The whole job: find, and write families and passages."""

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            nd.passages(held, threshold=threshold, threads=1).save(Path(folder) / "out")

    return run


def _lines_seen(texts: list[str]) -> int:
    """The lines that were seen before."""
    seen: set[bytes] = set()
    again = 0
    for text in texts:
        for line in text.split("\n"):
            plain = line.strip().lower().translate(_PLAIN)
            if not plain:
                continue
            digest = hashlib.sha1(plain.encode()).digest()[:8]
            again += digest in seen
            seen.add(digest)
    return again


def _spans(rounds: int) -> Iterator[Json]:
    """Two texts that share every second paragraph."""
    texts = generated.texts(generated.language("English"), 3 * SPAN_MEGABYTES).to_pylist()
    third = len(texts) // 3
    shared, own, other = texts[:third], texts[third : 2 * third], texts[2 * third :]
    a = "\n".join(one for pair in zip(shared, own, strict=False) for one in pair)
    b = "\n".join(one for pair in zip(other, shared, strict=False) for one in pair)
    limit = int(SPAN_MEGABYTES * 1e6)
    a, b = a[:limit], b[:limit]
    (timing,) = measure.interleaved([lambda: nd.spans(a, b)], rounds)
    yield {
        "task": SPANS,
        "name": "nd.spans",
        "megabytes": round(_megabytes([a]), 1),
        "spans": len(nd.spans(a, b)),
        "wall_seconds": round(timing.wall, 3),
    }


def _memory(texts: list[str], gigabytes: float) -> Iterator[Json]:
    """The peak memory of the command on a large corpus, whose words differ from part to part."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "corpus").mkdir()
        size, part = 0.0, 0
        while size < gigabytes * 1e3:
            turned = _turned(texts, part)
            pq.write_table(pa.table({"text": turned}), place / "corpus" / f"{part:05}.parquet")
            size += _megabytes(turned)
            part += 1
        memory = f"{MEMORY_GIGABYTES:g}GB"
        run = child.run(
            [
                *(child.neardup_command(), "passages", str(place / "corpus")),
                *("-o", str(place / "out"), "--memory", memory, "--quiet"),
            ]
        )
        yield {
            "task": MEMORY,
            "name": "neardup passages",
            "memory": memory,
            "megabytes": round(size, 1),
            "wall_seconds": round(run.wall, 1),
            "peak_megabytes": round(run.peak_megabytes, 1),
        }


def _turned(texts: list[str], part: int) -> list[str]:
    """The texts in another language: every vowel and consonant changes places with another."""
    if part == 0:
        return texts
    vowels, consonants = "aeiou", "bcdfghjklmnpqrstvwxyz"
    before = vowels + consonants
    by_vowel, by_consonant = part % 5, part // 5 % 21
    after = vowels[by_vowel:] + vowels[:by_vowel] + consonants[by_consonant:]
    turned = str.maketrans(before, after + consonants[:by_consonant])
    return [text.lower().translate(turned) for text in texts]


def _first(texts: list[str], megabytes: float) -> list[str]:
    size, few = 0, []
    for text in texts:
        if size >= megabytes * 1e6:
            break
        few.append(text)
        size += len(text)
    return few


def _megabytes(texts: Sequence[str]) -> float:
    return sum(len(text.encode()) for text in texts) / 1e6


def section(result: Result) -> str:
    """The part of the page."""
    peer = result.row(task=SPEED, name=HASHES)["megabytes_per_second"]
    speeds = [
        (
            row["name"] if row["name"] == HASHES else f"**{row['name']}**",
            f"{row['megabytes_per_second']:,.1f}",
            f"{row['megabytes_per_second'] / peer:.1f} ×",
            f"{row['megabytes']:,.1f}",
        )
        for row in result.rows
        if row["task"] == SPEED
    ]
    spans, memory = result.row(task=SPANS), result.row(task=MEMORY)
    return "\n".join(
        [
            "## Passages in several documents, one thread\n",
            provenance(result),
            "Generated English, a notice in every fourth document. neardup finds the families, "
            "counts documents, and writes where each occurs; the set of hashes, as CCNet and dolma "
            "keep it, only counts lines that it has seen before.\n",
            table(("", "MB/s", "of the peer", "MB measured"), speeds),
            f"`nd.spans` finds the {spans['spans']:,} runs that two texts of "
            f"{spans['megabytes']:.0f} MB share in {spans['wall_seconds']:.2f} s. "
            f"`neardup passages --memory {memory['memory']}`, all threads, takes "
            f"{memory['wall_seconds'] / 60:,.1f} minutes and at most "
            f"{memory['peak_megabytes']:,.0f} MB for {memory['megabytes'] / 1e3:,.1f} GB of text "
            "in Parquet files.\n",
        ]
    )


def targets(result: Result) -> Iterator[Target]:
    """What was set out to reach, judged by the result."""
    for name, least in ((EXACT, EXACT_RATE), (NEAR, NEAR_RATE)):
        rate = result.row(task=SPEED, name=name)["megabytes_per_second"]
        yield Target(
            f"`passages`, {name.partition(', ')[2]}",
            f"≥ {least:g} MB/s",
            f"{rate:,.0f} MB/s",
            rate >= least,
        )
    spent = result.row(task=SPANS)["wall_seconds"]
    size = result.row(task=SPANS)["megabytes"]
    yield Target(
        f"`nd.spans`, {size:g} MB and {size:g} MB",
        f"≤ {SPAN_SECONDS:g} s",
        f"{spent:.2f} s",
        spent <= SPAN_SECONDS,
    )
    memory = result.row(task=MEMORY)
    most = MEMORY_GIGABYTES * 1e3 + _BESIDE
    yield Target(
        f"`passages` of {memory['megabytes'] / 1e3:,.1f} GB, `--memory {memory['memory']}`",
        f"≤ {most:,.0f} MB",
        f"{memory['peak_megabytes']:,.0f} MB",
        memory["peak_megabytes"] <= most,
    )


if __name__ == "__main__":
    main()
