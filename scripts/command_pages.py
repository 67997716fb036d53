"""Write docs/reference/commands.md: every command with its arguments and options.

    python scripts/command_pages.py [--check]

With --check nothing is written; the exit code tells whether the page is up to date. The page
is made from the commands themselves, not from what --help prints, whose look varies with the
version of typer.
"""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from neardup.cli.app import app

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "commands.md"
HEAD = """\
# Commands

Generated from the program by `make docs`; `neardup COMMAND --help` says the same.
Exit codes: 0 done, 1 an error in the data or the run, 2 wrong usage; 130 stopped by Ctrl-C
(SIGINT), 143 by SIGTERM, 129 by SIGHUP, 141 where nobody reads what is printed any more.
What every command can read: [Input](../guides/input.md).
"""


def default(parameter: Any) -> str:
    """What holds where the option is not given."""
    if isinstance(parameter.show_default, str):
        return str(parameter.show_default)
    if parameter.required:
        return "required"
    return "" if parameter.default in (None, False) else f"`{parameter.default}`"


def option_row(parameter: Any) -> str:
    """One line of the table of options."""
    names = ", ".join(f"`{name}`" for name in reversed(parameter.opts))
    return f"| {names} | {parameter.help} | {default(parameter)} |"


def section(name: str, command: Any) -> str:
    """What there is to say of one command."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join([f"neardup {name}", *(p.metavar for p in arguments), "[OPTIONS]"])
    about = inspect.cleandoc(command.callback.__doc__)
    rows = [f"| `{p.metavar}` | {p.help} | {default(p)} |" for p in arguments]
    rows += [option_row(p) for p in options]
    return "\n".join(
        [
            *("", f"## {usage}", "", about.replace("Example: ", "    "), ""),
            *("| option | meaning | default |", "|---|---|---|", *rows, ""),
        ]
    )


def page() -> str:
    """The whole page."""
    group: Any = typer.main.get_command(app)
    return HEAD + "".join(section(name, command) for name, command in commands_of(group))


def commands_of(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its full name, those of groups too."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands_of(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def main() -> None:
    """Write the page, or check it."""
    wanted = page()
    if "--check" in sys.argv[1:]:
        sys.exit(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != wanted)
    PAGE.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
