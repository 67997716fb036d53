"""`neardup presets`: the settings of known systems."""

from __future__ import annotations

import click

from neardup.cli import options
from neardup.cli.command import Command
from neardup.cli.terminal import say, say_json


@click.command(cls=Command)
@options.as_json
def presets(json: bool) -> None:
    """List the presets: settings of known systems, for --preset.

    Example: neardup presets
    """
    from neardup.presets import PRESETS

    if json:
        listed = {"presets": [one.to_dict() for one in PRESETS.values()]}
        say_json(listed)
        return
    width = max(map(len, PRESETS))
    for one in PRESETS.values():
        say(f"{one.name:{width}}  {one.about}")
