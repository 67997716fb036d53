"""The part of the benchmarks page about the server: tables and targets, of the soak too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from benchmarks.markdown import provenance, table
from benchmarks.result import Json, Result
from benchmarks.serve_runs import (
    ADD_ARROW,
    ADDS,
    BATCH,
    BATCHES,
    BENCHMARK,
    BULK,
    CHECK,
    CHECK_BESIDE,
    LIBRARY,
    LOADS,
    MILLION,
    PACED,
    PARTS,
    PAUSE_MILLISECONDS,
    PEER_BATCH,
    QUERY,
    QUERY_BESIDE,
    SERVER,
)
from benchmarks.target import Target

__all__ = ["BENCHMARK", "SOAK", "section", "soak_section", "soak_targets", "targets"]

SOAK, SOAK_LOAD, SOAK_KILLS = "soak", "load", "kills"
P50, P99 = 3, 25
QUERIES, ADDED, TIMES_SLOWER, TIMES_FASTER = 3_000, 20_000, 2, 10
SOAK_MINUTES, SOAK_GROWTH, SOAK_DEATHS, SOAK_UP_SECONDS = 30, 0.05, 50, 1


def section(result: Result) -> str:
    """The part of the page."""
    parts = ["## The server\n", provenance(result), _about(result)]
    loads = [row for name in LOADS for row in _of_all_tools(result, name)]
    if loads:
        header = ("", "", "stored", "requests/s", "documents/s", "p50 ms", "p99 ms")
        parts.append(table((*header, "CPU µs", "errors", "found"), map(_load, loads)))
    adds = [row for name in ADDS for row in _of_all_tools(result, name)]
    if adds:
        parts += ["Adding in bulk:\n", table(("", "", "documents", "documents/s"), map(_add, adds))]
    stopped = {row["tool"]: row for row in result.rows if "stopped" in row}
    for tool, row in stopped.items():
        parts.append(f"Filling {tool} was {row['stopped']}, with {row['n']:,} documents.\n")
    absent = result.conditions["absent"]
    parts += [f"{tool} was left out: {why}.\n" for tool, why in absent.items()]
    return "\n".join(parts)


def _about(result: Result) -> str:
    given = result.conditions
    return (
        f"`neardup serve` with {given['workers']} workers, an index with threshold "
        f"{given['threshold']:g} and durable commits; one wait for this disk takes "
        f"{given['sync_microseconds']:,.0f} µs. wrk sends pages of about 300 words (2 kB) as JSON "
        "from the same machine, over connections that are kept open, 16 where nothing else is "
        "said, each with the next request as soon as the answer is there: 16 connections wait "
        f"longer for an answer than one. `{PACED}`: each connection pauses for about "
        f"{PAUSE_MILLISECONDS} ms first. `{QUERY_BESIDE}` and `{CHECK_BESIDE}` run together, with "
        "8 connections each. Half of the pages are new, half are stored ones with 1–3.5 % of the "
        "words exchanged; *found* is how many of the edited pages were recognised. *CPU µs* is "
        "the processor time of all processes of the server for a request. An error is a status "
        f"other than 200 or a broken connection. {given['seconds']} seconds each, best of "
        f"{given['rounds']} rounds. The peers are about fifty lines around a library "
        "(`benchmarks/serve_peer_*.py`), one process, in memory: nothing is durable, matches are "
        f"not verified. They are filled in batches of {PEER_BATCH:,} documents within "
        f"{given['peer_seconds']:g} seconds.\n"
    )


def _of_all_tools(result: Result, name: str) -> list[Json]:
    rows = (result.find(tool=tool, row=name) for tool in PARTS.values())
    return [row for row in rows if row is not None]


def _load(row: Json) -> Sequence[str]:
    documents = row.get("documents_per_second", row["requests_per_second"])
    return (
        f"**{row['tool']}**" if row["tool"] == SERVER else row["tool"],
        row["row"],
        f"{row['n']:,}",
        f"{row['requests_per_second']:,.0f}",
        f"{documents:,.0f}",
        f"{row['p50_milliseconds']:.2f}",
        f"{row['p99_milliseconds']:.2f}",
        f"{row['server_cpu_microseconds']:,.0f}",
        f"{row['errors']:,}",
        f"{_found(row):.2f}" if "marked" in row else "",
    )


def _found(row: Json) -> float:
    """The share of edited pages that was recognised, if each new page was called new.

    `marked` answers say that a page is new; half of the pages are.
    """
    return float(2 * (1 - row["marked"]))


def _add(row: Json) -> Sequence[str]:
    return (
        f"**{row['tool']}**" if row["tool"] == SERVER else row["tool"],
        row["row"],
        f"{row['n']:,}",
        f"{row['documents_per_second']:,.0f}",
    )


def targets(result: Result) -> Iterator[Target]:
    """What the server set out to reach, with 10^6 documents."""
    check = _ours(result, CHECK)
    for percentile, most in (("p50", P50), ("p99", P99)):
        value = check.get(f"{percentile}_milliseconds")
        wanted = f"{percentile} ≤ {most} ms"
        yield _judged("Server: `check`, 16 connections", wanted, value, most, False, " ms")
    rate = _ours(result, QUERY).get("requests_per_second")
    yield _judged("Server: `query`, 16 connections", f"≥ {QUERIES:,}/s", rate, QUERIES, True, "/s")
    added = _ours(result, BULK).get("documents_per_second")
    what = "Server: NDJSON bulk add"
    yield _judged(what, f"≥ {ADDED:,} documents/s", added, ADDED, True, "/s")
    library = _ours(result, ADD_ARROW, LIBRARY).get("documents_per_second")
    times = library / added if added and library else None
    wanted = f"≤ {TIMES_SLOWER} × the time of `add_many`"
    yield _judged(what, wanted, times, TIMES_SLOWER, False, " ×")
    batches = _ours(result, BATCHES).get("documents_per_second")
    ratio = batches / rate if batches and rate else None
    what, wanted = f"Server: `query`, {BATCH} a request", f"≥ {TIMES_FASTER} × single documents/s"
    yield _judged(what, wanted, ratio, TIMES_FASTER, True, " ×")
    errors = [row["errors"] for row in result.rows if row["tool"] == SERVER and "errors" in row]
    yield _judged("Server: all loads", "no errors", sum(errors) if errors else None, 0, False)


def _ours(result: Result, name: str, tool: str = SERVER) -> Json:
    row = result.find(tool=tool, row=name)
    return row if row is not None and row["n"] == MILLION else {}


def soak_section(result: Result) -> str:
    """The part of the page about the soak."""
    parts = ["## The server under load, and killed\n", provenance(result)]
    if row := result.find(part=SOAK_LOAD):
        kinds = ", ".join(f"`{name}` {count:,}" for name, count in row["kinds"].items())
        parts.append(
            f"**{row['minutes']:g} minutes of mixed load**, {row['requests']:,} requests: {kinds}. "
            f"{row['refused']:,} were refused with 429 or 503 and repeated, {row['unexpected']:,} "
            f"were answered wrongly. {row['acknowledged']:,} writes were acknowledged; at the "
            f"end {row['lost']:,} of them were not there. Memory ({row['memory_field']} of all "
            f"processes of the server, {row['documents']:,} documents): "
            f"{row['memory_megabytes_first']:.0f} MB after the warm-up, "
            f"{row['memory_megabytes_last']:.0f} MB at the end, growth {row['growth']:.1%}.\n"
        )
    if row := result.find(part=SOAK_KILLS):
        parts.append(
            f"**{row['kills']:,} times `kill -9` under load**, of one worker, the writer or all "
            f"processes of the server in turn. {row['acknowledged']:,} writes were acknowledged; "
            f"{row['lost']:,} of them were not there afterwards. Seconds until it is up again, "
            "from the start of the server, or from the death of a process:\n"
        )
        victims = ((name, times) for name, times in row["up_seconds"].items() if times)
        parts.append(
            table(
                ("killed", "times", "median s", "maximum s"),
                [
                    (name, str(len(times)), f"{median(times):.2f}", f"{max(times):.2f}")
                    for name, times in victims
                ],
            )
        )
    return "\n".join(parts)


def soak_targets(result: Result) -> Iterator[Target]:
    """What the server set out to survive."""
    load = result.find(part=SOAK_LOAD)
    if load is not None and load["minutes"] < SOAK_MINUTES:
        load = None
    what = f"Server: {SOAK_MINUTES} minutes of mixed load"
    found: dict[str, Any] = load or {}
    wanted = "no errors but 429 and 503"
    yield _judged(what, wanted, found.get("unexpected"), 0, False)
    growth = found.get("growth")
    wanted = f"memory grows by ≤ {SOAK_GROWTH:.0%} after the warm-up"
    met = None if growth is None else growth <= SOAK_GROWTH
    yield Target(what, wanted, "not measured" if growth is None else f"{growth:.1%}", met)
    kills = result.find(part=SOAK_KILLS)
    if kills is not None and kills["kills"] < SOAK_DEATHS:
        kills = None
    found = kills or {}
    what = f"Server: {SOAK_DEATHS} times `kill -9` under load"
    yield _judged(what, "every acknowledged write is there", found.get("lost"), 0, False, " lost")
    up = max(found.get("up_seconds", {}).get("server", []), default=None)
    wanted = f"up within {SOAK_UP_SECONDS} s of its start"
    yield _judged(what, wanted, up, SOAK_UP_SECONDS, False, " s")


def _judged(
    what: str, wanted: str, value: float | None, limit: float, is_least: bool, unit: str = ""
) -> Target:
    if value is None:
        return Target(what, wanted, "not measured", None)
    met = value >= limit if is_least else value <= limit
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return Target(what, wanted, f"{shown}{unit}", met)
