"""A folder of source code, in which files were copied, renamed, indented anew and edited.

The files are in `sources`. Every copy has the id (the path) of the file that it was made from.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files

PLACES = {
    "stock.py": "shop/stock.py",
    "tides.py": "tools/tides.py",
    "letters.py": "tools/letters.py",
    "clock.js": "web/clock.js",
    "basket.js": "web/basket.js",
    "queue.c": "native/queue.c",
    "orders.sql": "database/orders.sql",
    "backup.sh": "tools/backup.sh",
    "guide.md": "guide.md",
    "style.css": "web/style.css",
}
HEADER = (
    "Copyright the shop around the corner. Everybody may use, copy and change this file.",
    "It comes without any warranty; whoever uses it does so at their own risk.",
)


@dataclass(frozen=True)
class SourceFile:
    """A file of the folder; its id is its path."""

    id: str
    text: str
    copy_of: str | None = None
    change: str | None = None


def programs() -> list[SourceFile]:
    """All files by path: the originals, and their copies."""
    originals = {place: SourceFile(place, _original(name)) for name, place in PLACES.items()}
    copies = [
        SourceFile(path, change(originals[origin].text), origin, change.__name__.strip("_"))
        for path, origin, change in _COPIES
    ]
    return sorted([*originals.values(), *copies], key=lambda file: file.id)


def _original(name: str) -> str:
    return files(__package__).joinpath("sources", f"{name}.txt").read_text(encoding="utf-8")


def _copy(text: str) -> str:
    return text


def _indented(text: str) -> str:
    """Tabs instead of spaces, and the line ends of another system."""
    return re.sub(r"^ +", lambda found: "\t" * (len(found[0]) // 2), text, flags=re.M).replace(
        "\n", "\r\n"
    )


def _header(text: str) -> str:
    """A licence on top, as a comment."""
    return "".join(f"# {line}\n" for line in HEADER) + text


def _block_header(text: str) -> str:
    return "/* " + "\n   ".join(HEADER) + " */\n" + text


def _renamed(*names: tuple[str, str]) -> Callable[[str], str]:
    def renamed(text: str) -> str:
        for old, new in names:
            text = re.sub(rf"\b{old}\b", new, text)
        return text

    return renamed


def _extended(lines: str) -> Callable[[str], str]:
    def extended(text: str) -> str:
        return text + lines

    return extended


_COUNTED = '''

def counted(stock):
    """How many articles are on the shelf."""
    return sum(stock.amounts.values())
'''
_MORE_CSS = """
.article.sold-out { opacity: 0.5; }
.article.sold-out .price { text-decoration: line-through; }
"""
_EVENING = "\nThe last person out switches off the light in the yard.\n"

_COPIES: tuple[tuple[str, str, Callable[[str], str]], ...] = (
    ("old/stock_2021.py", "shop/stock.py", _indented),
    ("old/stock_with_count.py", "shop/stock.py", _extended(_COUNTED)),
    ("vendor/shop/stock.py", "shop/stock.py", _header),
    ("vendor/tides.py", "tools/tides.py", _copy),
    ("old/tides.py", "tools/tides.py", _renamed(("place", "index"))),
    ("vendor/letters.py", "tools/letters.py", _header),
    ("old/letters.py", "tools/letters.py", _renamed(("width", "columns"))),
    ("vendor/clock.js", "web/clock.js", _copy),
    ("web/old/clock.js", "web/clock.js", _indented),
    ("web/old/basket.js", "web/basket.js", _renamed(("discount", "rebate"))),
    ("vendor/basket.js", "web/basket.js", _block_header),
    ("vendor/ring/queue.c", "native/queue.c", _block_header),
    ("native/queue_backup.c", "native/queue.c", _copy),
    ("database/orders_old.sql", "database/orders.sql", _renamed(("outstanding", "unpaid"))),
    ("vendor/style.css", "web/style.css", _block_header),
    ("web/old/style.css", "web/style.css", _extended(_MORE_CSS)),
    ("old/guide.md", "guide.md", _extended(_EVENING)),
    ("web/guide.md", "guide.md", _copy),
)
