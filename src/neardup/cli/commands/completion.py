"""`neardup completion`: the script that lets a shell complete commands and options."""

from __future__ import annotations

import click

from neardup.cli import options
from neardup.cli.command import Command
from neardup.cli.terminal import say_lines
from neardup.errors import SettingError

_SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Command)
@options.argument(
    "shell",
    "bash, zsh or fish.",
    metavar="SHELL",
    shell_complete=options.one_of(_SHELLS),
)
@click.pass_context
def completion(context: click.Context, /, shell: str) -> None:
    """Print the completion script of a shell.

    bash: add the line `eval "$(neardup completion bash)"` to ~/.bashrc.

    zsh: add the line `eval "$(neardup completion zsh)"` to ~/.zshrc.

    fish: run the example.

    Example: neardup completion fish > ~/.config/fish/completions/neardup.fish
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell) if shell in _SHELLS else None
    if found is None:
        raise SettingError(f"shell {shell!r} is unknown; choose {', '.join(_SHELLS)}")
    app = context.find_root().command
    say_lines(found(app, {}, "neardup", "_NEARDUP_COMPLETE").source())
