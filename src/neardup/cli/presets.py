"""`neardup presets`: the settings of known systems."""

from __future__ import annotations

import typer

from neardup.cli import options


def presets(json: options.Json = False) -> None:
    """List the presets: known systems, for the option --preset.

    Example: neardup presets
    """
    from neardup.presets import PRESETS

    if json:
        from json import dumps

        listed = {"presets": [one.to_dict() for one in PRESETS.values()]}
        typer.echo(dumps(listed, indent=2, ensure_ascii=False))
        return
    width = max(map(len, PRESETS))
    for one in PRESETS.values():
        typer.echo(f"{one.name:{width}}  {one.about}")
