"""Lines, areas and text as SVG that stands inside a page: escaped, small, the same bytes each time.

One unit is a pixel of a drawing that is `WIDTH` wide; a page scales it to the width it has.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from neardup.report.visible import visible

INK, PALE, FILL, MARK = "#22313f", "#e1e6eb", "#1f6fb2", "#b3263c"
# Narrow, so that letters are still read where a phone shrinks it to 306: they have 10 pixels.
WIDTH = 360
LETTER = 12
_BELOW_MIDDLE = 0.36 * LETTER  # from the middle of a digit down to the line it stands on

Point = tuple[float, float]


def text_width(text: str) -> float:
    """How wide a text is at the most, in the wide one of the usual fonts without serifs."""
    return LETTER * sum(0.64 if ord(letter) < 0x1100 else 1.05 for letter in text)


class Drawing:
    """Shapes in the order they are added, later ones above earlier ones.

    `name` must be the only one of its page; `label` says what is seen, to those who do not see.
    """

    def __init__(self, name: str, label: str, height: float = 240) -> None:
        self._name, self._label, self.height = name, label, height
        self._parts: list[str] = []

    def line(
        self, start: Point, end: Point, colour: str = INK, width: float = 1, dashes: str = ""
    ) -> None:
        """A straight line; `dashes` are lengths of line and gap, as in "5 3"."""
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self._parts.append(
            f'<path d="{_through((start, end))}" stroke="{colour}" '
            f'stroke-width="{width:g}"{dashed}/>'
        )

    def curve(self, points: Iterable[Point], colour: str = FILL, width: float = 2) -> None:
        """A line through many points."""
        self._parts.append(
            f'<path d="{_through(points)}" fill="none" stroke="{colour}" '
            f'stroke-width="{width:g}" stroke-linejoin="round"/>'
        )

    def area(self, corners: Iterable[Point], fill: str = FILL, edge: str = "none") -> None:
        """A filled shape; `fill` is a colour or what `hatching` gave."""
        self._parts.append(f'<path d="{_through(corners)}Z" fill="{fill}" stroke="{edge}"/>')

    def dot(self, place: Point) -> None:
        """A dot that marks a place."""
        x, y = map(_number, place)
        self._parts.append(f'<circle cx="{x}" cy="{y}" r="4.5" fill="{MARK}"/>')

    def hatching(self) -> str:
        """A fill that differs from every colour in black and white too."""
        self._parts.append(
            f'<pattern id="{self._name}-hatching" width="5" height="5" '
            'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            '<path d="M0 0H5V5H0Z" fill="#fff"/>'
            f'<path d="M2.5 0V5" stroke="{INK}" stroke-width=".8"/></pattern>'
        )
        return f"url(#{self._name}-hatching)"

    def text(self, place: Point, text: str, anchor: str = "start", upwards: bool = False) -> None:
        """A line of text; `place` is the middle of its height, at its start, middle or end."""
        x, y = _number(place[0]), _number(place[1] + (0 if upwards else _BELOW_MIDDLE))
        where = f'transform="translate({x} {y})rotate(-90)"' if upwards else f'x="{x}" y="{y}"'
        placed = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._parts.append(f"<text {where}{placed}>{_escaped(text)}</text>")

    def hint(self, left: float, top: float, right: float, bottom: float, text: str) -> None:
        """A text that is shown while the pointer is in a rectangle, of which nothing is seen."""
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
        self._parts.append(
            f'<path d="{_through(corners)}Z" fill="none" pointer-events="all">'
            f"<title>{_escaped(text)}</title></path>"
        )

    def svg(self) -> str:
        """The whole, to be put into a page as it is."""
        return (
            f'<svg viewBox="0 0 {WIDTH} {_number(self.height)}" role="img" '
            f'aria-label="{_escaped(self._label)}" font-family="system-ui, sans-serif" '
            f'font-size="{LETTER}" fill="{INK}">\n' + "\n".join(self._parts) + "\n</svg>"
        )


def _through(points: Iterable[Point]) -> str:
    """A path, in the short form where it runs level or upright.

    >>> _through([(0, 0), (5, 0), (5, 2.25), (9, 9)])
    'M0 0H5V2.2L9 9'
    """
    path, last_x, last_y = "", "", ""
    for place in points:
        x, y = map(_number, place)
        if not path:
            path = f"M{x} {y}"
        elif y == last_y:
            path += f"H{x}"
        elif x == last_x:
            path += f"V{y}"
        else:
            path += f"L{x} {y}"
        last_x, last_y = x, y
    return path


def _number(value: float) -> str:
    """To a tenth of a pixel; there is no minus before a zero.

    >>> _number(12.04), _number(-0.04), _number(0.25)
    ('12', '0', '0.2')
    """
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def _escaped(text: str) -> str:
    return escape(visible(text), quote=True)
