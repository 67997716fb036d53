"""What was acknowledged is there, and nothing is half there, however a writer ends."""

import subprocess
import sys
from pathlib import Path

KILLS = 250
SEED = 7


def test_writers_are_killed_hundreds_of_times(tmp_path):
    script = Path(__file__).with_name("killed_writer.py")
    command = [sys.executable, str(script), str(tmp_path), str(KILLS), str(SEED)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{KILLS} kills")
