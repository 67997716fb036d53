"""PDF: the text of a document, by PDFium, which is an optional dependency."""

from __future__ import annotations

import re
from importlib.util import find_spec
from threading import Lock
from typing import Any

from neardup.errors import UnreadableError

_PDFIUM = "pypdfium2"
_NEEDED = (
    "is a PDF document, which needs pypdfium2: pip install 'neardup[pdf]', or leave it out with "
    "--suffix"
)
_SIGNATURE = b"%PDF-"
_SIGNATURE_WITHIN = 1024
# PDFium must not be used by several threads at once.
_LOCK = Lock()
# A hyphen at the end of a line, which PDFium marks; a line end.
_HYPHENS = re.compile(r"[\x02\ufffe]\s*")
_LINE_ENDS = re.compile(r"\r\n?")
_PASSWORD = "password"


def require_pdf_reader(name: str) -> None:
    """Refuse a PDF if nothing can read it."""
    if find_spec(_PDFIUM) is None:
        raise UnreadableError(f"{name} {_NEEDED}")


def pdf_text(content: bytes, name: str) -> str:
    """The text of all pages, which blank lines separate; words cut by a hyphen are joined.

    `UnreadableError` if it is encrypted, damaged, or has no text, such as a scan.
    """
    require_pdf_reader(name)
    if _SIGNATURE not in content[:_SIGNATURE_WITHIN]:
        raise UnreadableError(f"{name} is not a PDF document; rename it, or leave it out")
    import pypdfium2

    with _LOCK:
        try:
            pages = _pages(pypdfium2, content)
        except pypdfium2.PdfiumError as error:
            raise UnreadableError(f"{name} {_why(str(error))}") from error
    text = "\n\n".join(pages)
    if not text.strip():
        count = f"{len(pages):,} page{'' if len(pages) == 1 else 's'}"
        raise UnreadableError(
            f"{name} is a PDF without text ({count}); if it is a scan, recognize its text first"
        )
    return text


def _pages(pdfium: Any, content: bytes) -> list[str]:
    document = pdfium.PdfDocument(content)
    try:
        found = []
        for page in document:
            text_page = page.get_textpage()
            text = text_page.get_text_bounded(errors="replace")
            text_page.close()
            page.close()
            found.append(_HYPHENS.sub("", _LINE_ENDS.sub("\n", text)).replace("\0", "").strip())
        return found
    finally:
        document.close()


def _why(error: str) -> str:
    if _PASSWORD in error.lower():
        return "is an encrypted PDF; remove its password first"
    return f"is a damaged PDF ({error.rstrip('. ')}); fetch or write it again"
