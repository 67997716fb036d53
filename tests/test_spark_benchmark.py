"""The benchmark of the Spark engine: its logs, its model, and the part of the page."""

import json
from copy import deepcopy
from itertools import pairwise
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks import (
    spark,
    spark_corpora as corpora,
    spark_equal,
    spark_events as events,
    spark_model as model,
    spark_processes as processes,
    spark_runs as runs,
    spark_section as section,
)
from benchmarks.result import Result

from neardup.engines.bundles import HELD_BYTES, Relays
from neardup.engines.spark import MOST_PAIRS

MILLION = runs.generated_name(runs.MILLION)
STAGES = {
    "copies": (model.SPLITS, model.SHARDS, model.SPLITS),
    "bins": (model.ONE, model.SPLITS),
    "output": (model.SPLITS,),
}


def job(number, stages, description):
    return {
        "Event": "SparkListenerJobStart",
        "Job ID": number,
        "Stage IDs": stages,
        "Properties": {"spark.job.description": description},
    }


def task_end(stage, milliseconds, *, reason="Success", written=0, records=0, spilled=0):
    return {
        "Event": "SparkListenerTaskEnd",
        "Stage ID": stage,
        "Stage Attempt ID": 0,
        "Task End Reason": {"Reason": reason},
        "Task Info": {"Launch Time": 1_000, "Finish Time": 1_000 + milliseconds},
        "Task Metrics": {
            "Disk Bytes Spilled": spilled,
            "Shuffle Write Metrics": {
                "Shuffle Bytes Written": written,
                "Shuffle Records Written": records,
            },
        },
    }


def test_event_log_is_summed_by_stage_and_step(tmp_path):
    log = [
        job(0, [0], "neardup copies"),  # a small job beside
        task_end(0, 7_000),
        job(1, [2, 1], "neardup copies"),
        task_end(1, 500, written=100, records=3),
        task_end(1, 1_500, written=50, records=2, spilled=7),
        task_end(1, 9_000, reason="ExecutorLostFailure"),
        task_end(2, 250),
        job(2, [3], "somebody else"),
        task_end(3, 250),
    ]
    (tmp_path / "app").mkdir()
    lines = [json.dumps(one) for one in log]
    text = "\n".join((*lines, '{"Event": "SparkListenerTaskE'))  # where the driver was killed
    (tmp_path / "app" / "events").write_text(text, encoding="utf-8")
    found = events.steps_of(events.events(tmp_path))
    assert list(found) == ["copies"]
    first, second = found["copies"]
    assert (first.tasks, first.failed, second.tasks) == (2, 1, 1)
    assert (first.seconds, first.mean_seconds, first.longest_seconds) == (2.0, 1.0, 1.5)
    assert (first.shuffle_bytes, first.shuffle_records, first.spilled_bytes) == (150, 5, 7)
    assert second.as_row()["mean_seconds"] == 0.25
    assert events.failures(log) == {"copies": 1}


def test_a_failed_task_without_metrics_counts_as_failed():
    lost = {**task_end(1, 10, reason="ExecutorLostFailure"), "Task Metrics": None}
    assert events.failures([job(0, [1], "neardup bins"), lost]) == {"bins": 1}


def test_cpu_time_of_a_process_holds_that_of_its_reaped_children():
    numbers = [7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 50, 20, 30, 0, 0, 0, 0, 4321]
    found = processes.parsed(12, f"12 (a ) b) S {' '.join(map(str, numbers))} 0", "java -cp x")
    ticks = 200 / processes._TICKS
    assert (found.parent, found.started, found.cpu_seconds) == (7, 4321, ticks)
    assert found.kind == processes.JVM
    assert processes.parsed(1, "1 (p) Z" + " 0" * 20, "python -m pyspark.daemon").is_zombie


def test_tables_are_equal_only_row_by_row(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    table = pa.table({"id": list(range(10)), "text": [f"text {row}" for row in range(10)]})
    for name in runs.TABLES:
        whole.mkdir(exist_ok=True)
        pq.write_table(table, whole / f"{name}.parquet", row_group_size=3)
        (parts / f"{name}.parquet").mkdir(parents=True)
        pq.write_table(table[:4], parts / f"{name}.parquet" / "part-0.parquet")
        pq.write_table(table[4:], parts / f"{name}.parquet" / "part-1.parquet")
    assert spark_equal.equal_tables(whole, parts) == dict.fromkeys(runs.TABLES, True)
    assert spark_equal.equal_tables(parts, whole) == dict.fromkeys(runs.TABLES, True)
    pq.write_table(table[4:].take([1, 0, 2, 3, 4, 5]), parts / "kept.parquet" / "part-1.parquet")
    pq.write_table(table[4:9], parts / "pairs.parquet" / "part-1.parquet")
    named = table.rename_columns(["id", "other"])
    pq.write_table(named, whole / "removed.parquet")
    found = spark_equal.equal_tables(parts, whole)
    assert found == {"kept": False, "removed": False, "pairs": False, "clusters": True}


def test_generated_collection_can_be_divided(tmp_path, monkeypatch):
    monkeypatch.setattr(corpora, "ROW_GROUP", 300)
    monkeypatch.setattr(corpora, "_BLOCK", 1 << 16)
    corpus = corpora.generated(1_000, tmp_path)
    about = pq.read_metadata(corpus.path)
    rows = [about.row_group(place).num_rows for place in range(about.num_row_groups)]
    assert rows == [300, 300, 300, 100]
    table = pq.read_table(corpus.path)
    assert table["id"].to_pylist() == [str(row) for row in range(1_000)]
    size = sum(len(text.encode()) for text in table["text"].to_pylist())
    assert corpus.megabytes * 1e6 == pytest.approx(size)
    assert [path.name for path in tmp_path.iterdir()] == ["generated-1000.parquet"]


def test_least_squares_find_what_is_there_and_nothing_below_zero():
    x, y = [1.0, 10.0, 100.0, 1_000.0], [5.0, 3.0, 8.0, 1.0]
    wanted = [2 * a + 3 * b for a, b in zip(x, y, strict=True)]
    assert model.non_negative((x, y), wanted) == pytest.approx([2, 3])
    falling = [10 - 3 * b / 8 for b in y]
    constant, slope = model.non_negative(([1.0] * 4, y), falling)
    assert slope == 0
    assert min(falling) <= constant <= max(falling)
    assert model.non_negative((x, [0.0] * 4), [0.0] * 4) == [0, 0]


def measured(megabytes, splits, where=runs.LOCAL_2, **more):
    """A run of a made-up engine: its costs are those that the model must find again."""
    shards = 1 << (splits.bit_length() - 1)
    counts = {model.ONE: 1, model.SPLITS: splits, model.SHARDS: shards}
    stages = []
    for name, kinds in STAGES.items():
        tasks = sum(counts[kind] for kind in kinds)
        alone = 0.01 * megabytes if model.ONE in kinds else 0.0
        rows = [counts[here] * counts[there] + megabytes for here, there in pairwise(kinds)]
        cpu = 0.3 + 0.05 * tasks + 0.001 * sum(rows) + 0.02 * megabytes
        steps = [
            {
                "tasks": counts[kind],
                "failed": 0,
                "seconds": 1.0 * counts[kind],
                "mean_seconds": alone if kind == model.ONE else 1.0,
                "longest_seconds": alone if kind == model.ONE else 1.5,
                "shuffle_bytes": 0,
                "shuffle_records": 0,
                "spilled_bytes": 0,
            }
            for kind in kinds
        ]
        for step, sent in zip(steps, rows, strict=False):
            step["shuffle_records"] = sent
            step["shuffle_bytes"] = round(100 * sent + 250_000 * megabytes)
        stages.append(
            {
                "stage": name,
                "seconds": cpu / 2 + alone + 0.5,
                "cpu_seconds": cpu + alone,
                "returned_bytes": 1_000 + 200 * splits,
                "closure_bytes": 3_000 + 100 * splits,
                "steps": steps,
            }
        )
    start = {"seconds": 3.0, "cpu_seconds": 5.0}
    return {
        "corpus": runs.generated_name(round(megabytes * 2_500)),
        "where": where,
        "documents": round(megabytes * 2_500),
        "megabytes": megabytes,
        "file_megabytes": megabytes / 2,
        "cores": 2,
        "seconds": sum(stage["seconds"] for stage in stages),
        "cpu_seconds": sum(stage["cpu_seconds"] for stage in stages),
        "start": {"session": start, "first job": start},
        "peak_megabytes": {"driver": 140 + splits * 0.01, "jvm": 600.0, "python workers": 250.0},
        "split_bytes": round(megabytes * 1e6 / splits),
        "engine": {
            "splits": splits,
            "shards": shards,
            "features": 150_000 * megabytes,
            "bins": 4 + splits % 3,
            "nodes": round(1_000 * megabytes),
        },
        "stages": stages,
        "equal": dict.fromkeys(runs.TABLES, True),
        **more,
    }


def fitted():
    given = [measured(*one) for one in ((40, 8), (120, 8), (400, 9), (1_200, 20), (120, 60))]
    return model.fit(given, 64 * 10**6, 1 << 25)


def test_model_finds_the_costs_of_its_runs():
    found = fitted()
    copies, bins, output = found["stages"]
    assert copies["steps"] == [model.SPLITS, model.SHARDS, model.SPLITS]
    assert bins["steps"] == [model.ONE, model.SPLITS]
    expected = {"fixed": 0.3, "task": 0.05, "row": 0.001, "megabyte": 0.02}
    assert copies["cpu_seconds"] == pytest.approx(expected)
    for stage in (copies, bins):
        for shuffle in stage["shuffles"]:
            assert shuffle["rows"] == pytest.approx({"pair": 1, "megabyte": 1})
            assert shuffle["bytes"] == pytest.approx({"row": 100, "megabyte": 250_000})
    assert [len(stage["shuffles"]) for stage in (copies, bins, output)] == [2, 1, 0]
    assert bins["alone_seconds"]["megabyte"] == pytest.approx(0.01)
    assert copies["alone_seconds"] == {"fixed": 0, "megabyte": 0}
    assert found["returned_bytes"]["split"] == pytest.approx(600)
    assert found["driver_bytes"]["split"] == pytest.approx(10_000)
    assert model.fit([measured(40, 8)], 64, 64) is None


def test_foresight_of_a_measured_size_is_what_was_measured():
    found = model.foresee(fitted(), model.Cluster(0.0004, 2, 1), split_bytes=45 * 10**6)
    known = measured(400, 9)
    assert (found["splits"], found["shards"]) == (9, 8)
    assert found["cpu_hours"] * 3600 == pytest.approx(known["cpu_seconds"], rel=0.01)
    assert found["shuffle_terabytes"] * 1e12 == pytest.approx(section.shuffled(known), rel=0.01)


def test_foresight_names_what_breaks_first():
    small, large = (model.foresee(fitted(), asked) for asked in model.ASKED)
    assert large["splits"] == pytest.approx(100 * small["splits"], rel=0.01)
    assert large["needs_rounds"]
    assert large["breaks"]
    ratios = [one["value"] / one["limit"] for one in large["breaks"]]
    assert ratios == sorted(ratios, reverse=True)
    assert min(ratios) > 1
    coarser = model.foresee(fitted(), model.ASKED[1], split_bytes=10**9)
    assert coarser["rows"] < large["rows"] / 10
    assert len(coarser["breaks"]) <= len(large["breaks"])


def test_foresight_reckons_with_relays():
    shuffle = {"rows": {"pair": 1.0, "megabyte": 0.0}, "bytes": {"row": 0.0, "megabyte": 1e6}}
    few = model.Shuffled.between(shuffle, 1_000, 1_000, 10.0)
    assert few == model.Shuffled(1e6, 1e7, 0)
    many = model.Shuffled.between(shuffle, 10_000, 10_000, 10.0)
    assert MOST_PAIRS < 10_000 * 10_000
    assert many == model.Shuffled(2 * 10_000 * 100, 2e7, Relays(10_000, 10_000).count)
    # A task that sends more than it holds sends several rows to each other.
    full = model.Shuffled.between(shuffle, 10, 10, 10_000.0)
    assert full.rows == pytest.approx(100 * 2 * 1e9 / HELD_BYTES)


def result(rows, **conditions):
    given = {"threshold": 0.8, "absent": {}, "model": None}
    return Result.of(runs.BENCHMARK, [], {}, {**given, **conditions}, rows)


def full_rows():
    local = {"peak_megabytes": {"driver": 400.0}}
    rows = []
    for corpus in (MILLION, *runs.REAL):
        spark_row = {**measured(400, 8), "corpus": corpus, "seconds": 16.0, "cpu_seconds": 30.0}
        known = {"corpus": corpus, "megabytes": 400.0, "documents": 10**6, "cores": 2}
        rows.append({**known, "where": runs.LOCAL, "seconds": 5.0, "cpu_seconds": 9.0, **local})
        rows.append(spark_row)
    for corpus in (MILLION, runs.generated_name(runs.FULL.scaled)):
        rows.append({**measured(400, 8), "corpus": corpus, "where": runs.ONE_EXECUTOR})
        rows[-1] |= {"cores": 1, "seconds": 34.0}
        rows.append({**measured(400, 8), "corpus": corpus, "where": runs.TWO_EXECUTORS})
        rows[-1] |= {"seconds": 20.0}
    rows += [measured(40, 8), measured(2_000, 30)]
    known = {"corpus": MILLION, "equal": dict.fromkeys(runs.TABLES, True)}
    kills = [{"stage": stage, "executor": True, "python worker": True} for stage in STAGES]
    failed = {"copies": 2, "output": 1}
    rows.append({**known, "where": runs.EXECUTORS_KILLED, "kills": kills, "failed_tasks": failed})
    kills = [{"after": "copies", "in": "bins"}, {"after": "bins", "in": "output"}]
    rows.append({**known, "where": runs.DRIVER_KILLED, "kills": kills, "failed_tasks": {}})
    return rows


def verdicts(rows):
    return {(one.what, one.wanted): one.met for one in section.targets(result(rows))}


def test_targets_are_met_missed_or_open():
    assert set(verdicts(full_rows()).values()) == {True}
    assert set(verdicts([]).values()) == {None}
    rows = full_rows()
    (slow,) = (row for row in rows if (row["corpus"], row["where"]) == (MILLION, runs.LOCAL_2))
    slow["cpu_seconds"] = 41.0
    slow["peak_megabytes"]["driver"] = 301.0
    slow["equal"]["pairs"] = False
    slow["stages"][0]["steps"][0]["longest_seconds"] = 6.0
    slow["stages"][0]["steps"][0]["shuffle_bytes"] = 400_000_001
    missed = [wanted for (_, wanted), met in verdicts(rows).items() if met is False]
    assert missed == [
        "equal to the local engine",
        "≥ 10 MB/s/core",
        "≤ 4 × the CPU time of the local engine",
        "shuffle ≤ 1 × the text",
        "driver ≤ 300 MB",
        "longest task of a step ≤ 5 × the mean",
    ]


def test_a_stage_in_which_nothing_was_killed_is_not_survived():
    rows = full_rows()
    rows[-2]["kills"][1]["executor"] = False
    found = {one.what: one for one in section.targets(result(rows))}
    target = found[f"Spark: {runs.EXECUTORS_KILLED}"]
    assert target.met is None
    assert "bins" in target.measured


def test_growth_is_judged_only_up_to_the_largest_collection():
    rows = [measured(40, 8), measured(400, 8)]
    (target,) = (one for one in section.targets(result(rows)) if "10^5" in one.what)
    assert target.met is None
    assert target.measured.endswith("× up to 10^6 × 60 words")
    rows = [measured(40, 8), measured(2_000, 30, cpu_seconds=10_000.0)]
    (target,) = (one for one in section.targets(result(rows)) if "10^5" in one.what)
    assert target.met is False


def test_section_shows_what_was_measured():
    rows = full_rows()
    rows[1]["equal"] = {**rows[1]["equal"], "pairs": False}
    absent = {"rustdoc": "it is not beside the repository"}
    text = section.section(result(rows, model=fitted(), absent=absent))
    assert f"| {MILLION} | local[2] | 400 | 16.0 | 30.0 | 13.3 | 12.5 | 3.3 |" in text
    assert "**different**: pairs" in text
    assert "rustdoc was left out: it is not beside the repository." in text
    assert "BigCode, MinHash on Spark | 0.3–0.8 | published, not measured here" in text
    assert f"**neardup on Spark, `local[2]`, {MILLION}** | 13.3 | measured here" in text
    assert "| copies | " in text
    assert "copies (executor and python worker)" in text
    assert "3 tasks failed and were repeated" in text
    assert "killed 2 times, each time after one more stage (copies, bins)" in text
    assert "100 TB, 1,000 nodes, 16,000 cores" in text
    assert "1 → 2 executors | ≥ 1.6 × faster | 1.7 × | met" in text
    assert "**not met**" in text
    empty = section.section(result([]))
    assert "Past this machine" not in empty
    assert "not measured" in empty


def test_parts_are_kept_when_others_are_measured(tmp_path, monkeypatch):
    chosen = SimpleNamespace(out=tmp_path, rounds=1, resume=True, scratch=None)
    monkeypatch.setattr(spark, "_java_version", lambda: "17")
    monkeypatch.setattr(spark, "package_versions", lambda _: {})
    monkeypatch.setattr(spark, "model_of", lambda _: None)
    path = tmp_path / "docs.parquet"
    path.write_bytes(b"x")
    corpus = corpora.Corpus("docs", path, 3, 1.0)
    spark.Bench(tmp_path, chosen)._put(corpus, runs.LOCAL_2, {"seconds": 2.0})
    second = spark.Bench(tmp_path, chosen)
    second._put(corpus, runs.LOCAL_1, {"seconds": 3.0})
    second._put(corpus, runs.LOCAL_2, {"seconds": 1.0})
    stored = Result.load(runs.BENCHMARK, tmp_path)
    assert stored.command == "python -m benchmarks.spark"
    assert {row["where"]: row["seconds"] for row in stored.rows} == {
        "local[1]": 3.0,
        "local[2]": 1.0,
    }
    assert second._is_there("docs", runs.LOCAL_1)
    assert not second._is_there("docs", runs.TWO_EXECUTORS)
    second._commit = "another"
    assert not second._is_there("docs", runs.LOCAL_1)


def test_small_figures_are_no_result(capsys):
    with pytest.raises(SystemExit):
        spark.main(["--small"])
    assert "--out" in capsys.readouterr().err


def test_names_of_generated_collections():
    names = [runs.generated_name(n) for n in (10**6, 3 * 10**5, 12_345)]
    assert names == ["10^6 × 60 words", "3·10^5 × 60 words", "12,345 × 60 words"]


def test_all_parts_are_planned_once():
    plan = list(spark.planned(runs.PARTS, runs.FULL, long=True))
    keys = [(one.name, where) for one in plan for where, _ in one.wheres()]
    assert len(keys) == len(set(keys))
    assert (runs.RUSTDOC, runs.EXECUTORS_KILLED) in keys
    assert (runs.generated_name(5 * runs.MILLION), runs.LOCAL_2) in keys
    assert runs.generated_name(runs.FULL.fine) in [one.name for one in plan if one.split_bytes]
    short = deepcopy(list(spark.planned([runs.GROWTH_PART], runs.FULL, long=False)))
    assert [one.corpus for one in short] == list(runs.FULL.growth)
