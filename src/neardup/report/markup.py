"""HTML in which every text is escaped: a value is markup only if it was made by `fill`.

A template engine would do the same, but importing one and compiling the page took 70 ms of every
run.
"""

from __future__ import annotations

from collections.abc import Iterable

_ESCAPED = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("'", "&#39;"), ('"', "&#34;"))


class Markup(str):
    """Text that is HTML already; template engines ask for it by `__html__`."""

    __slots__ = ()

    def __html__(self) -> Markup:
        return self


def fill(template: str, **values: object) -> Markup:
    """Fill in a template as `str.format` does; values that are not `Markup` are escaped.

    >>> fill("<p>{text}{more}</p>", text="1 < 2", more=Markup("<br>"))
    '<p>1 &lt; 2<br></p>'
    """
    return Markup(template.format(**{name: _shown(value) for name, value in values.items()}))


def joined(parts: Iterable[Markup]) -> Markup:
    """The parts, one after the other."""
    return Markup("".join(parts))


def escaped(text: str) -> str:
    """The text with the signs that HTML gives a meaning spelt out."""
    for sign, name in _ESCAPED:
        text = text.replace(sign, name)
    return text


def _shown(value: object) -> str:
    return value if isinstance(value, Markup) else escaped(str(value))
