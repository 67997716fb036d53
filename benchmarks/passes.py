"""Each pass over a text, alone, for every instruction set: where the time of a fingerprint goes.

The passes are timed in C++ by `native/bench`, which is built first.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks import corpora, measure
from benchmarks.corpora import Corpus
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result, package_versions

BENCHMARK = "passes"
TASKS = ("word:3/set/64", "word:3/count/64", "word:3/set/512", "char:4/set/64")
MEGABYTES = 4.0
ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "bench"


def main(arguments: Sequence[str] | None = None) -> None:
    """Build, measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    chosen = measure.options(BENCHMARK, __doc__, rounds=7).parse_args(arguments)
    program = _built()
    loaded = [corpora.load(name, MEGABYTES) for name in corpora.NAMES]
    rows = [row for corpus in loaded for row in _rows(program, corpus, chosen.rounds)]
    conditions = {"rounds": chosen.rounds, "corpora": [corpus.description() for corpus in loaded]}
    versions = package_versions(["neardup"])
    Result.of(BENCHMARK, arguments, versions, conditions, rows).save(chosen.out)


def _built() -> Path:
    """The program that times the passes."""
    cmake, ninja = (Path(sys.executable).with_name(name) for name in ("cmake", "ninja"))
    configure = [cmake, "-S", ROOT, "-B", BUILD, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    configure += ["-DNEARDUP_PYTHON=OFF", "-DNEARDUP_BENCH=ON", "-DCMAKE_BUILD_TYPE=Release"]
    for command in (configure, [cmake, "--build", BUILD]):
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
    return BUILD / "text_passes"


def _rows(program: Path, corpus: Corpus, rounds: int) -> Iterator[Json]:
    with tempfile.NamedTemporaryFile(suffix=".documents") as file:
        encoded = [text.encode() for text in corpus.texts.to_pylist()]
        ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        file.write(np.int64(len(encoded)).tobytes() + ends.tobytes() + b"".join(encoded))
        file.flush()
        for task in TASKS:
            print(f"{corpus.name}: {task}", file=sys.stderr)
            features, weights, bits = task.split("/")
            command = [program, file.name, *features.split(":"), weights, bits, rounds]
            done = subprocess.run(
                list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True
            )
            for line in done.stdout.splitlines():
                isa, name, ticks = line.split("\t")
                yield {
                    "corpus": corpus.name,
                    "task": task,
                    "isa": isa,
                    "pass": name,
                    "ticks_per_byte": float(ticks),
                }


def section(result: Result) -> str:
    """The part of the page."""
    parts = [
        "## Passes over a text, by instruction set\n",
        provenance(result),
        "Ticks of the processor's time-stamp counter for each byte of UTF-8 text, each pass alone "
        "on one thread; least of all rounds for each slice of 100 KB. A *whole fingerprint* does "
        "the passes above it in pieces that stay in the cache. *Sorted features* are what `dedup` "
        "and weights need instead of *distinct* and *majority*, *weighted sums* what `count`, "
        "`idf` and `tfidf` add; *UTF-8 check* is what reading adds.\n",
    ]
    for task in TASKS:
        rows = [row for row in result.rows if row["task"] == task]
        isas = list(dict.fromkeys(row["isa"] for row in rows))
        ticks = {(row["corpus"], row["pass"], row["isa"]): row["ticks_per_byte"] for row in rows}
        lines = [
            (f"{corpus}: {name}", *(f"{ticks[corpus, name, isa]:.2f}" for isa in isas))
            for corpus, name in dict.fromkeys((row["corpus"], row["pass"]) for row in rows)
        ]
        parts += [f"### `{task}`, ticks a byte\n", table(("", *isas), lines)]
    return "\n".join(parts)


if __name__ == "__main__":
    main()
