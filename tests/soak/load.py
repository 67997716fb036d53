"""Mixed load for some minutes: no wrong answers, no lost writes, and memory that stays flat."""

from __future__ import annotations

import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks import serve_load
from tests.soak.caller import REFUSED_AS
from tests.soak.crew import Crew, Seen
from tests.soak.outcome import Outcome, compare_stored
from tests.soak.server import SoakServer

DOCUMENTS = 20_000
WARM_SHARE, LEAST_WARM_SECONDS = 0.2, 5.0
SAMPLE_SECONDS = 1.0
WINDOWS = 10
MOST_GROWTH = 0.05
# Shorter, the memory of caches that still fill up says nothing.
JUDGED_MINUTES = 5
NOT_REQUESTS = ("acknowledged", "lost", "unexpected", "broken connections", "verify")


def run(minutes: float, documents: int = DOCUMENTS) -> Outcome:
    """Load a server, then look for everything that it has acknowledged."""
    with tempfile.TemporaryDirectory(prefix="neardup-soak-") as folder:
        server = SoakServer(Path(folder))
        try:
            crew = Crew(server.port, documents, may_break=False)
            try:
                samples = _loaded(server, crew, 60 * minutes)
                crew.verify()
                seen = crew.seen()
            finally:
                crew.end()
            held = int(_told(server)["documents"])
            code = server.stop()
        finally:
            server.abandon()
        findings = [*seen.findings, *compare_stored(server.data, seen.ids), *server.failures()]
        if code != 0:
            findings.append(f"the server ended with {code} after SIGTERM: {server.said()}")
    return _outcome(minutes, held, samples, seen, findings)


def _loaded(server: SoakServer, crew: Crew, seconds: float) -> list[tuple[float, float, int, str]]:
    """Samples after the warm-up: seconds, megabytes, documents, and what kind of memory it is."""
    crew.go()
    begun = time.monotonic()
    warm = max(LEAST_WARM_SECONDS, WARM_SHARE * seconds)
    samples = []
    while (now := time.monotonic() - begun) < seconds:
        if now >= min(warm, seconds / 2):
            megabytes, name = server.megabytes()
            samples.append((now, megabytes, int(_told(server)["documents"]), name))
        time.sleep(min(SAMPLE_SECONDS, seconds / 20))
    crew.pause()
    return samples


def _told(server: SoakServer) -> Any:
    return serve_load.call(server.port, "GET", "/v1/indexes/pages")


def _outcome(
    minutes: float,
    held: int,
    samples: list[tuple[float, float, int, str]],
    seen: Seen,
    findings: list[str],
) -> Outcome:
    windows = medians([megabytes for _, megabytes, _, _ in samples])
    growth = max(windows) / windows[0] - 1
    if minutes >= JUDGED_MINUTES and growth > MOST_GROWTH:
        grown = ", ".join(f"{each:.0f}" for each in windows)
        findings.append(f"memory grew by {growth:.1%} after the warm-up: {grown} MB")
    counts = [documents for _, _, documents, _ in samples]
    refused = seen.refused()
    kinds = {
        kind: count
        for kind, count in sorted(seen.counted.items())
        if kind not in NOT_REQUESTS and not kind.startswith(REFUSED_AS)
    }
    row = {
        "part": "load",
        "minutes": minutes,
        "requests": sum(kinds.values()),
        "kinds": kinds,
        "refused": sum(refused.values()),
        "refused_as": refused,
        "unexpected": len(findings) and max(len(findings), seen.counted["unexpected"]),
        "acknowledged": seen.counted["acknowledged"],
        "lost": seen.counted["lost"],
        "documents": held,
        "fewest_documents": min(counts),
        "most_documents": max(counts),
        "memory_field": samples[-1][3],
        "memory_megabytes": [round(each, 1) for each in windows],
        "memory_megabytes_first": round(windows[0], 1),
        "memory_megabytes_last": round(windows[-1], 1),
        "memory_megabytes_highest": round(max(megabytes for _, megabytes, _, _ in samples), 1),
        "growth": round(growth, 4),
    }
    return Outcome(row, findings)


def medians(values: list[float]) -> list[float]:
    """The medians of windows of equal length, so that a moment's peak is not taken for growth."""
    count = min(WINDOWS, len(values))
    borders = [len(values) * place // count for place in range(count + 1)]
    return [statistics.median(values[first:last]) for first, last in pairwise(borders)]
