"""A drawing with two axes, and what a plot puts between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from neardup.report.dedup_axes import Axis
from neardup.report.dedup_svg import (
    INK,
    LETTER,
    MARK,
    PALE,
    WIDTH,
    Drawing,
    Point,
    text_width,
)

RIGHT, BOTTOM = 18, 46
LINE, DOT = "line", "dot"
_TOP, _LEGEND = 10, 22
_TICK = 4
_SIGN = 22  # how wide a sign of the legend is


class Plane:
    """An axis below, one at the left with pale lines across, and later whatever is drawn there.

    `legend` holds signs with their texts: `LINE`, `DOT`, or the fill of an area. It stands above,
    where no bar can run into it.
    """

    def __init__(
        self, drawing: Drawing, x: Axis, y: Axis, legend: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.drawing, self._x, self._y = drawing, x, y
        self._left = 1.5 * LETTER + 2 * _TICK + max(text_width(label) for _, label in y.ticks)
        self._right, self._bottom = WIDTH - RIGHT, drawing.height - BOTTOM
        self._top = _TOP + (_LEGEND if legend else 0)
        self._draw_left_axis()
        draw_lower_axis(drawing, x, self._left, self._bottom)
        if legend:
            self._draw_legend(legend)

    def point(self, x: float, y: float) -> Point:
        """Where two values meet; nothing at all, on a logarithmic axis, is at its foot."""
        height = self._y.share(max(y, self._y.low))
        return self._across(x), self._bottom - height * (self._bottom - self._top)

    def stairs(
        self,
        edges: Sequence[float],
        heights: Sequence[float],
        feet: Sequence[float] | None = None,
        **look: str,
    ) -> None:
        """Bars side by side, from one edge to the next, as one shape; `look` as of an area."""
        there = list(_steps(edges, heights))
        back = list(_steps(edges, feet or [self._y.low] * len(heights)))
        self.drawing.area([self.point(x, y) for x, y in there + back[::-1]], **look)

    def hints(self, edges: Sequence[float], texts: Sequence[str]) -> None:
        """What a pointer is told of each bar, anywhere between its edges."""
        for (left, right), text in zip(pairwise(edges), texts, strict=True):
            self.drawing.hint(
                self._across(left), self._top, self._across(right), self._bottom, text
            )

    def mark(self, value: float) -> None:
        """A dashed line upwards from a value of the lower axis."""
        x = self._across(value)
        _dashed(self.drawing, (x, self._bottom), (x, self._top - 3))

    def _across(self, value: float) -> float:
        return self._left + self._x.share(value) * (self._right - self._left)

    def _draw_left_axis(self) -> None:
        for value, label in self._y.ticks:
            _, y = self.point(self._x.low, value)
            self.drawing.line((self._left, y), (self._right, y), PALE)
            self.drawing.line((self._left - _TICK, y), (self._left, y))
            self.drawing.text((self._left - 2 * _TICK, y), label, "end")
        self.drawing.line((self._left, self._top), (self._left, self._bottom))
        middle = (self._top + self._bottom) / 2
        self.drawing.text((LETTER, middle), self._y.title, "middle", upwards=True)

    def _draw_legend(self, entries: Sequence[tuple[str, str]]) -> None:
        """From the axis on; further left if it is long."""
        widths = [_SIGN + 6 + text_width(text) + LETTER for _, text in entries]
        x, y = max(4.0, min(self._left, WIDTH - sum(widths))), _TOP + 2.0
        for (sign, text), width in zip(entries, widths, strict=True):
            if sign == LINE:
                _dashed(self.drawing, (x, y), (x + _SIGN, y))
            elif sign == DOT:
                self.drawing.dot((x + _SIGN / 2, y))
            else:
                box = ((x, y - 5), (x + _SIGN, y - 5), (x + _SIGN, y + 5), (x, y + 5))
                self.drawing.area(box, sign, INK)
            self.drawing.text((x + _SIGN + 6, y), text)
            x += width


def draw_lower_axis(drawing: Drawing, axis: Axis, left: float, y: float) -> None:
    """A line with ticks, their labels and the title, up to the right edge."""
    right = WIDTH - RIGHT
    drawing.line((left, y), (right, y))
    for value, label in axis.ticks:
        x = left + axis.share(value) * (right - left)
        drawing.line((x, y), (x, y + _TICK))
        drawing.text((_inside(x, label), y + _TICK + 0.8 * LETTER), label, "middle")
    middle = _inside((left + right) / 2, axis.title)
    drawing.text((middle, y + BOTTOM - 0.8 * LETTER), axis.title, "middle")


def _inside(middle: float, text: str) -> float:
    """The middle of a text, moved to the left where its end would be cut off."""
    return min(middle, WIDTH - text_width(text) / 2)


def _dashed(drawing: Drawing, start: Point, end: Point) -> None:
    drawing.line(start, end, MARK, 1.6, "5 3")


def _steps(edges: Sequence[float], heights: Sequence[float]) -> Iterator[Point]:
    for (left, right), height in zip(pairwise(edges), heights, strict=True):
        yield left, height
        yield right, height
