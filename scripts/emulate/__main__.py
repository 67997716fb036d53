"""Run the native tests on instruction sets that this machine does not have.

    python -m scripts.emulate neon avx512

Both need an x86-64 Debian and take some minutes. What is missing of its packages is installed if
the user is root.
"""

from __future__ import annotations

import argparse
import sys

from scripts.emulate import avx512, neon
from scripts.emulate.tools import MissingError

EMULATED = {"neon": neon.run, "avx512": avx512.run}


def main() -> int:
    """Run the named instruction sets one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *EMULATED], help="default: all")
    passed = True
    for name in parser.parse_args().names or EMULATED:
        try:
            passed = EMULATED[name]() and passed
        except MissingError as missing:
            print(f"{name}: {missing}", file=sys.stderr)
            passed = False
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
