"""The Pythons of this machine: on the PATH and, where pyenv keeps them, in ~/.pyenv/versions."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
ASK = """
import json, sys, sysconfig
json.dump([sys.executable, sys.version_info[:2], sys.implementation.name,
           sysconfig.get_config_var("Py_GIL_DISABLED"), sysconfig.get_path("include")], sys.stdout)
"""


@dataclass(frozen=True)
class Python:
    """One interpreter."""

    program: Path
    version: str
    has_headers: bool

    @property
    def minor(self) -> int:
        """The 12 of 3.12."""
        return int(self.version.split(".")[1])


def declared() -> list[str]:
    """The versions that pyproject.toml promises, such as 3.10."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)


def found() -> tuple[list[Python], list[str]]:
    """One interpreter of each declared version, and a sentence for each version without one."""
    pythons: dict[str, Python] = {}
    for program in _programs():
        python = _asked(program)
        if python is not None and (
            python.version not in pythons
            or (python.has_headers and not pythons[python.version].has_headers)
        ):
            pythons[python.version] = python
    missing = [
        f"Python {version} is neither on the PATH nor in ~/.pyenv/versions: skipped"
        for version in declared()
        if version not in pythons
    ]
    return [pythons[version] for version in declared() if version in pythons], missing


def _programs() -> list[Path]:
    names = ["python3", "python", *(f"python{version}" for version in declared())]
    folders = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    folders += sorted(Path.home().glob(".pyenv/versions/*/bin"))
    endings = [".exe"] if os.name == "nt" else [""]
    programs = [folder / (name + end) for folder in folders for name in names for end in endings]
    return [program for program in programs if program.is_file()]


def _asked(program: Path) -> Python | None:
    """What a program says of itself; None for what is no CPython with a GIL, or does not run."""
    try:
        ran = subprocess.run([program, "-I", "-c", ASK], capture_output=True, text=True, timeout=60)
    except OSError:
        return None
    if ran.returncode != 0:
        return None  # a shim of pyenv whose version is not chosen
    itself, (major, minor), name, no_gil, include = json.loads(ran.stdout)
    if name != "cpython" or no_gil:
        return None
    # Not `program`, which may be a link or a script that starts another.
    return Python(Path(itself), f"{major}.{minor}", (Path(include) / "Python.h").exists())
