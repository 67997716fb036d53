"""`neardup presets`: the settings of known systems."""

from __future__ import annotations

from neardup.cli import options
from neardup.cli.terminal import say, say_json


def presets(json: options.Json = False) -> None:
    """List the presets: known systems, for the option --preset.

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
