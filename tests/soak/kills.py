"""Kill -9 under load: one worker, the writer, all of the server, in turn."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

from tests.soak.crew import Crew
from tests.soak.outcome import Outcome, compare_stored
from tests.soak.server import SERVER, WORKER, WRITER, SoakServer

VICTIMS = (WORKER, WRITER, SERVER)
DOCUMENTS = 5_000
MOST_UP_SECONDS = 1.0
# How long the load runs before a kill, and after the server is up again.
BEFORE_SECONDS, AFTER_SECONDS = (0.2, 0.9), 0.2


def run(
    kills: int, seed: int, victims: tuple[str, ...] = VICTIMS, documents: int = DOCUMENTS
) -> Outcome:
    """So many kills; after each, every caller looks for its documents."""
    chance = random.Random(f"kills {seed}")
    up: dict[str, list[float]] = {victim: [] for victim in victims}
    findings: list[str] = []
    with tempfile.TemporaryDirectory(prefix="neardup-soak-") as folder:
        server = SoakServer(Path(folder))
        try:
            crew = Crew(server.port, documents, may_break=True)
            try:
                for number in range(kills):
                    victim = victims[number % len(victims)]
                    crew.go()
                    time.sleep(chance.uniform(*BEFORE_SECONDS))
                    up[victim].append(round(server.kill(victim), 3))
                    time.sleep(AFTER_SECONDS)
                    crew.pause()
                    crew.verify()
            except AssertionError as error:
                findings.append(str(error))
            seen = crew.seen()
            crew.end()
            if not findings and (code := server.stop()):
                findings.append(f"the server ended with {code} after SIGTERM: {server.said()}")
        finally:
            server.abandon()
        findings += seen.findings
        findings += compare_stored(server.data, seen.ids)
        findings += server.failures()
    slow = [seconds for seconds in up.get(SERVER, []) if seconds > MOST_UP_SECONDS]
    if slow:
        findings.append(f"the server took {max(slow):.2f} s to be up, {len(slow)} times too long")
    row = {
        "part": "kills",
        "kills": sum(map(len, up.values())),
        "seed": seed,
        "requests": seen.counted.total(),
        "acknowledged": seen.counted["acknowledged"],
        "broken": seen.counted["broken connections"],
        "refused": sum(seen.refused().values()),
        "refused_as": seen.refused(),
        "lost": seen.counted["lost"],
        "unexpected": len(findings),
        "up_seconds": up,
    }
    return Outcome(row, findings)
