"""What is wrong with the pages that were built: links, anchors, pictures, things from elsewhere."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# The links with which an element makes a browser load something.
_LOADED = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src"}
# Links that name a page and load nothing.
_NAMED = {"canonical", "next", "prev", "author", "edit"}


class _Page(HTMLParser):
    """The links, the anchors and the pictures of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.without_alt: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in _LOADED and _LOADED[tag] in given and given.get("rel") not in _NAMED:
            self.loaded.append(given[_LOADED[tag]])
        if tag == "img" and not given.get("alt", "").strip():
            self.without_alt.append(given.get("src", ""))


def faults(built: Path) -> list[str]:
    """One sentence for each fault of the pages in a folder."""
    pages = {file: _Page(file.read_text(encoding="utf-8")) for file in built.rglob("*.html")}
    found = [
        f"{file.relative_to(built)}: {fault}"
        for file, page in pages.items()
        for fault in _faults(file, page, pages, built)
    ]
    return sorted(dict.fromkeys(found))


def _faults(file: Path, page: _Page, pages: dict[Path, _Page], built: Path) -> Iterator[str]:
    for link in page.links + page.loaded:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        start = built if parts.path.startswith("/") else file.parent
        there = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else file
        there = there / "index.html" if there.is_dir() else there
        if not there.is_file():
            yield f"the link {link} leads nowhere"
        elif there in pages and unquote(parts.fragment) not in pages[there].anchors:
            yield f"the link {link} names an anchor that is not there"
    for source in page.loaded:
        if urlsplit(source).netloc:
            yield f"loads {source} from elsewhere"
    for picture in page.without_alt:
        yield f"the picture {picture} has no description (alt)"
