"""NEON: the native tests and the stored fuzz inputs, built for ARM64 and run by qemu."""

from __future__ import annotations

import subprocess

from scripts.emulate.tools import BUILD, CORPUS, build, need

COMPILER = "aarch64-linux-gnu-g++"
QEMU = "qemu-aarch64"


def run() -> bool:
    """Whether all tests pass."""
    need({COMPILER: "g++-aarch64-linux-gnu", QEMU: "qemu-user"})
    folder = BUILD / "neon"
    build(
        folder,
        [
            "-DCMAKE_SYSTEM_NAME=Linux",
            "-DCMAKE_SYSTEM_PROCESSOR=aarch64",
            f"-DCMAKE_CXX_COMPILER={COMPILER}",
        ],
        ["native_tests", "fuzz_replay"],
    )
    tests = subprocess.run([QEMU, folder / "native_tests", "--quick"], check=False)
    inputs = subprocess.run(
        [QEMU, folder / "fuzz_replay", CORPUS], check=False, stdout=subprocess.DEVNULL
    )
    print(
        f"neon: native_tests exited with {tests.returncode}, fuzz_replay with {inputs.returncode}"
    )
    return tests.returncode == 0 and inputs.returncode == 0
