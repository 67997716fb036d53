"""Wheels tried in fresh environments outside the repository, with no compiler on the PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scripts.wheels.build import DIST
from scripts.wheels.pythons import ROOT, Python

COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cl", "cmake", "ninja", "make")


@dataclass(frozen=True)
class Environment:
    """A virtual environment in a temporary folder."""

    folder: Path
    variables: dict[str, str]

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def run(self, *words: str | Path) -> None:
        """Run its Python in its folder."""
        subprocess.run([self.python, *words], check=True, cwd=self.folder, env=self.variables)


@contextmanager
def environment(python: Python) -> Iterator[Environment]:
    """An environment with pip alone, in which the PATH has its own programs and no others."""
    with tempfile.TemporaryDirectory(prefix="neardup-wheel-") as made:
        folder = Path(made)
        subprocess.run([python.program, "-m", "venv", folder], check=True)
        variables = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("PYTHON") and name not in ("CC", "CXX", "VIRTUAL_ENV")
        }
        here = Environment(folder, variables)
        variables["PATH"] = str(here.python.parent)
        for name in COMPILERS:
            if shutil.which(name, path=variables["PATH"]):
                raise SystemExit(f"{name} is on the PATH of {folder}, which should have none")
        yield here


def install(here: Environment, version: str, extra: str = "") -> None:
    """Install our wheel, and what it depends on as wheels."""
    pip = ("-m", "pip", "install", "-q", "--disable-pip-version-check")
    here.run(*pip, "--no-index", "--no-deps", "--find-links", DIST, f"neardup=={version}")
    wheels_alone = ("--only-binary", ":all:", "--no-binary", "jieba")  # which is Python alone
    here.run(*pip, *wheels_alone, f"neardup{extra}=={version}")


def try_wheel(python: Python, version: str) -> bool:
    """Whether the wheel installs on this Python and does what installed.py asks."""
    print(f"Python {python.version}, no compiler on the PATH:")
    try:
        with environment(python) as here:
            install(here, version)
            here.run(ROOT / "scripts/wheels/installed.py", ROOT / "examples/sample.jsonl")
    except subprocess.CalledProcessError as error:
        print(f"Python {python.version}: failed with exit code {error.returncode}")
        return False
    return True
