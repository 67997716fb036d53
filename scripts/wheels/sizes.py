"""What `pip install neardup` and each extra bring, by the size of the installed files."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from scripts.wheels.pythons import Python
from scripts.wheels.trial import Environment, environment, install

ASK = """
import json, sys
from importlib.metadata import distributions
def size(found):
    files = {path.locate().resolve() for path in found.files or ()}
    return sum(path.stat().st_size for path in files if path.is_file())
json.dump({found.name: size(found) for found in distributions()}, sys.stdout)
"""
OWN = {"pip", "setuptools", "wheel"}


def measure(python: Python, version: str, extras: list[str]) -> None:
    """Print a table: the packages of the core, then what each extra adds to them."""
    with environment(python) as here:
        install(here, version)
        core = _sizes(here)
    print(f"core, Python {python.version}: {_mb(sum(core.values()))}")
    for name, size in sorted(core.items(), key=lambda item: -item[1]):
        print(f"    {name:24}{_mb(size):>10}")
    for extra in extras:
        with environment(python) as here:
            install(here, version, f"[{extra}]")
            added = {name: size for name, size in _sizes(here).items() if name not in core}
        largest = sorted(added.items(), key=lambda item: -item[1])[:4]
        told = ", ".join(f"{name} {_mb(size)}" for name, size in largest)
        print(f"{extra}: {_mb(sum(added.values()))} more ({told})")


def _sizes(here: Environment) -> dict[str, int]:
    """The bytes of each package, without what every environment has and without compiled copies."""
    asked = subprocess.run(
        [Path(here.python), "-I", "-c", ASK],
        check=True,
        capture_output=True,
        text=True,
        env=here.variables,
    )
    sizes: dict[str, int] = json.loads(asked.stdout)
    return {name: size for name, size in sizes.items() if name not in OWN}


def _mb(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
