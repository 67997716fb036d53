"""The program `neardup`: ready to be stopped before anything heavy is imported."""

from __future__ import annotations

import sys

from neardup.cli import stopping


class _NoPandas:
    """Keeps pandas from being imported, which takes longer than a small run.

    No command has a pandas object, but `pa.array` imports pandas wherever it is installed, to
    recognise one. To Arrow it is now as if pandas were not installed.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Find nothing, and let nothing else find pandas."""
        if name == "pandas":
            raise ModuleNotFoundError("the command line does not use pandas", name=name)


def main() -> None:
    """Run the command that the arguments name."""
    stopping.watch()
    sys.meta_path.insert(0, _NoPandas)
    from neardup.cli.app import main

    main()
