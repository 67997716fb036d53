"""The seconds of the stages of a run, as bars."""

from __future__ import annotations

from collections.abc import Mapping

from neardup.report.markup import Markup
from neardup.report.plots.drawing import (
    BOTTOM,
    RIGHT,
    WIDTH,
    Drawing,
    draw_lower_axis,
    linear_axis,
    text_width,
)
from neardup.visible import visible

_ROW = 26
_WIDEST_NAME = 160


def seconds_plot(seconds: Mapping[str, float]) -> Markup | None:
    """Seconds of each stage, from top to bottom; None without any."""
    if not seconds:
        return None
    rows = [(_shortened(name), took, duration(took)) for name, took in seconds.items()]
    left, right = 12 + max(text_width(name) for name, _, _ in rows), WIDTH - RIGHT
    most = max(0.001, *seconds.values())
    # A bar leaves room for the number beside it.
    ends = [(right - left - 8 - text_width(beside), value) for _, value, beside in rows]
    longest = min([right - left, *(end * most / value for end, value in ends if value)])
    bottom = 6 + _ROW * len(rows)

    said = ", ".join(f"{name} {beside}" for name, _, beside in rows)
    drawing = Drawing("seconds", f"Seconds of each stage: {said}.", bottom + BOTTOM)
    for place, (name, value, beside) in enumerate(rows):
        middle, end = 6 + _ROW * (place + 0.5), left + longest * value / most
        drawing.text((left - 8, middle), name, "end")
        top, foot = middle - 0.33 * _ROW, middle + 0.33 * _ROW
        drawing.area([(left, top), (end, top), (end, foot), (left, foot)])
        drawing.text((end + 5, middle), beside)
    drawing.line((left, 2), (left, bottom))
    axis = linear_axis(0, most * (right - left) / longest, "seconds", room=right - left)
    draw_lower_axis(drawing, axis, left, bottom)
    return drawing.svg()


def duration(seconds: float) -> str:
    """Seconds as text, to the millisecond.

    >>> duration(0.0123), duration(0.0002), duration(1.394), duration(1234.5)
    ('0.012 s', 'under 0.001 s', '1.39 s', '1,234 s')
    """
    if 0 < seconds < 0.0005:
        return "under 0.001 s"
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{round(seconds, 3):.3g} s"


def _shortened(name: str) -> str:
    """The name, shortened to leave room for its bar."""
    name = visible(name)
    if text_width(name) <= _WIDEST_NAME:
        return name
    return next(
        cut_off
        for length in range(len(name) - 1, -1, -1)
        if text_width(cut_off := name[:length] + "…") <= _WIDEST_NAME
    )
