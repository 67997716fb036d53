"""The Spark engine beside the local one: the same result, what it costs, and what survives.

Each run is a process of its own that starts Spark and stops it: `local[1]`, `local[2]`, and a
standalone master with one or two workers of one core on loopback. The result is stored after every
run, so that parts can be measured one after the other.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks import (
    child,
    measure,
    spark_cluster,
    spark_corpora,
    spark_model,
    spark_processes,
)
from benchmarks.result import RESULTS, Json, Result, commit, package_versions, today
from benchmarks.spark_corpora import Corpus
from benchmarks.spark_equal import equal_tables
from benchmarks.spark_runs import (
    BENCHMARK,
    DRIVER_KILLED,
    EXECUTORS_KILLED,
    FINE,
    FULL,
    GROWTH_PART,
    KILLS_PART,
    LOCAL,
    LOCAL_1,
    LOCAL_2,
    MILLION_PART,
    ONE_EXECUTOR,
    PARTS,
    REAL,
    REAL_PART,
    SMALL,
    THRESHOLD,
    TWO_EXECUTORS,
    Scale,
    cores_of,
    fine_name,
    generated_name,
)

_KILLS = (EXECUTORS_KILLED, DRIVER_KILLED)


class RunError(Exception):
    """A run did not come to its end; the message is what it said."""


@dataclass(frozen=True)
class Planned:
    """A collection by its name or number of documents, and where it is run.

    `split_bytes` is the size of splits where it is not that of the engine.
    """

    corpus: str | int
    places: tuple[str, ...]
    split_bytes: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return self.corpus if isinstance(self.corpus, str) else generated_name(self.corpus)

    def wheres(self) -> Iterator[tuple[str, int | None]]:
        """All places, with the size of splits."""
        yield from ((where, None) for where in self.places)
        yield from ((fine_name(size), size) for size in self.split_bytes)


def planned(parts: Sequence[str], scale: Scale, *, long: bool) -> Iterator[Planned]:
    """What is run, in order."""
    if MILLION_PART in parts:
        yield Planned(scale.million, (LOCAL_2, LOCAL_1, TWO_EXECUTORS, ONE_EXECUTOR))
    if REAL_PART in parts:
        for name in REAL:
            yield Planned(name, (LOCAL_2, TWO_EXECUTORS))
    if GROWTH_PART in parts:
        for n in (*scale.growth, *((scale.longest,) if long else ())):
            executors = (ONE_EXECUTOR, TWO_EXECUTORS) if n == scale.scaled else ()
            fine = scale.fine_bytes if n == scale.fine else ()
            yield Planned(n, (LOCAL_2, *executors), fine)
    if KILLS_PART in parts:
        for corpus in scale.killed:
            yield Planned(corpus, _KILLS)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = _options()
    chosen = parser.parse_args(arguments)
    if chosen.small and chosen.out.resolve() == RESULTS.resolve():
        parser.error("--small needs --out: its figures are no result")
    if why := spark_cluster.absent():
        print(f"the Spark engine is not measured: {why}", file=sys.stderr)
        return
    spark_processes.end_by_exit()
    scale = SMALL if chosen.small else FULL
    with tempfile.TemporaryDirectory(prefix="neardup-bench-", dir=chosen.scratch) as folder:
        bench = Bench(Path(folder), chosen)
        for one in planned(chosen.only, scale, long=chosen.long):
            bench.measure(one)
    if bench.failed:
        raise SystemExit(f"these runs failed: {'; '.join(bench.failed)}")


class Bench:
    """The measurements of one command, with their files in one folder."""

    def __init__(self, folder: Path, chosen: Any) -> None:
        self._folder, self._chosen = folder, chosen
        self.failed: list[str] = []
        self._commit = commit()
        self._rows, self._absent = _stored(chosen.out)

    def measure(self, one: Planned) -> None:
        """Run one collection in all its places, and store each row."""
        wheres = [
            (where, size) for where, size in one.wheres() if not self._is_there(one.name, where)
        ]
        if not wheres:
            _say(f"{one.name}: measured already")
            return
        corpus, why = self._corpus(one)
        if corpus is None:
            _say(f"{one.name} is left out: {why}")
            self._absent[one.name] = why
            self._save()
            return
        self._absent.pop(one.name, None)
        truth = self._folder / "local"
        self._put(corpus, LOCAL, self._local(corpus, truth))
        for where, size in wheres:
            run = f"{corpus.name}, {where}"
            self._absent.pop(run, None)
            try:
                self._put(corpus, where, self._on_spark(corpus, where, size, truth))
            except RunError as error:
                # The other runs go on; what is stored of an earlier one stays.
                _say(str(error))
                self.failed.append(run)
                self._absent[run] = "the run failed"
                self._save()
        shutil.rmtree(truth)

    def _corpus(self, one: Planned) -> tuple[Corpus | None, str]:
        if isinstance(one.corpus, str):
            return spark_corpora.real(one.corpus), "it is not beside the repository"
        folder = self._chosen.scratch or self._folder
        needed = spark_corpora.disk_needed(one.corpus)
        if shutil.disk_usage(folder).free < needed:
            return None, f"it needs {needed / 1e9:.0f} GB on disk"
        return spark_corpora.generated(one.corpus, folder), ""

    def _local(self, corpus: Corpus, output: Path) -> Json:
        command = [child.neardup_command(), "dedup", str(corpus.path), "-o", str(output)]
        command += ["--threshold", str(THRESHOLD), "--threads", "2", "--quiet"]
        command += ["--id", corpus.id] if corpus.id else []
        done = []
        for _ in range(self._chosen.rounds):
            shutil.rmtree(output, ignore_errors=True)
            _say(f"{corpus.name}: {LOCAL}")
            done.append(child.run(command))
        best = min(done, key=lambda run: run.cpu)
        return {
            "cores": 2,
            "seconds": best.wall,
            "cpu_seconds": best.cpu,
            "peak_megabytes": {"driver": best.peak_megabytes},
        }

    def _on_spark(self, corpus: Corpus, where: str, size: int | None, truth: Path) -> Json:
        module = "benchmarks.spark_kills" if where in _KILLS else "benchmarks.spark_once"
        rounds = 1 if where in _KILLS else self._chosen.rounds
        done, equal = [], []
        for _ in range(rounds):
            folder = self._folder / "run"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            task = {
                "where": FINE if size else where,
                "file": str(corpus.path.resolve()),
                "id": corpus.id,
                "folder": str(folder),
                "output": str(folder / "out"),
                "split_bytes": size,
            }
            _say(f"{corpus.name}: {where}")
            done.append(_run(module, task))
            equal.append(equal_tables(folder / "out", truth))
            shutil.rmtree(folder)
        best: Json = min(done, key=lambda row: float(row.get("cpu_seconds", 0)))
        same = {table: all(one[table] for one in equal) for table in equal[0]}
        _say(f"{corpus.name}: {where}: {'equal' if all(same.values()) else f'DIFFERENT: {same}'}")
        cores = {} if where in _KILLS else {"cores": cores_of(where)}
        return {**cores, **best, "equal": same}

    def _is_there(self, name: str, where: str) -> bool:
        """Whether a row of this commit is there, and need not be measured again."""
        return self._chosen.resume and any(
            row["corpus"] == name and row["where"] == where and row["commit"] == self._commit
            for row in self._rows
        )

    def _put(self, corpus: Corpus, where: str, measured: Json) -> None:
        row = {
            "corpus": corpus.name,
            "where": where,
            "documents": corpus.documents,
            "megabytes": corpus.megabytes,
            "file_megabytes": corpus.file_megabytes,
            "date": today(),
            "commit": self._commit,
            "rounds": 1 if where in _KILLS else self._chosen.rounds,
            **measured,
        }
        self._rows = [
            one for one in self._rows if (one["corpus"], one["where"]) != (corpus.name, where)
        ]
        self._rows.append(_rounded(row))
        self._save()

    def _command(self) -> list[str]:
        """The options that measure all rows again, also if parts were measured separately."""
        is_long = any(row["corpus"] == generated_name(FULL.longest) for row in self._rows)
        rounds = max((row["rounds"] for row in self._rows), default=1)
        return ["--long"] * is_long + ([] if rounds == 1 else ["--rounds", str(rounds)])

    def _save(self) -> None:
        conditions = {
            "threshold": THRESHOLD,
            "absent": self._absent,
            "model": model_of(self._rows),
        }
        versions = package_versions(["neardup", "pyspark", "pyarrow", "numpy"])
        versions["java"] = _java_version()
        result = Result.of(BENCHMARK, self._command(), versions, conditions, self._rows)
        result = replace(result, rows=sorted(result.rows, key=_order))
        result.save(self._chosen.out)


def model_of(rows: Sequence[Json]) -> Json | None:
    """The model of the stages by the runs on generated documents with two cores."""
    from neardup.distributed.components import MOST_NODES
    from neardup.distributed.run import _SPLIT_BYTES

    runs = [
        row
        for row in rows
        if row["corpus"] not in REAL and (row["where"] == LOCAL_2 or row["where"].startswith(FINE))
    ]
    found = spark_model.fit(runs, _SPLIT_BYTES, MOST_NODES)
    return None if found is None else _significant(found)


def _order(row: Json) -> tuple[bool, int, str]:
    """Generated collections by size, then real ones; the places as they were measured."""
    is_real = row["corpus"] in REAL
    return (is_real, 0 if is_real else row["documents"], row["corpus"])


def _run(module: str, task: Json) -> Json:
    command = [sys.executable, "-m", module, json.dumps(task)]
    root = Path(__file__).parents[1]
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=said, check=False)
        if done.returncode:
            said.seek(0)
            words = said.read().decode(errors="replace").strip()[-3000:]
            raise RunError(f"{' '.join(command)} ended with {done.returncode}: {words}")
    row: Json = json.loads(done.stdout.splitlines()[-1])
    return row


def _stored(folder: Path) -> tuple[list[Json], dict[str, str]]:
    if not (folder / f"{BENCHMARK}.json").exists():
        return [], {}
    before = Result.load(BENCHMARK, folder)
    return before.rows, before.conditions["absent"]


def _options() -> Any:
    parser = measure.options(BENCHMARK, __doc__, rounds=1)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=PARTS,
        default=PARTS,
        metavar="PART",
        help=f"measure these only, and keep what the last result says of the others: "
        f"{', '.join(PARTS)}",
    )
    parser.add_argument("--long", action="store_true", help="growth up to 5·10^6 documents")
    parser.add_argument(
        "--resume", action="store_true", help="leave out the runs that this commit has rows of"
    )
    parser.add_argument(
        "--scratch", type=Path, help="folder for files; generated collections stay there"
    )
    parser.add_argument("--small", action="store_true", help="few documents, to try it out")
    return parser


def _java_version() -> str:
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    said = subprocess.run([java, "-version"], capture_output=True, check=False, text=True).stderr
    return said.split('"')[1] if '"' in said else "unknown"


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return [_rounded(one) for one in value] if isinstance(value, list) else value


def _significant(value: Any) -> Any:
    """Coefficients may be very small numbers."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {name: _significant(one) for name, one in value.items()}
    return [_significant(one) for one in value] if isinstance(value, list) else value


def _say(what: str) -> None:
    print(what, file=sys.stderr)


if __name__ == "__main__":
    main()
