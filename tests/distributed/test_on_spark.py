"""A real Spark session: the same result, also when workers die, and DataFrames in and out."""

from __future__ import annotations

import datetime
import os
import shutil
import signal
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.distributed.both_engines import (
    assert_same_output,
    run_distributed,
    run_local,
    summary_of,
)
from tests.distributed.planted import columns, planted, write_jsonl, write_parquet

import neardup as nd
from neardup.distributed.run import Sizes
from neardup.engines.exchange import Message, Tasks, packed, unpacked
from neardup.errors import InputError, NeardupError, SettingError

if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java, and there is none", allow_module_level=True)
pytest.importorskip("pyspark", reason="Spark needs pyspark")

from neardup import spark as on_spark
from neardup.engines.spark import SparkEngine, session

ROWS = planted(160)
SIZES = Sizes(split_bytes=1 << 14, bin_features=2000)
# Tests start many short jobs, for which the better compiler of Java does not pay.
CONF = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    """The session of all tests, in which a task may fail four times."""
    conf = {
        **CONF,
        "spark.task.maxFailures": "4",
        "spark.sql.shuffle.partitions": "2",
        "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
    }
    made = session("local[2,4]", conf)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def engine(spark):
    return SparkEngine(spark)


@pytest.fixture(scope="module")
def relaying(spark):
    """All that two steps exchange goes by way of relays."""
    return SparkEngine(spark, most_pairs=0)


def test_cores_are_those_of_the_master(engine):
    assert engine.cores == 2


@pytest.mark.parametrize("kind", ["engine", "relaying"])
@pytest.mark.parametrize("counts", [(3, 7, 2), (5, 1, 4)])
def test_every_message_is_delivered_once_to_its_task(request, kind, counts):
    engine = request.getfixturevalue(kind)
    first, second, third = counts

    def send(number, messages):
        assert not list(messages)
        for target in range(second):
            yield Message(target, number, packed(path=[number, target]))

    def pass_on(number, messages):
        for message in messages:
            assert message.to == number
            for target in range(third):
                path = [*unpacked(message.blob)["path"], target]
                yield Message(target, message.tag, packed(path=path))

    def answer(number, messages):
        for message in messages:
            yield Message(0, number, message.blob)

    job = [Tasks(send, first), Tasks(pass_on, second), Tasks(answer, third)]
    seen = Counter(tuple(unpacked(one.blob)["path"]) for one in engine.run("test", job))
    assert seen == Counter(
        (a, b, c) for a in range(first) for b in range(second) for c in range(third)
    )


def test_large_and_many_messages_arrive(engine):
    def send(number, _):
        yield Message(0, number, bytes([number]) * (9 << 20))
        for tag in range(1000):
            yield Message(1, tag, b"")

    def measure(number, messages):
        found = list(messages)
        yield Message(0, number, packed(count=len(found), size=sum(len(m.blob) for m in found)))

    sent = engine.run("test", [Tasks(send, 2), Tasks(measure, 2)])
    found = {message.tag: unpacked(message.blob) for message in sent}
    assert found == {0: {"count": 2, "size": 18 << 20}, 1: {"count": 2000, "size": 0}}


def test_the_refusal_of_a_task_is_that_of_the_run(engine):
    sentence = "row 3: 'text' is \"null\"\nof ü.jsonl: do this; or that"

    def refuse(number, _):
        if number == 1:
            raise InputError(sentence)
        return ()

    with pytest.raises(InputError) as raised:
        engine.run("test", [Tasks(refuse, 2)])
    assert str(raised.value) == sentence


def test_an_error_of_a_task_names_the_stage(engine):
    def fail(_, __):
        raise ZeroDivisionError("a bug")

    with pytest.raises(NeardupError, match=r"Spark gave up in the stage 'tidy': .*--resume"):
        engine.run("tidy", [Tasks(fail, 1)])


CASES: dict[str, dict[str, Any]] = {
    "tf-idf, the best, components": {
        "weights": "tfidf",
        "threshold": 0.6,
        "keep": "max:quality",
        "cluster": "components",
        "pairs": "all",
    },
    "cosine, JSON": {"similarity": "cosine", "format": "jsonl", "copies": True},
    "against and within": {"against": True, "within": True, "weights": "count"},
}
RELAYED = "against and within"


@pytest.mark.parametrize("name", CASES)
def test_both_engines_give_the_same(engine, relaying, tmp_path, name):
    path = write_parquet(tmp_path / "a.parquet", columns(ROWS, "text", "quality", id=int))
    options = dict(CASES[name])
    if "against" in options:
        others = columns(ROWS[20:50], "text", id=lambda number: f"other{number}")
        options["against"] = write_jsonl(tmp_path / "b.jsonl", others)
    run_local(path, tmp_path / "local", **options)
    chosen = relaying if name == RELAYED else engine
    found = run_distributed(path, tmp_path / "out", engine=chosen, sizes=SIZES, **options)
    assert_same_output(tmp_path / "local", tmp_path / "out")
    assert found.summary["engine"]["splits"] > 1
    assert found.summary["engine"]["bins"] + found.summary["engine"]["blocks"] > 1


class Deadly(SparkEngine):
    """Kills the worker of a task in every stage, the first time that the task runs."""

    def __init__(self, spark, folder):
        super().__init__(spark)
        self.folder = str(folder)
        self.stages = 0

    def run(self, name, job):
        self.stages += 1
        place = self.stages % len(job)  # another step each time
        tasks = job[place]
        marker = os.path.join(self.folder, name.replace(" ", "-"))
        step, last = tasks.step, tasks.count - 1

        def die_once(number, messages):
            for message in step(number, messages):
                yield message
                kill_once(number)
            kill_once(number)

        def kill_once(number):
            if number == last and not os.path.exists(marker):
                with open(marker, "w"):
                    pass
                os.kill(os.getpid(), signal.SIGKILL)

        deadly = Tasks(die_once, tasks.count)
        return super().run(name, [*job[:place], deadly, *job[place + 1 :]])


def test_workers_killed_in_every_stage_change_nothing(spark, tmp_path):
    path = write_jsonl(tmp_path / "a.jsonl", columns(ROWS, "text", "quality", id=int))
    run_local(path, tmp_path / "local", cluster="components")
    killed = tmp_path / "killed"
    killed.mkdir()
    engine = Deadly(spark, killed)
    run_distributed(path, tmp_path / "out", engine=engine, sizes=SIZES, cluster="components")
    assert_same_output(tmp_path / "local", tmp_path / "out")
    assert len(list(killed.iterdir())) == engine.stages >= 5
    assert not list((tmp_path / "out").rglob("*.new"))


def rows_by(frame, *names):
    """The rows of a DataFrame as dicts, ordered by these columns."""
    rows = [row.asDict(recursive=True) for row in frame.collect()]
    return sorted(rows, key=lambda row: tuple(row[name] for name in names))


def strange(number: int, text: str) -> dict[str, Any]:
    """A row with a column of every type that DataFrames often have."""
    return {
        "key": f"k{number:04d}",
        "text": text,
        "seen": datetime.datetime(2020, 1, 1, 12, 30, 5, 123456) + datetime.timedelta(number),
        "day": datetime.date(2020, 1, 1) + datetime.timedelta(number),
        "price": Decimal(number) / 4,
        "tags": [f"t{number % 3}", None, "ü"],
        "place": {"city": f"c{number % 5}", "at": [number, None]},
        "counts": {"a": number, "b": None},
        "flag": None if number % 4 == 0 else number % 2 == 0,
        "share": number / 7,
        "raw": bytes([number % 256]),
    }


SCHEMA = (
    "key string, text string, seen timestamp, day date, price decimal(12,2), tags array<string>, "
    "place struct<city: string, at: array<int>>, counts map<string, int>, flag boolean, "
    "share double, raw binary"
)


@pytest.fixture(scope="module")
def strange_rows():
    return [strange(number, row["text"]) for number, row in enumerate(ROWS[:80])]


@pytest.fixture(scope="module")
def deduplicated(spark, strange_rows, tmp_path_factory):
    """The rows in a shuffled DataFrame, and what was found in it by their true order."""
    frame = spark.createDataFrame(list(reversed(strange_rows)), SCHEMA).repartition(3)
    work = tmp_path_factory.mktemp("frames")
    settings = {"id": "key", "features": "word:2", "threshold": 0.6, "pairs": "all"}
    found = on_spark.dedup(frame, order_by="key", work=work / "work", **settings)
    local = nd.dedup([{"key": r["key"], "text": r["text"]} for r in strange_rows], **settings)
    return frame, found, local


def test_frames_have_the_rows_of_the_local_engine_with_all_columns(deduplicated, strange_rows):
    frame, found, local = deduplicated
    assert found.kept.schema == frame.schema
    by_key = {row["key"]: row for row in strange_rows}
    kept = local.kept["key"].to_pylist()
    assert 0 < len(kept) < len(strange_rows)
    assert rows_by(found.kept, "key") == [by_key[key] for key in sorted(kept)]
    removed = {row["key"]: row for row in local.removed.to_pylist()}
    expected = [
        by_key[key] | {n: removed[key][n] for n in ("duplicate_of", "similarity")}
        for key in sorted(removed)
    ]
    assert rows_by(found.removed, "key") == expected


def test_pairs_and_clusters_are_those_of_the_local_engine(deduplicated):
    _, found, local = deduplicated
    assert rows_by(found.pairs, "a", "b") == sorted(
        local.pairs.to_pylist(), key=lambda row: (row["a"], row["b"])
    )
    assert rows_by(found.clusters, "cluster", "id") == sorted(
        local.clusters.to_pylist(), key=lambda row: (row["cluster"], row["id"])
    )


def test_the_summary_and_the_report_are_there(deduplicated):
    _, found, local = deduplicated
    assert found.summary["documents"] == 80
    assert found.summary["removed"] == len(local.removed)
    assert found.summary == found.summary | summary_of(Path(found.path))
    assert Path(found.path, "report.html").stat().st_size
    assert "removed" in repr(found)
    # What stages have found is not needed any more.
    assert not Path(found.path).with_name("stages").exists()


def test_rows_of_equal_order_are_ordered_by_their_content(spark, tmp_path):
    rows = [{"k": n % 2, "text": f"the same long text {n % 4 // 2}", "n": n} for n in range(24)]
    kept = []
    for number, arranged in enumerate((rows, rows[::-1])):
        frame = spark.createDataFrame(arranged, "k int, text string, n int")
        found = on_spark.dedup(
            frame.repartition(1 + number), order_by="k", work=tmp_path / str(number)
        )
        kept.append([row.n for row in found.kept.orderBy("n").collect()])
    assert len(kept[0]) == 2
    assert kept[1] == kept[0]
    assert {rows[n]["k"] for n in kept[0]} == {0}


def test_against_another_frame(spark, tmp_path):
    mine, others = (
        [{"id": n, "tens": n // 10, "ones": n % 10, "text": row["text"]} for n, row in some]
        for some in (enumerate(ROWS[:60]), enumerate(ROWS[30:70]))
    )
    frames = [spark.createDataFrame(rows[::-1]) for rows in (mine, others)]
    found = on_spark.against(*frames, order_by=["tens", "ones"], work=tmp_path / "work")
    assert sorted(found.kept.columns) == sorted(frames[0].columns)
    local = nd.dedup(mine, against=others)
    assert 0 < len(local.removed) < 60
    assert rows_by(found.kept, "id") == local.kept.to_pylist()
    assert rows_by(found.removed, "id") == local.removed.to_pylist()


def test_fingerprints_are_those_of_the_local_engine(spark, tmp_path):
    texts = [row["text"] for row in ROWS[:50]]
    frame = spark.createDataFrame([{"n": n, "body": t} for n, t in enumerate(texts)])
    found = on_spark.fingerprint(frame.repartition(3), text="body", bits=70).orderBy("n")
    assert found.columns == [*frame.columns, "words", "fingerprint"]
    local = nd.fingerprint(texts, bits=70)
    local.save(tmp_path / "local.parquet")
    stored = pq.read_table(tmp_path / "local.parquet")
    rows = found.collect()
    assert [row.body for row in rows] == texts
    assert [row.words for row in rows] == stored["words"].to_pylist()
    assert [row.fingerprint for row in rows] == stored["fingerprint"].to_pylist()
    assert any(row.fingerprint is None for row in rows)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an order by no column": ({"order_by": []}, "order_by names no column"),
    "an order by an unknown column": ({"order_by": "when"}, "order_by='when' is not a column"),
    "within without against": ({"within": True}, "within=True needs another collection"),
    "a measure without features": (
        {"similarity": "hamming", "threshold": 3},
        "needs the local engine",
    ),
    "a misspelt setting": ({"treshold": 0.8}, "did you mean 'threshold'"),
    "an unknown text": ({"text": "body"}, "no column 'body'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_usage_is_a_sentence(spark, tmp_path, name):
    given, sentence = REFUSED[name]
    frame = spark.createDataFrame([("a b c d",)], "text string")
    with pytest.raises(NeardupError, match=sentence):
        on_spark.dedup(frame, **{"order_by": "text", "work": tmp_path / "work", **given})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"text": "body"}, "has no column 'body'"),
        ({"weights": "tfidf"}, "weights by rarity need a table"),
        ({"features": "terms"}, "not taken from a DataFrame"),
    ],
)
def test_fingerprints_that_cannot_be_made_are_refused(spark, given, sentence):
    frame = spark.createDataFrame([("a b c d",)], "text string")
    with pytest.raises(SettingError, match=sentence):
        on_spark.fingerprint(frame, **given)


def test_a_column_that_would_be_hidden_is_refused(spark):
    frame = spark.createDataFrame([("a b c d", 4)], "text string, words int")
    with pytest.raises(SettingError, match="has a column 'words' already; rename it first"):
        on_spark.fingerprint(frame)
