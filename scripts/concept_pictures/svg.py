"""A picture as SVG: shapes in the colours of the site, for light and for dark pages."""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

# Each colour is a class: what it is for, on light pages, on dark ones.
COLOURS = {
    "ground": ("#f6f8fa", "#1c242b"),
    "ink": ("#22303a", "#dde6ed"),
    "faint": ("#5d6c78", "#9aabb8"),
    "line": ("#c3ced6", "#45545f"),
    "blue": ("#2a6f97", "#7dbbe0"),
    "red": ("#c2452d", "#f39a83"),
    "green": ("#3d7a46", "#8cc795"),
    "softblue": ("#cfe3ef", "#244a60"),
    "softred": ("#f6d7ce", "#64372c"),
    "softgreen": ("#d5e8d6", "#2b4a30"),
}
FIFTHS = (0, 0.2, 0.4, 0.6, 0.8, 1)
SANS = "system-ui,-apple-system,'Segoe UI','Noto Sans',sans-serif"
MONO = "ui-monospace,'DejaVu Sans Mono',monospace"


class Picture:
    """A picture of a fixed width, to which shapes are added."""

    def __init__(self, width: int, height: int, description: str) -> None:
        self.width, self.height, self.description = width, height, description
        self.shapes: list[str] = []

    def text(
        self,
        x: float,
        y: float,
        words: str,
        colour: str = "ink",
        *,
        size: float = 14,
        anchor: str = "start",
        bold: bool = False,
        mono: bool = False,
    ) -> None:
        """Words, whose base line begins at a place."""
        style = f' text-anchor="{anchor}"' if anchor != "start" else ""
        style += ' font-weight="600"' if bold else ""
        kind = f"{colour} mono" if mono else colour
        self.shapes.append(
            f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}"{style}>'
            f"{escape(words, quote=False)}</text>"
        )

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        colour: str,
        *,
        border: str = "",
        round_by: float = 3,
    ) -> None:
        """A rectangle, filled."""
        edge = f" s-{border}" if border else ""
        self.shapes.append(
            f'<rect class="{colour}{edge}" x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" '
            f'height="{_n(height)}" rx="{_n(round_by)}"/>'
        )

    def circle(self, x: float, y: float, radius: float, colour: str, border: str = "") -> None:
        """A circle, filled."""
        edge = f" s-{border}" if border else ""
        self.shapes.append(
            f'<circle class="{colour}{edge}" cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"/>'
        )

    def line(
        self,
        points: Iterable[tuple[float, float]],
        colour: str = "line",
        *,
        width: float = 1.5,
        dashed: bool = False,
    ) -> None:
        """A line through points."""
        path = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        dashes = ' stroke-dasharray="5 4"' if dashed else ""
        self.shapes.append(
            f'<polyline class="none s-{colour}" points="{path}" stroke-width="{_n(width)}"'
            f"{dashes}/>"
        )

    def write(self, path: Path) -> None:
        """Write the picture; the same shapes give the same bytes."""
        light, dark = (
            "".join(
                f".{name}{{fill:{both[which]}}}.s-{name}{{stroke:{both[which]}}}"
                for name, both in COLOURS.items()
            )
            for which in (0, 1)
        )
        style = (
            f"text{{font-family:{SANS}}}.mono{{font-family:{MONO}}}.none{{fill:none}}"
            f"{light}@media(prefers-color-scheme:dark){{{dark}}}"
        )
        shapes = "\n".join(self.shapes)
        path.write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img">\n'
            f"<title>{escape(self.description, quote=False)}</title>\n<style>{style}</style>\n"
            f'<rect class="ground" width="{self.width}" height="{self.height}" rx="8"/>\n'
            f"{shapes}\n</svg>\n",
            encoding="utf-8",
        )


class Plot:
    """The axes of a plot in a picture, with curves over them."""

    def __init__(
        self,
        picture: Picture,
        frame: tuple[float, float, float, float],
        x_range: tuple[float, float],
        y_range: tuple[float, float],
    ) -> None:
        self.picture, self.frame = picture, frame
        self.x_range, self.y_range = x_range, y_range

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a value is in the picture."""
        left, top, width, height = self.frame
        (x0, x1), (y0, y1) = self.x_range, self.y_range
        return left + width * (x - x0) / (x1 - x0), top + height * (1 - (y - y0) / (y1 - y0))

    def axes(
        self,
        x_name: str,
        y_name: str,
        x_ticks: Sequence[float],
        y_ticks: Sequence[float],
    ) -> None:
        """The frame, its numbers and the names of both axes."""
        left, top, width, height = self.frame
        for value in y_ticks:
            (_, y) = self.at(self.x_range[0], value)
            self.picture.line([(left, y), (left + width, y)], "line", width=0.8)
            self.picture.text(left - 8, y + 4.5, f"{value:g}", "faint", size=13, anchor="end")
        for value in x_ticks:
            (x, _) = self.at(value, self.y_range[0])
            self.picture.line([(x, top + height), (x, top + height + 5)], "faint", width=1)
            self.picture.text(x, top + height + 20, f"{value:g}", "faint", size=13, anchor="middle")
        self.picture.text(
            left + width / 2, top + height + 40, x_name, "ink", size=13.5, anchor="middle"
        )
        self.picture.text(left - 30, top - 14, y_name, "ink", size=13.5)

    def curve(
        self, points: Iterable[tuple[float, float]], colour: str, *, dashed: bool = False
    ) -> None:
        """A curve through values."""
        self.picture.line([self.at(x, y) for x, y in points], colour, width=2.2, dashed=dashed)

    def label(self, x: float, y: float, words: str, colour: str, *, anchor: str = "start") -> None:
        """Words at a value."""
        px, py = self.at(x, y)
        self.picture.text(px, py, words, colour, size=13, anchor=anchor)


def _n(value: float) -> str:
    """A number, short, and the same on every machine."""
    return f"{value:.1f}".rstrip("0").rstrip(".")
