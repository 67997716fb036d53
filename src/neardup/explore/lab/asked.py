"""What was asked for: the fields of a form, each within its bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import urlencode

from neardup.errors import NeardupError

_LONGEST_FIELD = 200
_MOST_DIGITS = 15
_LONGEST_QUOTED = 40


class Asked:
    """The fields as they were typed, and what is wrong with each, in a sentence.

    A field that is wrong has its default value meanwhile. `query` has the fields that differ from
    their defaults, so that the address of a page holds all of its state.
    """

    def __init__(self, given: Mapping[str, Sequence[str]]) -> None:
        self._given = given
        self._defaults: dict[str, str] = {}
        self.typed: dict[str, str] = {}
        self.errors: dict[str, str] = {}

    def text(self, name: str, default: str = "", most: int = _LONGEST_FIELD) -> str:
        """A text of at most so many characters."""
        value = next(iter(self._given.get(name, ())), default).replace("\r\n", "\n")
        self._defaults[name] = default
        self.typed[name] = value
        if len(value) <= most:
            return value
        self.refuse(name, f"This has {len(value):,} characters; the limit here is {most:,}.")
        self.typed[name] = value[:most]
        return default

    def word(self, name: str, default: str = "") -> str:
        """A short text without surrounding white space."""
        return self.text(name, default).strip()

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """One of a few values, the first by default."""
        value = self.word(name, choices[0])
        if value in choices:
            return value
        named = ", ".join(one for one in choices if one)
        self.refuse(name, f"{_quoted(value)} is unknown; choose {named}.")
        return choices[0]

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number within bounds."""
        found = self.optional_whole(name, least, most, str(default))
        return default if found is None else found

    def optional_whole(self, name: str, least: int, most: int, default: str = "") -> int | None:
        """A whole number within bounds, or None for an empty field."""
        value = self.word(name, default)
        if not value and not default:
            return None
        digits = value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS
        if digits and least <= int(value) <= most:
            return int(value)
        self.refuse(name, f"{_quoted(value)} must be a whole number from {least:,} to {most:,}.")
        return None

    def number(self, name: str, default: float) -> float:
        """A number from 0 to 1."""
        value = self.word(name, f"{default:g}")
        try:
            found = float(value)
        except ValueError:
            found = -1.0
        if 0 <= found <= 1:
            return found
        self.refuse(name, f"{_quoted(value)} must be a number from 0 to 1.")
        return default

    def refuse(self, name: str, sentence: str) -> None:
        """Say what is wrong with a field; the first thing is enough."""
        self.errors.setdefault(name, sentence)

    @contextmanager
    def beside(self, name: str) -> Iterator[None]:
        """Say beside this field what the library says about its value."""
        try:
            yield
        except NeardupError as error:
            self.refuse(name, str(error))

    def query(self, without: Sequence[str] = ()) -> str:
        """The fields that are not as by default, encoded for an address."""
        changed = {
            name: value
            for name, value in self.typed.items()
            if value != self._defaults[name] and name not in without
        }
        return urlencode(changed, errors="replace")


def _quoted(value: str) -> str:
    short = value if len(value) <= _LONGEST_QUOTED else value[: _LONGEST_QUOTED - 1] + "…"
    return f"“{short}”"
