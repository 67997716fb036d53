"""The program `neardup`: ready to be stopped before anything heavy is imported."""

from neardup.cli import stopping


def main() -> None:
    """Run the command that the arguments name."""
    stopping.watch()
    from neardup.cli.app import main

    main()
