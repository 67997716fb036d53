"""Every command is documented, and the reference page is up to date."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.hostile_usage import commands

from neardup.cli.command import Argument, Option

ROOT = Path(__file__).parents[2]


def test_the_page_is_up_to_date():
    script = ROOT / "scripts" / "command_pages.py"
    done = subprocess.run([sys.executable, str(script), "--check"], check=False)
    assert done.returncode == 0, "docs/reference/commands.md is out of date: run `make docs`"


@pytest.mark.parametrize("name", commands())
def test_every_command_shows_an_example(name):
    assert commands()[name].example.startswith(f"neardup {name}")


@pytest.mark.parametrize("name", commands())
def test_every_argument_and_option_has_help(name):
    for parameter in commands()[name].params:
        assert isinstance(parameter, Argument | Option), parameter.name
        said = parameter.about if isinstance(parameter, Argument) else parameter.help
        assert said, parameter.name
        assert said[0].isupper() or parameter.name in ("shell", "preset", "kind"), parameter.name
        assert said.endswith("."), parameter.name
