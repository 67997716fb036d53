"""How values are shown: text with visible control characters, similarities that are cut off."""

from __future__ import annotations

import re
from math import isnan

# Control characters, and format characters that are invisible or change the direction of text.
# Joiners and variation selectors stay: scripts and emoji need them, and they have no other effect.
_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_DELETE = 0x7F
_LINE_END = re.compile("\r\n?|\n")


def visible(text: str) -> str:
    r"""Replace control characters, line ends included, by symbols or code points.

    >>> visible("a\x1b[31m\u202eb")
    'a␛[31m⟨U+202E⟩b'
    """
    return _CONTROLS.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == _DELETE else f"⟨U+{code:04X}⟩"


def visible_lines(text: str) -> str:
    r"""As `visible`, with line ends and tabs as they are: for pages that keep white space.

    >>> visible_lines("if x:\r\n\treturn\x1b")
    'if x:\n\treturn␛'
    """
    lines = _LINE_END.split(text)
    return "\n".join("\t".join(map(visible, line.split("\t"))) for line in lines)


def shown_similarity(value: float | None) -> str:
    """A similarity with four digits, cut off, so that it never seems to reach a threshold.

    >>> shown_similarity(0.79999), shown_similarity(1.0), shown_similarity(None)
    ('0.7999', '1.0000', '–')
    """
    # What is a hair below four digits by the arithmetic of floats has reached them.
    return "–" if value is None or isnan(value) else f"{int(value * 1e4 + 1e-6) / 1e4:.4f}"
