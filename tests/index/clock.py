"""A clock for indexes that tests set: time goes on only when they say so."""

from __future__ import annotations

from neardup.index import api, told
from neardup.index.disk import change

BEGIN = 1_700_000_000_000


class Clock:
    """Milliseconds since 1970."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Go back to the beginning."""
        self.now = BEGIN

    def __call__(self) -> int:
        return self.now

    def use(self, monkeypatch) -> None:
        """Replace the clock of all modules that ask for the time."""
        for module in (api, told, change):
            monkeypatch.setattr(module, "now_ms", self)
