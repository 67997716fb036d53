"""HTML: the text of a page, without its markup.

Pages are decoded and cut into markup and text as the HTML standard says (whatwg.org), without
building a tree: no page can be nested too deeply, and broken markup costs no more than good markup.
"""

from __future__ import annotations

import codecs
import re
from html import unescape

# In this encoding, a byte order mark decides, then the protocol, then the page itself.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED_WITHIN = 1024
_META = re.compile(rb"<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
# Browsers read these as a larger encoding that contains them.
_LARGER = {
    **dict.fromkeys(("ascii", "iso8859-1"), "cp1252"),
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
    # Pages that could be read so far are not in these.
    **dict.fromkeys(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7"), "utf-8"),
}
_UNDECLARED = "cp1252"

# Elements whose content no reader sees.
_HIDDEN = (
    *("script", "style", "template", "noscript", "iframe", "svg", "math", "noframes", "noembed"),
)
_PARAGRAPHS = (
    *("address", "article", "aside", "blockquote", "body", "caption", "dl", "figure", "footer"),
    *("form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "main", "nav", "ol", "p"),
    *("pre", "section", "table", "title", "ul"),
)
_LINES = (
    *("br", "center", "dd", "details", "dir", "div", "dt", "fieldset", "figcaption", "legend"),
    *("li", "menu", "option", "summary", "tbody", "tfoot", "thead", "tr"),
)
_BREAKS = {
    **dict.fromkeys(_PARAGRAPHS, "\n\n"),
    **dict.fromkeys(_LINES, "\n"),
    **dict.fromkeys(("td", "th"), "\t"),
}
# Comments, tags, and the rest. Each alternative ends at the end of the page at the latest, so none
# is tried twice. Quotes count after an equals sign alone.
_MARKUP = re.compile(
    r"""
    <!--(?:-?>|.*?(?:--!?>|\Z))
    | <(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*)(?:[^>=]|=(?:\s*(?:"[^"]*"|'[^']*'))?)*(?:>|\Z)
    | <[!?/][^>]*(?:>|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
_ENDS = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in _HIDDEN}
_SPACES = re.compile(r"[ \t\n\r\f]+")
_AROUND_BREAKS = re.compile(r"[ \t]*\n[ \t\n]*")
_CELLS = re.compile(r" *\t[ \t]*")
_SPACES_ONLY = re.compile(r" {2,}")
_PRE = "pre"


def page_text(content: bytes, charset: str | None = None) -> str:
    r"""The text of a page; `charset` is the encoding that a protocol such as HTTP names.

    The title comes first, where it stands. Paragraphs are separated by blank lines, cells by tabs.
    `ValueError` names an encoding that is unknown.

    >>> page_text(b"<title>A &amp; B</title><style>p {}</style><p>One<b>two</b>\n three<p>Four")
    'A & B\n\nOnetwo three\n\nFour'
    """
    return text_of_markup(decoded(content, charset))


def decoded(content: bytes, charset: str | None = None) -> str:
    """A page as text, in the encoding that a browser takes; what is invalid becomes U+FFFD."""
    for mark, name in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(name, "replace")
    if charset is None:
        declared = _META.search(content, 0, _DECLARED_WITHIN)
        charset = None if declared is None else declared[1].decode("ascii", "replace")
    if charset is not None:
        return content.decode(_codec(charset), "replace")
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode(_UNDECLARED, "replace")


def _codec(charset: str) -> str:
    name = charset.strip().strip("\"'")
    try:
        found = codecs.lookup(name).name
        b"a".decode(name, "replace")  # refuses Python's codecs for other things than text
    except (LookupError, ValueError):
        raise ValueError(f"in the encoding {charset!r}, which is unknown") from None
    return _LARGER.get(found, found)


def text_of_markup(page: str) -> str:
    """The text of a decoded page."""
    pieces: list[str] = []
    begin, in_pre = 0, False
    while markup := _MARKUP.search(page, begin):
        if markup.start() > begin:
            pieces.append(_text(page[begin : markup.start()], in_pre))
        begin = markup.end()
        name = markup["name"]
        if name is None:
            continue
        name = name.lower()
        if name == _PRE:
            in_pre = not markup["end"]
        if name not in _ENDS:
            pieces.append(_BREAKS.get(name, ""))
        elif not markup["end"] and not markup[0].endswith("/>"):
            # Its end tag is the next markup; without one, nothing more is seen.
            end = _ENDS[name].search(page, begin)
            begin = len(page) if end is None else end.start()
    pieces.append(_text(page[begin:], in_pre))
    joined = _SPACES_ONLY.sub(" ", _CELLS.sub("\t", "".join(pieces)))
    return _AROUND_BREAKS.sub(_break, joined).strip(" \t\n")


def _text(piece: str, in_pre: bool) -> str:
    """A stretch of text between markup."""
    piece = piece.replace("\r\n", "\n") if in_pre else _SPACES.sub(" ", piece)
    return unescape(piece).replace("\0", "") if "&" in piece or "\0" in piece else piece


def _break(found: re.Match[str]) -> str:
    return "\n\n" if found[0].count("\n") > 1 else "\n"
