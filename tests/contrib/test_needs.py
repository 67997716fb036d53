"""A missing program gets a sentence that says what to install."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import neardup as nd
from neardup.contrib.needs import needs

MODULES = ["datasets", "duckdb", "pandas", "polars", "scrapy"]

# Imports neardup.contrib.<sys.argv[1]> where the program of that name is not installed.
WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
try:
    __import__(f"neardup.contrib.{sys.argv[1]}")
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_what_to_install(name):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, name], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"neardup.contrib.{name} needs {name}, which cannot be imported")
    assert done.stdout.rstrip().endswith(f"install it with pip install 'neardup[{name}]'")


def test_the_extras_exist():
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    for name in MODULES:
        assert re.search(rf'^{name} = \["{name}>=', project, re.M)


def test_the_error_is_an_import_error_of_neardup():
    with (
        pytest.raises(ImportError, match="needs nothing_like_it") as caught,
        needs("nothing_like_it", "neardup[x]"),
    ):
        import_module("nothing_like_it")
    assert isinstance(caught.value, nd.NeardupError)
    assert caught.value.name == "nothing_like_it"
