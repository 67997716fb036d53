"""What both emulations need: packages, a build, a folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "emulate"
CORPUS = ROOT / "tests" / "fuzz_corpus"


class MissingError(Exception):
    """A program or package that this machine lacks, in one sentence."""


def need(files: dict[str, str]) -> None:
    """Install the Debian packages of those files, or programs, that are not there."""
    packages = sorted(
        {
            package
            for file, package in files.items()
            if not (Path(file).exists() if "/" in file else shutil.which(file))
        }
    )
    if not packages:
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise MissingError(
            f"needs the Debian packages {', '.join(packages)}: apt-get install them."
        )
    subprocess.run(["apt-get", "install", "-y", "-q", *packages], check=True)


def build(folder: Path, options: Sequence[str], targets: Sequence[str]) -> None:
    """Build static programs; cmake and ninja are those beside this Python, or on the path."""
    beside = Path(sys.executable).parent
    cmake, ninja = (
        str(beside / name) if (beside / name).exists() else name for name in ("cmake", "ninja")
    )
    configured = [
        "-DCMAKE_BUILD_TYPE=Release",
        "-DNEARDUP_PYTHON=OFF",
        "-DNEARDUP_TESTS=ON",
        "-DCMAKE_EXE_LINKER_FLAGS=-static",
        f"-DCMAKE_MAKE_PROGRAM={ninja}",
        *options,
    ]
    subprocess.run([cmake, "-S", ROOT, "-B", folder, "-G", "Ninja", *configured], check=True)
    subprocess.run([cmake, "--build", folder, "--target", *targets], check=True)
