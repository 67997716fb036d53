"""Figures drawn by matplotlib, an optional dependency: `pip install 'neardup[plots]'`.

The same figure gives the same bytes: no date, and no random names inside an SVG.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import NeardupError, SettingError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INSTALL = "pip install 'neardup[plots]'"
_DATELESS: dict[str, dict[str, Any] | None] = {
    "png": None,
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    try:
        require_matplotlib()
    except NeardupError:
        return False
    return True


def require_matplotlib() -> None:
    """Refuse to go on without matplotlib, and say how to install it."""
    try:
        import matplotlib.figure  # noqa: F401 - only whether it can be imported
    except ImportError as error:
        raise NeardupError(
            f"a plot needs matplotlib, which cannot be imported ({error}); install it with "
            f"{INSTALL}"
        ) from None


def picture_format(path: str | os.PathLike[str]) -> str:
    """The format that a picture's name asks for.

    >>> picture_format("charges.SVG")
    'svg'
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    if suffix not in _DATELESS:
        raise SettingError(f"{path} is no name for a picture; let it end in .png, .svg or .pdf")
    return suffix


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, that no window and no global state knows of."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def write_figure(figure: Figure, path: Path, suffix: str, *, dpi: int = 120) -> None:
    """Write one file, the same bytes for the same figure."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "neardup"}):
        figure.savefig(path, format=suffix, dpi=dpi, metadata=_DATELESS[suffix])
