"""Every campaign for a few rounds with fixed seeds; `make torture` runs them for long.

They run in separate processes, because a process that forks must not have other threads.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.torture.__main__ import CAMPAIGNS, there
from tests.torture.commands import ROOT

# Rounds and first seed; all together take less than a minute.
SHORT = {
    "kills": (2, 1),
    "signals": (5, 1),
    "inputs": (12, 1),
    "options": (1, 1),
    "adversarial": (3, 46),
    "full_disk": (3, 1),
    "damage": (60, 1),
    "index_kills": (10, 1),
}


@pytest.mark.parametrize("name", [name for name in CAMPAIGNS if there(name)])
def test_campaign(name):
    rounds, seed = SHORT[name]
    words = ["--campaign", name, "--rounds", str(rounds), "--seed", str(seed)]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.torture", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
