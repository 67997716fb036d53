"""Every campaign for a few rounds, with seeds that do not change; `make torture` runs them long.

They run in processes of their own, because what is forked there must have no other thread.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.torture.__main__ import CAMPAIGNS, there
from tests.torture.commands import ROOT

ROUNDS = {
    "kills": 2,
    "signals": 5,
    "inputs": 12,
    "options": 1,
    "adversarial": 3,
    "full_disk": 3,
    "damage": 60,
    "index_kills": 10,
}


@pytest.mark.parametrize("name", [name for name in CAMPAIGNS if there(name)])
def test_campaign(name):
    words = ["--campaign", name, "--rounds", str(ROUNDS[name]), "--seed", "1"]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.torture", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
