"""How much of a page a part may take: a page never grows with what is in the documents."""

from __future__ import annotations

from bisect import bisect_right

from markupsafe import escape


def escaped_size(text: str) -> int:
    """The bytes that a text takes in a page.

    >>> escaped_size("a<b"), escaped_size("東")
    (6, 3)
    """
    return len(str(escape(text)).encode("utf-8", "replace"))


def cut(text: str, size: int) -> str:
    """The beginning of a text that takes at most `size` bytes in a page.

    >>> cut("<<<<<", 10), cut("short", 10)
    ('<…', 'short')
    """
    start = text[: size + 1]
    if escaped_size(start) <= size:
        return start
    most = max(0, size - escaped_size("…"))
    fits = bisect_right(range(len(start)), most, key=lambda count: escaped_size(start[:count]))
    return start[: max(0, fits - 1)] + "…"


class Room:
    """The bytes that a part of a page may still take."""

    def __init__(self, size: int) -> None:
        self.left = size

    def take(self, text: str, around: int = 0) -> str | None:
        """A text, cut if it takes more than is left; None if nothing is left.

        `around` is what the markup of the text takes.
        """
        self.left -= around
        if self.left <= 0:
            return None
        shown = cut(text, self.left)
        self.left -= escaped_size(shown)
        return shown
