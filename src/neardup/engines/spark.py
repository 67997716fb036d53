"""The Spark engine: a step is `mapInArrow`, messages go through the shuffle.

Messages hold whole arrays and travel in bundles (`engines/bundles.py`), so that the JVM sees few
rows. PySpark 4.0 has no partitioning by number, only by hash: Spark itself is asked once which
number leads to which partition.
"""

from __future__ import annotations

import gc
import os
import re
import socket
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup import __version__
from neardup.engines.bundles import SCHEMA, Relays, messages_of, rows_of
from neardup.engines.exchange import Message, Step, Tasks
from neardup.errors import InputError, NeardupError, SettingError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

INSTALL = "pip install 'neardup[spark]'"
_ROWS_AT_ONCE = 256  # they are long
# A pair of tasks that exchange rows costs about half a millisecond; beyond so many pairs, relays
# cost less, which pass all bytes through the shuffle once more.
MOST_PAIRS = 1 << 24
# Of numbers 0, 1, 2 … so many times the partitions, every partition is met by some.
_TRIED = 24
_MARK = "neardup-refusal:"
_REFUSALS = {kind.__name__: kind for kind in (InputError, SettingError, NeardupError)}
_LOG_LEVEL = "spark.log.level"
# Of jobs: few rows at once, and tasks even where there are no messages.
_OF_JOBS = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(_ROWS_AT_ONCE),
    "spark.sql.adaptive.enabled": "false",
}
# Java moves bytes for a short time: code that takes half the time to compile is enough. Told by a
# variable, because an option would replace those of the cluster's configuration.
_JAVA_OPTIONS, _COMPILE_LESS = "JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1"
# Of sessions that are started here.
_OF_SESSIONS = {
    f"spark.executorEnv.{_JAVA_OPTIONS}": _COMPILE_LESS,
    "spark.ui.showConsoleProgress": "false",
    # For up to 200 partitions, each task would write a file for each of them, which takes longer
    # than sorting its few rows.
    "spark.shuffle.sort.bypassMergeThreshold": "1",
    # Over TCP, each task waits some 40 ms for the acknowledgement of a small packet.
    "spark.python.unix.domain.socket.enabled": str(hasattr(socket, "AF_UNIX")).lower(),
}


def session(master: str | None, conf: Mapping[str, str]) -> SparkSession:
    """The session of this process, or a new one on `master` with these settings."""
    _require_java(master)
    sql = _pyspark().sql
    # PySpark reads the variable only, and takes whatever python3 is without it.
    python = conf.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON", sys.executable)
    os.environ["PYSPARK_PYTHON"] = python
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.appName("neardup")
    if master is not None:
        builder = builder.master(master)
    if master is not None and master.startswith("local"):
        # Loopback, so that a machine whose name cannot be resolved works, too.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        builder = builder.config("spark.driver.host", "127.0.0.1")
        builder = builder.config("spark.ui.enabled", "false")
    for name, value in {**_OF_SESSIONS, **conf}.items():
        builder = builder.config(name, value)
    try:
        with _compiling_less(), _quiet_start() if _LOG_LEVEL not in conf else nullcontext():
            made: SparkSession = builder.getOrCreate()
    except Exception as error:  # the gateway to the JVM raises errors of many kinds
        raise NeardupError(
            f"Spark could not be started on {master or 'the default master'} "
            f"({_first_line(error)}); check --master and --conf"
        ) from None
    if _LOG_LEVEL not in conf:
        made.sparkContext.setLogLevel("OFF")
    return made


@contextmanager
def _compiling_less() -> Iterator[None]:
    """Let a JVM that is started meanwhile compile less, unless somebody has set its options."""
    if _JAVA_OPTIONS in os.environ:
        yield
        return
    os.environ[_JAVA_OPTIONS] = _COMPILE_LESS
    try:
        yield
    finally:
        del os.environ[_JAVA_OPTIONS]


@contextmanager
def _quiet_start() -> Iterator[None]:
    """Send the standard error of the JVM, which is started here, nowhere.

    Its first lines, about itself, cannot be switched off.
    """
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


class SparkEngine:
    """Runs jobs on the executors of a Spark session.

    If more than `most_pairs` pairs of tasks would exchange rows between two steps, these go by way
    of relays.
    """

    def __init__(self, spark: SparkSession, most_pairs: int = MOST_PAIRS) -> None:
        self._spark = spark
        self._most_pairs = most_pairs
        self._keys: dict[int, list[int]] = {}

    @property
    def cores(self) -> int:
        """The number of tasks that run at the same time, as far as Spark knows."""
        return int(self._spark.sparkContext.defaultParallelism)

    def run(self, name: str, job: Sequence[Tasks]) -> list[Message]:
        """Do all steps; a task that is lost with its executor is done again by Spark."""
        context = self._spark.sparkContext
        context.setJobDescription(f"neardup {name}")
        try:
            with self._settings_of_jobs():
                rows = self._frame(job).toArrow()
        except Exception as error:
            refusal = _refusal(error)
            if refusal is not None:
                raise refusal from None
            raise NeardupError(
                f"Spark gave up in the stage {name!r}: {_cause(error)}; the logs of the "
                "executors say more (--conf spark.log.level=WARN), and --resume goes on from here"
            ) from error
        return list(messages_of([rows]))

    @contextmanager
    def _settings_of_jobs(self) -> Iterator[None]:
        """Change settings of the session, which may be somebody else's, for the time of a job."""
        conf = self._spark.conf
        before = {name: str(conf.get(name)) for name in _OF_JOBS}
        try:
            for name, value in _OF_JOBS.items():
                conf.set(name, value)
            yield
        finally:
            for name, value in before.items():
                conf.set(name, value)

    def _frame(self, job: Sequence[Tasks]) -> DataFrame:
        first = job[0].count
        frame = self._spark.range(0, first, 1, first)
        for place, tasks in enumerate(job):
            following = job[place + 1].count if place + 1 < len(job) else None
            relays = None if following is None else self._relays(tasks.count, following)
            tasks_there = following if relays is None else relays.count
            keys = None if tasks_there is None else self._keys_of(tasks_there)
            step = _Mapped(tasks.step, keys, relays, is_first=not place)
            frame = frame.mapInArrow(step, SCHEMA)
            if relays is not None:
                passing = _Passing(self._keys_of(relays.receivers))
                frame = frame.repartition(relays.count, "to").mapInArrow(passing, SCHEMA)
            if following is not None:
                frame = frame.repartition(following, "to")
        return frame

    def _relays(self, senders: int, receivers: int) -> Relays | None:
        if senders * receivers <= self._most_pairs:
            return None
        return Relays(senders, receivers)

    def _keys_of(self, partitions: int) -> list[int]:
        """For each partition a number that Spark's hash sends there."""
        if partitions not in self._keys:
            tried = self._spark.range(0, _TRIED * partitions + 100, 1, 1)
            hashed = tried.selectExpr(
                "cast(id as int) id", f"pmod(hash(cast(id as int)), {partitions}) p"
            )
            found = hashed.groupBy("p").min("id").orderBy("p").toArrow()
            if len(found) != partitions:
                raise AssertionError("no number was found that leads to some partition")
            self._keys[partitions] = found.column(1).to_pylist()
        return self._keys[partitions]


class _Mapped:
    """A step as the function that `mapInArrow` calls with the rows of a partition.

    `keys` lead to the tasks of the next step, or to the relays before them; the last step has none.
    """

    def __init__(
        self, step: Step, keys: list[int] | None, relays: Relays | None, *, is_first: bool
    ) -> None:
        self._step, self._keys, self._relays = step, keys, relays
        self._is_first = is_first
        self._version = __version__

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        _spare_collections()
        context = TaskContext.get()
        assert context is not None
        number = context.partitionId()
        _require_version(self._version)
        messages: Iterable[Message] = ()
        if self._is_first:
            for _ in batches:  # one row, the number of the task
                pass
        else:
            messages = _received(batches, number)

        def key_of(task: int) -> int:
            if self._keys is None:
                return task
            return self._keys[task if self._relays is None else self._relays.between(number, task)]

        try:
            yield from rows_of(self._step(number, iter(messages)), key_of)
        except NeardupError as error:
            # The driver gets the text of an error only.
            kind = next(name for name, one in _REFUSALS.items() if isinstance(error, one))
            raise RuntimeError(f"{_MARK}{kind}:{str(error)!r}:{_MARK}") from error


class _Passing:
    """What a relay does: it bundles messages from many tasks anew, for those that they are for."""

    def __init__(self, keys: list[int]) -> None:
        self._keys = keys

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _spare_collections()
        yield from rows_of(messages_of(batches), self._keys.__getitem__)


_begun_tasks = 0


def _spare_collections() -> None:
    """Keep the collector away from imported modules.

    PySpark collects garbage after every task. To look at the objects of all modules takes it 35 ms,
    longer than many tasks. When the second task of a process begins, all modules are there.
    """
    global _begun_tasks
    _begun_tasks += 1
    if _begun_tasks <= 2:
        gc.freeze()


def _require_version(driver: str) -> None:
    """Refuse to work for a driver with another version, whose messages may mean other things."""
    if driver != __version__:
        raise RuntimeError(
            f"the driver has neardup {driver}, and the executor {__version__}; give executors the "
            "same version"
        )


def _received(batches: Iterator[pa.RecordBatch], number: int) -> Iterator[Message]:
    for message in messages_of(batches):
        if message.to != number:
            raise AssertionError(f"a message to {message.to} came to {number}")
        yield message


def _refusal(error: Exception) -> NeardupError | None:
    """The error that a step raised, by the text of Spark's."""
    found = re.search(rf"{_MARK}(\w+):(.+?):{_MARK}", str(error), re.DOTALL)
    if found is None:
        return None
    import ast

    return _REFUSALS[found[1]](ast.literal_eval(found[2]))


def _cause(error: Exception) -> str:
    """The last line of what Python says on an executor, or the first that Spark says."""
    _, python, trace = str(error).partition("Traceback (most recent call last):")
    lines = [line for line in trace.splitlines() if line and not line.startswith((" ", "\t"))]
    return lines[0][:300] if python and lines else _first_line(error)


def _first_line(error: Exception) -> str:
    """The first line that says what happened; of Java's errors, that they happened comes before."""
    lines = [line.strip(" \t:") for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith("An error occurred while calling")]
    return (told or lines)[0][:300] if lines else type(error).__name__


def _pyspark() -> Any:
    try:
        import pyspark.sql
    except ImportError as error:
        raise NeardupError(f"the engine spark needs PySpark ({error}); {INSTALL}") from None
    return pyspark


def _require_java(master: str | None) -> None:
    """Spark runs on Java, also in this process."""
    import shutil

    if "JAVA_HOME" not in os.environ and shutil.which("java") is None:
        raise NeardupError(
            "the engine spark needs Java 17 or later, and there is none; install it "
            "(Debian: apt install default-jre-headless), or set JAVA_HOME"
        )
