"""click commands, arguments and options whose help describes arguments and has sections."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import click

OPTIONS = "Options"
_EXAMPLE = "\n\nExample: "
_WRONG_USAGE = 2


class Argument(click.Argument):
    """An argument with a line of help, which click before 8.5 does not have."""

    def __init__(
        self, names: Sequence[str], *, about: str, default_note: str | None = None, **more: Any
    ) -> None:
        super().__init__(names, **more)
        self.about = about
        self.default_note = default_note

    @property
    def line(self) -> tuple[str, str]:
        """The name and what `--help` says about it."""
        note = "required" if self.required else ""
        if self.default_note is not None:
            note = f"default: {self.default_note}"
        return self.metavar or "", f"{self.about}  [{note}]" if note else self.about


class Option(click.Option):
    """An option in one of the sections of `--help`."""

    def __init__(self, names: Sequence[str], *, section: str = OPTIONS, **more: Any) -> None:
        super().__init__(names, **more)
        self.section = section

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The names and the help, without click's parentheses around a default in words."""
        line = super().get_help_record(ctx)
        if line is None or not isinstance(self.show_default, str):
            return line
        said = self.show_default
        return line[0], line[1].replace(f"[default: ({said})", f"[default: {said}")


class Command(click.Command):
    """A command whose docstring ends with `Example: neardup ...`."""

    def __init__(self, name: str | None, *, help: str | None = None, **more: Any) -> None:
        about, _, self.example = inspect.cleandoc(help or "").partition(_EXAMPLE)
        super().__init__(name, help=about, **more)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description, then the example on a line of its own."""
        super().format_help_text(ctx, formatter)
        if self.example:
            with formatter.section("Example"):
                formatter.write(f"{'':{formatter.current_indent}}{self.example}\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments, then the options, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], OPTIONS: []}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, Argument):
                sections["Arguments"].append(parameter.line)
            elif (line := parameter.get_help_record(ctx)) is not None:
                section = getattr(parameter, "section", OPTIONS)
                sections.setdefault(section, []).append(line)
        for name, lines in sections.items():
            if lines:
                with formatter.section(name):
                    formatter.write_dl(lines)


class Group(click.Group):
    """Commands under one name; the name alone prints the help."""

    command_class = Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Print the help if no command is given, which counts as wrong usage."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit(_WRONG_USAGE)
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name; for a misspelt one, suggest the nearest."""
        found = self.load(ctx, cmd_name)
        if found is None and not ctx.resilient_parsing:
            from difflib import get_close_matches

            meant = get_close_matches(cmd_name, self.list_commands(ctx), n=1)
            hint = f" Did you mean {meant[0]!r}?" if meant else ""
            ctx.fail(f"No such command {cmd_name!r}.{hint}")
        return found

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of their definition."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their whole summaries; click cuts them off."""
        found = [(name, self.load(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, _summary(one)) for name, one in found if one is not None])

    def load(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of that name, if there is one."""
        return super().get_command(ctx, name)


def _summary(command: click.Command) -> str:
    return (command.help or "").partition("\n\n")[0].replace("\n", " ").removesuffix(".")
