"""The entry point of `neardup`: handles signals before anything heavy is imported."""

from __future__ import annotations

import sys

from neardup.cli import stopping


class _NoPandas:
    """Prevents the import of pandas, which takes longer than a small run.

    No command uses pandas objects, but `pa.array` imports pandas, if it is installed, to recognise
    them. With this finder, Arrow behaves as if pandas were not installed.
    """

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Raise for pandas, so that no other finder is tried; find nothing else."""
        if name == "pandas":
            raise ModuleNotFoundError("the command line does not use pandas", name=name)


def main() -> None:
    """Run the command that the arguments name."""
    stopping.watch()
    sys.meta_path.insert(0, _NoPandas)
    from neardup.cli.app import main

    main()
