"""Plots as SVG inside a page: lines, areas and text, axes, and the plane between them.

One unit is a pixel of a drawing of `WIDTH` pixels; the page scales the drawing to fit. Elements
have classes instead of colours: `report/look/base.css` gives them those of the page, light or dark.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from neardup.frozen import dataclass
from neardup.report.markup import Markup, escaped
from neardup.visible import visible

AXIS, GRID, BAR, SECOND = "plot-axis", "plot-grid", "plot-bar", "plot-second"
CURVE, CURVE_SECOND, CURVE_THIRD = "plot-curve", "plot-curve-second", "plot-curve-third"
MARK = "plot-mark"
# Narrow, so that letters stay legible (10 pixels) when a phone shrinks the drawing to 306.
WIDTH = 360
LETTER = 12
_BELOW_MIDDLE = 0.36 * LETTER  # from the middle of a digit down to the baseline

Point = tuple[float, float]


_GAP = 14  # minimum gap between two labels
Tick = tuple[float, str]
RIGHT, BOTTOM = 18, 46
DOT = "dot"
_TOP, _LEGEND = 10, 22
_TICK = 4
_SIGN = 22  # width of a symbol in the legend


def text_width(text: str) -> float:
    """Maximum width of a text, in the widest of the common sans-serif fonts."""
    return LETTER * sum(0.64 if ord(letter) < 0x1100 else 1.05 for letter in text)


class Drawing:
    """An SVG drawing; later elements cover earlier ones, and links are above all others.

    `name` must be unique on its page; `label` is the description for screen readers. A drawing with
    links is a group instead of an image, so that they can be reached; all else in it is hidden from
    screen readers, which have the label.
    """

    def __init__(self, name: str, label: str, height: float = 240) -> None:
        self.name, self._label, self.height = name, label, height
        self._parts: list[str] = []
        self._links: list[str] = []

    def line(self, start: Point, end: Point, look: str = AXIS) -> None:
        """A straight line; `look` is its class."""
        self.curve((start, end), look)

    def curve(self, points: Iterable[Point], look: str = CURVE) -> None:
        """A line through many points."""
        self._parts.append(f'<path class="{look}" d="{_through(points)}"/>')

    def area(self, corners: Iterable[Point], look: str = BAR) -> None:
        """A filled polygon; `look` is its class, or the result of `hatching`."""
        hatched = look.startswith("url(")
        looks = f'class="plot-edge" fill="{look}"' if hatched else f'class="{look}"'
        self._parts.append(f'<path {looks} d="{_through(corners)}Z"/>')

    def dot(self, place: Point) -> None:
        x, y = map(_number, place)
        self._parts.append(f'<circle class="plot-dot" cx="{x}" cy="{y}" r="4.5"/>')

    def hatching(self) -> str:
        """A fill that can be told from plain colours even in black and white."""
        self._parts.append(
            f'<pattern id="{self.name}-hatching" width="5" height="5" '
            'patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            '<path class="plot-hatch-back" d="M0 0H5V5H0Z"/>'
            '<path class="plot-hatch-line" d="M2.5 0V5"/></pattern>'
        )
        return f"url(#{self.name}-hatching)"

    def text(self, place: Point, text: str, anchor: str = "start", upwards: bool = False) -> None:
        """A line of text; `place` is the middle of its height, at its start, middle or end."""
        x, y = _number(place[0]), _number(place[1] + (0 if upwards else _BELOW_MIDDLE))
        where = f'transform="translate({x} {y})rotate(-90)"' if upwards else f'x="{x}" y="{y}"'
        placed = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._parts.append(f"<text {where}{placed}>{_escaped(text)}</text>")

    def hint(
        self, left: float, top: float, right: float, bottom: float, text: str, link: str = ""
    ) -> None:
        """A tooltip for an invisible rectangle, which may be a link."""
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
        area = (
            f'<path class="plot-hit" d="{_through(corners)}Z">'
            f"<title>{_escaped(text)}</title></path>"
        )
        if link:
            self._links.append(
                f'<a class="plot-link" href="{escaped(link)}" aria-label="{_escaped(text)}">'
                f"{area}</a>"
            )
        else:
            self._parts.append(area)

    def marker(self, x: float, top: float, bottom: float, **data: float) -> None:
        """A vertical line that a script moves; `data` are its `data-` attributes."""
        known = "".join(f' data-{name}="{value:g}"' for name, value in data.items())
        self._parts.append(
            f'<path id="{self.name}-marker" class="{MARK} plot-marker" '
            f'd="M0 {_number(top)}V{_number(bottom)}" transform="translate({_number(x)})"{known}/>'
        )

    def svg(self) -> Markup:
        """The SVG element, to insert into a page."""
        drawn = "\n".join(self._parts)
        if self._links:
            drawn = f'<g aria-hidden="true">\n{drawn}\n</g>\n' + "\n".join(self._links)
        return Markup(
            f'<svg class="plot" viewBox="0 0 {WIDTH} {_number(self.height)}" '
            f'role="{"group" if self._links else "img"}" aria-label="{_escaped(self._label)}">\n'
            f"{drawn}\n</svg>"
        )


def _through(points: Iterable[Point]) -> str:
    """A path, with the short form for horizontal and vertical lines.

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
    """A coordinate to a tenth of a pixel, without negative zero.

    >>> _number(12.04), _number(-0.04), _number(0.25)
    ('12', '0', '0.2')
    """
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def _escaped(text: str) -> str:
    return escaped(visible(text))


@dataclass(frozen=True)
class Axis:
    """An axis from `low` to `high`, with labelled ticks and a title."""

    low: float
    high: float
    ticks: tuple[Tick, ...]
    title: str
    is_log: bool = False

    def share(self, value: float) -> float:
        """The position of a value on the axis, from 0 to 1."""
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def linear_axis(
    low: float, high: float, title: str, *, room: float = 270, whole: bool = False
) -> Axis:
    """An axis with at most eight ticks at multiples of 1, 2 or 5; fewer if `room` is short."""
    for pieces in range(7, 1, -1):
        ticks = _ticks(low, high, _step(high - low, pieces, whole))
        if sum(text_width(label) + _GAP for _, label in ticks) <= room:
            break
    return Axis(low, high, ticks, title)


def count_axis(most: int, noun: str) -> Axis:
    """An axis from 0 to slightly above the highest bar."""
    high = 1.06 * most
    return Axis(0, high, _ticks(0, high, _step(high, 6, whole=True)), noun)


def log_count_axis(most: int, noun: str) -> Axis:
    """A logarithmic axis that starts below 1, so that 1 is a visible bar; ticks at 1, 10, 100."""
    high = 2.0 * max(5, most)
    powers = [10**power for power in range(int(math.log10(high)) + 1)]
    if len(powers) < 3:
        powers = [value for power in powers for value in (power, 2 * power, 5 * power)]
    ticks = [(float(value), count_label(value)) for value in powers if value <= high]
    return Axis(0.5, high, tuple(ticks[:: -(-len(ticks) // 7)]), f"{noun} (log scale)", True)


def count_label(value: float) -> str:
    """A whole number in a short form.

    >>> count_label(12000), count_label(2_500_000), count_label(2**30)
    ('12,000', '2.5M', '1.07G')
    """
    for size, letter in ((1e9, "G"), (1e6, "M")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:,.0f}"


def _step(room: float, pieces: int, whole: bool = False) -> float:
    """The smallest of ..., 0.5, 1, 2, 5, 10, ... of which at most `pieces` fit into the room.

    >>> _step(0.2, 5), _step(14_000, 5), _step(3, 5, whole=True)
    (0.05, 5000.0, 1)
    """
    power = 10.0 ** math.floor(math.log10(room / pieces))
    steps = (factor * power for factor in (1, 2, 5, 10))
    step = next(step for step in steps if step * pieces >= room * (1 - 1e-9))
    return max(1, step) if whole else step


def _ticks(low: float, high: float, step: float) -> tuple[Tick, ...]:
    """Ticks at the multiples of a step, with as many decimals as the step; 0 has none.

    >>> [label for _, label in _ticks(0, 2.2, 0.5)]
    ['0', '0.5', '1.0', '1.5', '2.0']
    """
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    places = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return tuple((place * step, _label(place * step, digits)) for place in places)


def _label(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if digits and value else count_label(value)


class Plane:
    """A plot area with an axis below and one at the left, with grid lines.

    `legend` has symbols with their texts: `MARK`, `DOT`, a curve, or the look of an area. It is
    above the plot, where no bar can overlap it.
    """

    def __init__(
        self, drawing: Drawing, x: Axis, y: Axis, legend: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.drawing, self._x, self._y = drawing, x, y
        self._left = 1.5 * LETTER + 2 * _TICK + max(text_width(label) for _, label in y.ticks)
        self._right, self._bottom = WIDTH - RIGHT, drawing.height - BOTTOM
        lines = _legend_lines(legend)
        self._top = _TOP + _LEGEND * len(lines)
        self._draw_left_axis()
        draw_lower_axis(drawing, x, self._left, self._bottom)
        for place, line in enumerate(lines):
            self._draw_legend(line, _TOP + 2.0 + _LEGEND * place)

    def point(self, x: float, y: float) -> Point:
        """The point of two values; 0 on a logarithmic axis is at its lower end."""
        height = self._y.share(max(y, self._y.low))
        return self._across(x), self._bottom - height * (self._bottom - self._top)

    def stairs(
        self,
        edges: Sequence[float],
        heights: Sequence[float],
        feet: Sequence[float] | None = None,
        look: str = BAR,
    ) -> None:
        """Adjacent bars, from one edge to the next, as one polygon; `look` as for `area`."""
        there = list(_steps(edges, heights))
        back = list(_steps(edges, feet or [self._y.low] * len(heights)))
        self.drawing.area([self.point(x, y) for x, y in there + back[::-1]], look)

    def hints(
        self, edges: Sequence[float], texts: Sequence[str], links: Sequence[str] = ()
    ) -> None:
        """Tooltips for the bars, over their full height; with links, except where one is ""."""
        targets = links or [""] * len(texts)
        for (left, right), text, link in zip(pairwise(edges), texts, targets, strict=True):
            self.drawing.hint(
                self._across(left), self._top, self._across(right), self._bottom, text, link
            )

    def mark(self, value: float) -> None:
        """A vertical dashed line at a value of the lower axis."""
        x = self._across(value)
        self.drawing.line((x, self._bottom), (x, self._top - 3), MARK)

    def marker(self, value: float) -> None:
        """A mark that a script moves: it has both ends of the axis, in values and in pixels."""
        self.drawing.marker(
            self._across(value),
            self._top - 3,
            self._bottom,
            low=self._x.low,
            high=self._x.high,
            left=self._left,
            right=self._right,
        )

    def _across(self, value: float) -> float:
        return self._left + self._x.share(value) * (self._right - self._left)

    def _draw_left_axis(self) -> None:
        for value, label in self._y.ticks:
            _, y = self.point(self._x.low, value)
            self.drawing.line((self._left, y), (self._right, y), GRID)
            self.drawing.line((self._left - _TICK, y), (self._left, y))
            self.drawing.text((self._left - 2 * _TICK, y), label, "end")
        self.drawing.line((self._left, self._top), (self._left, self._bottom))
        middle = (self._top + self._bottom) / 2
        self.drawing.text((LETTER, middle), self._y.title, "middle", upwards=True)

    def _draw_legend(self, entries: Sequence[tuple[str, str]], y: float) -> None:
        """A line that starts at the axis, or further left if it is long."""
        widths = [_legend_width(text) for _, text in entries]
        x = max(4.0, min(self._left, WIDTH - sum(widths)))
        for (sign, text), width in zip(entries, widths, strict=True):
            if sign in (MARK, CURVE, CURVE_SECOND, CURVE_THIRD):
                self.drawing.line((x, y), (x + _SIGN, y), sign)
            elif sign == DOT:
                self.drawing.dot((x + _SIGN / 2, y))
            else:
                box = ((x, y - 5), (x + _SIGN, y - 5), (x + _SIGN, y + 5), (x, y + 5))
                self.drawing.area(box, sign)
            self.drawing.text((x + _SIGN + 6, y), text)
            x += width


def _legend_width(text: str) -> float:
    return _SIGN + 6 + text_width(text) + LETTER


def _legend_lines(entries: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """The entries in as many lines as they need."""
    lines: list[list[tuple[str, str]]] = []
    room = 0.0
    for entry in entries:
        width = _legend_width(entry[1])
        if width > room:
            lines.append([])
            room = WIDTH - 4.0 + LETTER  # no gap is needed after the last one
        lines[-1].append(entry)
        room -= width
    return lines


def draw_lower_axis(drawing: Drawing, axis: Axis, left: float, y: float) -> None:
    """Draw a line to the right edge, with ticks, labels and the title."""
    right = WIDTH - RIGHT
    drawing.line((left, y), (right, y))
    for value, label in axis.ticks:
        x = left + axis.share(value) * (right - left)
        drawing.line((x, y), (x, y + _TICK))
        drawing.text((_inside(x, label), y + _TICK + 0.8 * LETTER), label, "middle")
    middle = _inside((left + right) / 2, axis.title)
    drawing.text((middle, y + BOTTOM - 0.8 * LETTER), axis.title, "middle")


def _inside(middle: float, text: str) -> float:
    """The middle of a text, moved left if its end would be cut off."""
    return min(middle, WIDTH - text_width(text) / 2)


def _steps(edges: Sequence[float], heights: Sequence[float]) -> Iterator[Point]:
    for (left, right), height in zip(pairwise(edges), heights, strict=True):
        yield left, height
        yield right, height
