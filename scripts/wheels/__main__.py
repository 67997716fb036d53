"""Build the source distribution and wheels, and try them where there is no compiler.

    python -m scripts.wheels                     build and try, for every Python of this machine
    python -m scripts.wheels all 3.12 3.13       the same for these versions
    python -m scripts.wheels try 3.13            try the wheels in dist on these versions, or on all
    python -m scripts.wheels arm64               build for ARM64 and try by qemu; needs Debian
    python -m scripts.wheels sizes serve plots   what the package in dist and these extras bring

Results are in dist. It needs Python, pip and a network; on Linux, x86-64 and ARM64, zig from PyPI
is the compiler, elsewhere the one of the system. The wheels of a release come from
.github/workflows/wheels.yml.
"""

from __future__ import annotations

import argparse
import re
import sys

from scripts.wheels import arm64, build, sizes
from scripts.wheels.pythons import ROOT, Python, found
from scripts.wheels.trial import try_wheel


def main() -> int:
    """Run the named part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=["all", "try", "arm64", "sizes"], default="all")
    parser.add_argument("names", nargs="*", help="versions of Python; extras for `sizes`")
    given = parser.parse_args()
    pythons, missing = found()
    told = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    assert told is not None
    if not pythons:
        print("no Python of a version that neardup supports was found", file=sys.stderr)
        return 1
    if given.what == "arm64":
        return 0 if arm64.run(pythons, told[1]) else 1
    if given.what == "sizes":
        sizes.measure(pythons[-1], told[1], given.names)
        return 0
    if given.names:
        pythons = [python for python in pythons if python.version in given.names]
        absent = sorted(set(given.names) - {python.version for python in pythons})
        missing = [f"Python {version} was not found: skipped" for version in absent]
    print("Python " + ", ".join(f"{one.version} ({one.program})" for one in pythons))
    tried = serve_all(pythons) if given.what == "all" else pythons
    failed = [python.version for python in tried if not try_wheel(python, told[1])]
    for sentence in missing:
        print(sentence)
    passed = [python.version for python in tried if python.version not in failed]
    print(
        f"passed on Python: {', '.join(passed) or 'none'}; failed on: {', '.join(failed) or 'none'}"
    )
    return 1 if failed or not tried else 0


def serve_all(pythons: list[Python]) -> list[Python]:
    """Build for every Python that has no stable ABI, and once for those that have; which to try."""
    built = build_all(pythons)
    return [python for python in pythons if serves(python, built)]


def build_all(pythons: list[Python]) -> list[int]:
    """Build what those Pythons need, with each that can; the minor versions built with."""
    tool = build.tools()
    archive = build.source(tool)
    build.DIST.mkdir(exist_ok=True)
    built: list[int] = []
    for python in pythons:
        if serves(python, built):
            continue
        if not python.has_headers:
            print(f"{python.program} has no Python.h: no wheel is built with it")
            continue
        build.wheel(archive, python, tool)
        built.append(python.minor)
    return built


def serves(python: Python, built: list[int]) -> bool:
    """Whether a wheel that was built with one of those versions runs on this Python."""
    return python.minor in built or (
        python.minor >= build.FIRST_STABLE and any(one >= build.FIRST_STABLE for one in built)
    )


if __name__ == "__main__":
    sys.exit(main())
