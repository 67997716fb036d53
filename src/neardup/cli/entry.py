"""The program `neardup`: ready to be stopped before anything heavy is imported."""

import os

from neardup.cli import stopping


def main() -> None:
    """Run the command that the arguments name."""
    _occupy_standard_descriptors()
    stopping.watch()
    from neardup.cli.app import main

    main()


def _occupy_standard_descriptors() -> None:
    """Put /dev/null where one is closed; else a file would get its number, and what is printed."""
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)
