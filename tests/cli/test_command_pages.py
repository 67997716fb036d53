"""No command is undocumented, and the page says what the program takes."""

import subprocess
import sys
from pathlib import Path

import pytest

from neardup.cli.app import app

ROOT = Path(__file__).parents[2]


def test_the_page_is_up_to_date():
    script = ROOT / "scripts" / "command_pages.py"
    done = subprocess.run([sys.executable, str(script), "--check"], check=False)
    assert done.returncode == 0, "docs/reference/commands.md is out of date: run `make docs`"


@pytest.mark.parametrize(
    "command", app.registered_commands, ids=lambda command: command.callback.__name__
)
def test_every_command_shows_an_example(command):
    assert "Example: neardup " in command.callback.__doc__
