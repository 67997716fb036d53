"""Writers of an index, killed at any moment, with and without an open reader.

    run(rounds=1000, seed=1)

One to three processes of one to three threads add, check, delete, expire, compact and make
backups. Acknowledged changes survive, no change is partial, of each family of near-duplicates one
document is there, and backups are complete or absent: see `tests/index/disk/killed_writer.py`. The
kind of index and the reader depend on the seed.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile

from tests.index.disk.killed_writer import KINDS
from tests.torture.commands import ROOT


def run(rounds: int, seed: int) -> dict[str, int]:
    """Kill at least `rounds` writers."""
    chance = random.Random(f"index_kills {seed}")
    words = [str(rounds), str(seed), chance.choice(list(KINDS)), *chance.choice([[], ["reader"]])]
    with tempfile.TemporaryDirectory(prefix="neardup-kills-") as folder:
        done = subprocess.run(
            [sys.executable, "-m", "tests.index.disk.killed_writer", folder, *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, f"killed_writer FOLDER {' '.join(words)}\n{done.stderr}"
    counts: dict[str, int] = json.loads(done.stdout)
    return counts
