"""The part of the benchmarks page about the Spark engine: tables, targets, a foresight."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmarks import spark_model
from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result
from benchmarks.spark_runs import (
    BENCHMARK,
    DRIVER_KILLED,
    EXECUTORS_KILLED,
    FINE,
    FULL,
    LOCAL,
    LOCAL_2,
    MILLION,
    ONE_EXECUTOR,
    REAL,
    RUSTDOC,
    TABLES,
    TWO_EXECUTORS,
    generated_name,
)
from benchmarks.target import Target

__all__ = ["BENCHMARK", "section", "targets"]

MILLION_RATE, RUSTDOC_RATE = 10, 12
TIMES_LOCAL, TIMES_TEXT, TIMES_FASTER = 4, 1, 1.6
DRIVER_MEGABYTES, TIMES_MEAN, LEAST_TASK_SECONDS = 300, 5, 0.5
FROM, TO, GROWTH = 10**5, 5 * MILLION, 1.25
CONTESTS = {generated_name(MILLION): MILLION_RATE, RUSTDOC: RUSTDOC_RATE}
VERDICTS = {True: "met", False: "**not met**", None: "not measured"}
KILLED = (EXECUTORS_KILLED, DRIVER_KILLED)

# MB/s a core as published, and what the job leaves out.
PUBLISHED = (
    (
        "data-juicer, MinHash on Ray",
        "0.4",
        "no verification; documents are numbered in the order in which tasks ask, so another one "
        "of a cluster may be kept in the next run",
    ),
    (
        "BigCode, MinHash on Spark",
        "0.3–0.8",
        "no verification; the kept document depends on how the input is partitioned",
    ),
    (
        "datatrove, MinHash, first stage only",
        "0.9",
        "no verification; one task makes all clusters; the other stages are not in the figure",
    ),
    ("NeMo Curator, MinHash on GPUs", "no figure for CPUs", "runs on GPUs only; no verification"),
)


def section(result: Result) -> str:
    """The part of the page."""
    parts = ["## The Spark engine\n", provenance(result), _about(result), _costs(result)]
    absent = result.conditions["absent"]
    parts += [f"{name} was left out: {why}.\n" for name, why in absent.items()]
    parts += ["### Beside published figures\n", _published(result)]
    if (row := _row(result, generated_name(MILLION), LOCAL_2)) is not None:
        parts += [f"### Stages, {row['corpus']}, `{LOCAL_2}`\n", _stages(row)]
    if any(row["where"] in KILLED for row in result.rows):
        parts += ["### Processes killed with -9\n", _kills(result)]
    if result.conditions["model"] is not None:
        parts += ["### Past this machine\n", _foresight(result.conditions["model"])]
    parts += ["### Targets of the Spark engine\n", _targets(result)]
    return "\n".join(parts)


def _about(result: Result) -> str:
    least = result.conditions["threshold"]
    return (
        f"`neardup dedup --engine spark`, Jaccard ≥ {least:g} on `word:3`, "
        "every pair verified, from Parquet to the written tables. Each run is a process that "
        "starts Spark and stops it; the cluster is a standalone master with workers, each pinned "
        "to one core, all on one machine. The start of the session and a first small job are "
        "*start-up*, and not in the other columns. CPU seconds are those of the driver, all JVMs "
        "and all Python workers. *MB/s/core* is text by CPU seconds; *by wall* is text by wall "
        "time and cores. *Equal* compares the tables "
        f"{', '.join(f'`{name}`' for name in TABLES)} with those of the local engine (2 threads), "
        "row by row.\n"
    )


def _costs(result: Result) -> str:
    header = ["", "", "MB", "wall s", "CPU s", "MB/s/core", "by wall", "CPU, × local"]
    header += ["shuffle, × text", "spilled MB", "start-up s", "start-up CPU s"]
    header += ["driver MB", "JVM MB", "worker MB", "equal"]
    rows = []
    for row in result.rows:
        if row["where"] in KILLED:
            continue
        rate, wall = rate_of(row), row["megabytes"] / row["seconds"] / row["cores"]
        cells = [row["corpus"], row["where"], f"{row['megabytes']:,.0f}", f"{row['seconds']:.1f}"]
        cells += [f"{row['cpu_seconds']:.1f}", f"{rate:.1f}", f"{wall:.1f}"]
        rows.append([*cells, *_spark_cells(result, row)])
    return table(header, rows)


def _spark_cells(result: Result, row: Json) -> Sequence[str]:
    peaks = row["peak_megabytes"]
    if row["where"] == LOCAL:
        return ("", "", "", "", "", f"{peaks['driver']:.0f}", "", "", "")
    times = times_local(result, row)
    start = row["start"].values()
    return (
        "" if times is None else f"{times:.1f}",
        f"{shuffled(row) / row['megabytes'] / 1e6:.2f}",
        f"{_sum(row, 'spilled_bytes') / 1e6:.0f}",
        f"{sum(one['seconds'] for one in start):.1f}",
        f"{sum(one['cpu_seconds'] for one in start):.1f}",
        f"{peaks['driver']:.0f}",
        f"{peaks['jvm']:.0f}",
        f"{peaks['python workers']:.0f}",
        _verdict(row),
    )


def _published(result: Result) -> str:
    rows = []
    for corpus in CONTESTS:
        if (row := _row(result, corpus, LOCAL_2)) is not None:
            what = f"**neardup on Spark, `{LOCAL_2}`, {corpus}**"
            rows.append((what, f"{rate_of(row):.1f}", "measured here", ""))
    rows += [(name, rate, "published, not measured here", lacks) for name, rate, lacks in PUBLISHED]
    return (
        table(("", "MB/s/core", "", "what it does not do"), rows)
        + "\nThe published figures are of other machines, collections and settings: they tell the "
        "order of magnitude.\n"
    )


def _stages(row: Json) -> str:
    rows = []
    for stage in row["stages"]:
        for place, step in enumerate(stage["steps"]):
            first = place == 0
            rows.append(
                (
                    stage["stage"] if first else "",
                    f"{stage['seconds']:.1f}" if first else "",
                    f"{stage['cpu_seconds']:.1f}" if first else "",
                    str(place + 1),
                    str(step["tasks"]),
                    f"{step['mean_seconds']:.2f}",
                    f"{step['longest_seconds']:.2f}",
                    f"{step['shuffle_bytes'] / 1e6:.1f}",
                    f"{step['shuffle_records']:,}",
                    f"{step['spilled_bytes'] / 1e6:.0f}",
                )
            )
    header = ("stage", "wall s", "CPU s", "step", "tasks", "mean s", "longest s")
    return table((*header, "shuffle MB", "rows", "spilled MB"), rows)


def _kills(result: Result) -> str:
    lines = []
    for row in result.rows:
        if row["where"] == EXECUTORS_KILLED:
            done = ", ".join(f"{kill['stage']} ({_victims(kill)})" for kill in row["kills"])
            lines.append(
                f"- {row['corpus']}, two executors. Killed in each stage: {done}. "
                f"{sum(row['failed_tasks'].values())} tasks failed and were repeated. "
                f"The result is {_verdict(row)}.\n"
            )
        elif row["where"] == DRIVER_KILLED:
            done = ", ".join(kill["after"] for kill in row["kills"])
            lines.append(
                f"- {row['corpus']}, two executors. The driver was killed {len(row['kills'])} "
                f"times, each time after one more stage ({done}), and resumed. The result is "
                f"{_verdict(row)}.\n"
            )
    return "".join(lines)


def _victims(kill: Json) -> str:
    found = [name for name in ("executor", "python worker") if kill[name]]
    return " and ".join(found) or "none: it was over before"


def _foresight(model: Mapping[str, object]) -> str:
    found = [
        (_asked(asked, size), spark_model.foresee(model, asked, size))
        for asked in spark_model.ASKED
        for size in (None, spark_model.LARGE_SPLIT_BYTES)
    ]
    rows: list[Sequence[str]] = [
        (
            what,
            f"{one['splits']:,}",
            f"{one['rows']:.2g}",
            f"{one['hours']:,.1f}",
            f"{one['cpu_hours']:,.0f}",
            f"{one['shuffle_terabytes']:.2g}",
            f"{one['driver_python_bytes'] / 1e9:,.1f}",
            f"{one['driver_jvm_bytes'] / 1e9:,.1f}",
        )
        for what, one in found
    ]
    header = ("", "splits", "rows", "hours", "CPU hours", "shuffle TB")
    parts = [
        "Extrapolated, not measured: a model of the stages, fitted on "
        f"{len(model['runs'])} runs on generated documents of 60 words "  # type: ignore[arg-type]
        "(`benchmarks/spark_model.py`). Longer documents cost less for each megabyte.\n",
        table((*header, "driver, Python GB", "driver, JVM GB"), rows),
    ]
    for what, one in found:
        over = [
            f"{each['what']} ({each['value']:.2g}, limit {each['limit']:.2g})"
            for each in one["breaks"]
        ]
        said = f"beyond a limit, the worst first: {'; '.join(over)}" if over else "within limits"
        parts.append(f"- {what}: {said}.")
    return "\n".join(parts) + "\n"


def _asked(asked: spark_model.Cluster, split_bytes: int | None) -> str:
    """Such as `1 TB, 32 nodes, 512 cores, splits of 1 GB`."""
    what = f"{asked.terabytes:g} TB, {asked.nodes:,} nodes, {asked.cores:,} cores"
    return what if split_bytes is None else f"{what}, splits of {split_bytes / 1e9:.0f} GB"


def _targets(result: Result) -> str:
    rows = [
        (target.what, target.wanted, target.measured, VERDICTS[target.met])
        for target in targets(result)
    ]
    return table(("what", "wanted", "measured", ""), rows)


def targets(result: Result) -> Iterator[Target]:
    """What the Spark engine set out to reach."""
    for corpus in (*REAL, generated_name(MILLION)):
        yield _equality(f"Spark: {corpus}", [row for row in result.rows if row["corpus"] == corpus])
    for where in KILLED:
        yield _survived(where, [row for row in result.rows if row["where"] == where])
    for corpus, least in CONTESTS.items():
        yield from _contest(result, corpus, least)
    for n in (MILLION, FULL.scaled):
        yield _scaling(result, generated_name(n))
    yield _growth(result)
    yield from _bounds(result)


def _equality(what: str, rows: Sequence[Json]) -> Target:
    wanted = "equal to the local engine"
    judged = [row for row in rows if "equal" in row]
    if not judged:
        return Target(what, wanted, "not measured", None)
    equal = sum(_is_equal(row) for row in judged)
    met = equal == len(judged)
    return Target(what, wanted, f"{equal} of {len(judged)} runs equal", met)


def _survived(where: str, rows: Sequence[Json]) -> Target:
    """Equal, and killed in every stage; a stage that ended before the kill is not survived."""
    found = _equality(f"Spark: {where}", rows)
    missed = [
        kill["stage"]
        for row in rows
        for kill in row["kills"]
        if "stage" in kill and not (kill["executor"] and kill["python worker"])
    ]
    if not rows or (found.met and not missed and all(row["kills"] for row in rows)):
        return found
    if not found.met:
        return found
    said = f"{found.measured}, but nothing was killed in {', '.join(missed) or 'any stage'}"
    return Target(found.what, found.wanted, said, None)


def _contest(result: Result, corpus: str, least: float) -> Iterator[Target]:
    row = _row(result, corpus, LOCAL_2)
    what = f"Spark: {corpus}, `{LOCAL_2}`"
    rate = None if row is None else rate_of(row)
    yield _judged(what, f"≥ {least} MB/s/core", rate, least, True, " MB/s/core")
    times = None if row is None else times_local(result, row)
    wanted = f"≤ {TIMES_LOCAL} × the CPU time of the local engine"
    yield _judged(what, wanted, times, TIMES_LOCAL, False, " ×")
    share = None if row is None else shuffled(row) / row["megabytes"] / 1e6
    yield _judged(what, f"shuffle ≤ {TIMES_TEXT} × the text", share, TIMES_TEXT, False, " ×")


def _scaling(result: Result, corpus: str) -> Target:
    one, two = (_row(result, corpus, where) for where in (ONE_EXECUTOR, TWO_EXECUTORS))
    times = None if one is None or two is None else one["seconds"] / two["seconds"]
    what = f"Spark: {corpus}, 1 → 2 executors"
    return _judged(what, f"≥ {TIMES_FASTER} × faster", times, TIMES_FASTER, True, " ×")


def _growth(result: Result) -> Target:
    """CPU time of a document in the largest collection, by that in the smallest."""
    what = f"Spark: {generated_name(FROM)} to {generated_name(TO)}"
    wanted = f"≤ {GROWTH} × the CPU time of a document"
    rows = [row for row in result.rows if row["where"] == LOCAL_2 and row["corpus"] not in REAL]
    small = min(rows, key=lambda row: int(row["documents"]), default=None)
    large = max(rows, key=lambda row: int(row["documents"]), default=None)
    if small is None or large is None or small is large:
        return Target(what, wanted, "not measured", None)
    times = large["cpu_seconds"] / large["documents"] * small["documents"] / small["cpu_seconds"]
    if (small["documents"], large["documents"]) == (FROM, TO):
        return _judged(what, wanted, times, GROWTH, False, " ×")
    return Target(what, wanted, f"{times:.3g} × up to {large['corpus']}", None)


def _bounds(result: Result) -> Iterator[Target]:
    rows = [row for row in result.rows if "stages" in row]
    peak = max((row["peak_megabytes"]["driver"] for row in rows), default=None)
    wanted = f"driver ≤ {DRIVER_MEGABYTES} MB"
    yield _judged("Spark: all runs", wanted, peak, DRIVER_MEGABYTES, False, " MB")
    # Tasks of a few milliseconds differ by chance.
    times = [
        step["longest_seconds"] / step["mean_seconds"]
        for row in rows
        if not row["where"].startswith(FINE)
        for stage in row["stages"]
        for step in stage["steps"]
        if step["longest_seconds"] >= LEAST_TASK_SECONDS
    ]
    wanted = f"longest task of a step ≤ {TIMES_MEAN} × the mean"
    yield _judged("Spark: all runs", wanted, max(times, default=None), TIMES_MEAN, False, " ×")


def rate_of(row: Json) -> float:
    """Megabytes of text by CPU seconds, start-up apart."""
    return float(row["megabytes"] / row["cpu_seconds"])


def times_local(result: Result, row: Json) -> float | None:
    """The CPU time by that of the local engine on the same collection."""
    local = _row(result, row["corpus"], LOCAL)
    return None if local is None else float(row["cpu_seconds"] / local["cpu_seconds"])


def shuffled(row: Json) -> int:
    """The bytes that all stages wrote for their shuffles."""
    return _sum(row, "shuffle_bytes")


def _sum(row: Json, field: str) -> int:
    return sum(step[field] for stage in row["stages"] for step in stage["steps"])


def _row(result: Result, corpus: str, where: str) -> Json | None:
    return result.find(corpus=corpus, where=where)


def _is_equal(row: Json) -> bool:
    return all(row["equal"].values())


def _verdict(row: Json) -> str:
    if _is_equal(row):
        return "equal"
    return "**different**: " + ", ".join(name for name, same in row["equal"].items() if not same)


def _judged(
    what: str, wanted: str, value: float | None, limit: float, is_least: bool, unit: str
) -> Target:
    if value is None:
        return Target(what, wanted, "not measured", None)
    met = value >= limit if is_least else value <= limit
    return Target(what, wanted, f"{value:.3g}{unit}", met)
