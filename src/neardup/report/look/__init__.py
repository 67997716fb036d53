"""How pages look: one stylesheet for the report page and for the pages of `neardup explore`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_COMMENT = re.compile(r"/\*.*?\*/\s*", re.DOTALL)


@cache
def stylesheet() -> str:
    """The text of `base.css` without comments: to serve, or to put into a `<style>` element."""
    text = Path(__file__).with_name("base.css").read_text(encoding="utf-8")
    return _COMMENT.sub("", text)
