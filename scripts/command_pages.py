"""Write docs/reference/commands.md: every command with its arguments and options.

    python scripts/command_pages.py [--check]

With --check nothing is written; the exit code tells whether the page is up to date. The page is
made from the commands themselves, not from what --help prints, whose look varies with the version
of click.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from neardup.cli.app import app
from neardup.cli.command import OPTIONS, Argument, Command, Option

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "commands.md"
HEAD = """\
# Commands

Generated from the program by `make docs`; `neardup COMMAND --help` prints the same.
Exit codes: 0 success, 1 an error in the data or the run, 2 wrong usage, 130 stopped by Ctrl-C
(SIGINT), 143 by SIGTERM, 129 by SIGHUP, 141 if the reader of standard output has closed it.
What every command can read: [Input](../guides/input.md).
"""


def page() -> str:
    """The whole page."""
    return HEAD + "".join(section(name, command) for name, command in commands_of(app))


def commands_of(group: click.Group, before: str = "") -> Iterator[tuple[str, Command]]:
    """Every command with its full name, those of groups too."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands_of(command, f"{before}{name} ")
        elif isinstance(command, Command):
            yield f"{before}{name}", command


def section(name: str, command: Command) -> str:
    """What there is to say of one command."""
    arguments = [p for p in command.params if isinstance(p, Argument)]
    options = [p for p in command.params if isinstance(p, Option)]
    usage = " ".join([f"neardup {name}", *(str(p.metavar) for p in arguments), "[OPTIONS]"])
    sections = dict.fromkeys([OPTIONS, *(p.section for p in options)])
    rows = [f"| `{p.metavar}` | {cell(p.about)} | {default(p)} |" for p in arguments]
    rows += [option_row(p) for one in sections for p in options if p.section == one]
    return "\n".join(
        [
            *("", f"## {usage}", "", str(command.help), "", f"    {command.example}", ""),
            *("| option | meaning | default |", "|---|---|---|", *rows, ""),
        ]
    )


def option_row(option: Option) -> str:
    """One line of the table of options."""
    names = sorted([*option.opts, *option.secondary_opts], key=lambda name: name[:2] == "--")
    told = ", ".join(f"`{name}`" for name in names)
    return f"| {told} | {cell(str(option.help))} | {default(option)} |"


def default(parameter: Argument | Option) -> str:
    """What holds where the option is not given."""
    note = parameter.default_note if isinstance(parameter, Argument) else parameter.show_default
    if isinstance(note, str):
        return cell(note)
    if parameter.required:
        return "required"
    value = parameter.default
    if isinstance(value, bool):
        return f"`{parameter.opts[0]}`" if value else ""
    return f"`{value}`" if isinstance(value, str | int | float) else ""


def cell(text: str) -> str:
    """Text in which no sign divides the table."""
    return text.replace("|", "\\|")


def main() -> None:
    """Write the page, or check it."""
    wanted = page()
    if "--check" in sys.argv[1:]:
        sys.exit(not PAGE.exists() or PAGE.read_text(encoding="utf-8") != wanted)
    PAGE.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
