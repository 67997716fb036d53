"""Writers of an index, killed at any moment, with and without an open reader.

    run(rounds=1000, seed=1)

Acknowledged changes survive, no change is partial, and a change that the first reader after a kill
does not see never appears later: see `tests/index/disk/killed_writer.py`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "index" / "disk" / "killed_writer.py"


def run(rounds: int, seed: int) -> dict[str, int]:
    """Kill `rounds` writers, half of them while a reader is open."""
    counts = {"kills": 0, "done but not told": 0}
    for reader, kills in (("", rounds - rounds // 2), ("reader", rounds // 2)):
        with tempfile.TemporaryDirectory(prefix="neardup-kills-") as folder:
            command = [sys.executable, str(SCRIPT), folder, str(kills), str(seed)]
            done = subprocess.run(
                [*command, *([reader] if reader else [])],
                capture_output=True,
                text=True,
                check=False,
            )
        assert done.returncode == 0, f"{kills} kills, seed {seed} {reader}\n{done.stderr}"
        told = done.stdout.split(", ")
        counts["kills"] += int(told[0].split()[0])
        counts["done but not told"] += int(told[2].split()[0])
    return counts
