"""Write docs/commands.md: what every command's --help says.

    python scripts/command_pages.py [--check]

With --check nothing is written; the exit code tells whether the page is up to date.
"""

import os
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
HEAD = """\
# Commands

Generated from `--help` by `make docs`. Exit codes: 0 done, 1 an error in the data or the run, 2 wrong usage, 130 stopped by Ctrl-C.
What every command can read: [input.md](input.md).
"""


def help_text(*command: str) -> str:
    """What `neardup COMMAND --help` prints, 100 columns wide and without colours."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    program = str(Path(sys.executable).with_name("neardup"))
    done = subprocess.run(
        [program, *command, "--help"], env=environment, capture_output=True, text=True, check=True
    )
    return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())


def command_names() -> list[str]:
    """Every command of the program, in the order of its help."""
    from neardup.cli.app import app

    return [
        command.name or command.callback.__name__  # type: ignore[union-attr]
        for command in app.registered_commands
    ]


def page() -> str:
    """The whole page."""
    parts = [HEAD, f"\n```text\n{help_text()}\n```\n"]
    for name in command_names():
        parts.append(f"\n## neardup {name}\n\n```text\n{help_text(name)}\n```\n")
    return "".join(parts)


def main() -> None:
    """Write the page, or check it."""
    wanted = page()
    if "--check" in sys.argv[1:]:
        sys.exit(PAGE.read_text(encoding="utf-8") != wanted)
    PAGE.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
