"""The pages of the site, made from the Markdown that is read on GitHub.

A page stands once, in docs/ or in the root of the repository, with links that work there. For the
site it is copied, and its links are turned to where their targets are in the site: another page, a
picture, or a file of the repository, which is shown as a page of its own.
"""

import re
import shutil
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from posixpath import relpath

from scripts.site.notebooks import notebook_page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
HOME = DOCS / "README.md"
DECISIONS = DOCS / "decisions"
PROJECT = {
    ROOT / f"{name}.md": PurePosixPath("project") / f"{name.lower()}.md"
    for name in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SECURITY")
}
# The list of pages on it is the navigation.
HOME_SETTINGS = "---\nhide:\n  - navigation\n---\n"
NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n"
# Larger files are copied instead of shown.
SHOWN_BYTES = 60_000
LANGUAGES = {".mjs": "js", ".service": "ini", ".inc": "cpp", "": "text"}

_FENCED = re.compile(r"^(?P<fence>```+|~~~+).*?^(?P=fence)\s*?$", re.M | re.S)
_LINK = re.compile(
    r"(?P<code>(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)",
    re.S,
)
_HEADING = re.compile(r"^(?P<marks>#{1,6}) +(?P<text>.+?) *#*$", re.M)
_FENCE_NOTES = re.compile(r"^((?:```|~~~)\w+)[ \t].*$", re.M)
_EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]*:")


class SiteError(Exception):
    """Why the site cannot be built."""


@dataclass
class Site:
    """The folder from which the site is built."""

    folder: Path
    targets: dict[Path, PurePosixPath] = field(default_factory=dict)
    """Where each file of the repository is in the site."""

    def write(self) -> None:
        """Write every page, and each file that a page links to."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for file in sorted(file for file in DOCS.rglob("*") if file.is_file()):
            path = PurePosixPath(file.relative_to(DOCS).as_posix())
            self.targets[file] = PurePosixPath("index.md") if file == HOME else path
        self.targets |= PROJECT | {DECISIONS: PurePosixPath("decisions/index.md")}
        self._put(self.targets[DECISIONS], _list_of_decisions())
        for file, path in list(self.targets.items()):
            if file.suffix == ".md":
                self._put(path, self.turned(file))
            elif file.is_file():
                self._path(path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, self._path(path))

    def turned(self, page: Path, text: str | None = None) -> str:
        """A page, or this text of it, with the links and the anchors of the site."""
        here = self.targets[page]

        def link(found: re.Match[str]) -> str:
            target, _, anchor = (found["target"] or "").partition("#")
            if not target or _EXTERNAL.match(target):
                return found[0]
            there = self._target(page, (page.parent / target).resolve())
            if there is None:
                return found["text"]
            turned = relpath(str(there), str(here.parent)) + (f"#{anchor}" if anchor else "")
            return f"{found['image']}[{found['text']}]({turned})"

        # What follows the language of a block, such as status=202, is for tests.
        text = _FENCE_NOTES.sub(r"\1", page.read_text(encoding="utf-8") if text is None else text)
        turned = _in_prose(lambda prose: _LINK.sub(link, prose), _with_anchors(text))
        return HOME_SETTINGS + turned if page == HOME else turned

    def _target(self, page: Path, file: Path) -> PurePosixPath | None:
        """Where a file is in the site; None for a folder, which has no page."""
        if file not in self.targets:
            if not file.exists():
                raise SiteError(f"{page.relative_to(ROOT)} links to {file}, which does not exist")
            if file.is_dir():
                return None
            self.targets[file] = place_of(file)
            self._add(file, self.targets[file])
        return self.targets[file]

    def _add(self, file: Path, path: PurePosixPath) -> None:
        """Put a file of the repository into the site: a notebook, a page of code, or as it is."""
        if file.suffix == ".ipynb":
            text, pictures = notebook_page(file)
            self.targets |= {file.with_name(name): path.with_name(name) for name in pictures}
            self._put(path, self.turned(file, text))
            for name, content in pictures.items():
                self._path(path.with_name(name)).write_bytes(content)
        elif path.suffix == ".md":
            language = LANGUAGES.get(file.suffix, file.suffix[1:])
            code = file.read_text(encoding="utf-8").rstrip("\n")
            name = file.relative_to(ROOT).as_posix()
            self._put(path, f"{NOT_SEARCHED}# {name}\n\n~~~~~{language}\n{code}\n~~~~~\n")
        else:
            self._path(path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, self._path(path))

    def _put(self, path: PurePosixPath, text: str) -> None:
        self._path(path).parent.mkdir(parents=True, exist_ok=True)
        self._path(path).write_text(text, encoding="utf-8")

    def _path(self, path: PurePosixPath) -> Path:
        return self.folder / path


def place_of(file: Path) -> PurePosixPath:
    """Where a file outside docs/ is in the site, if a page links to it."""
    if file in PROJECT:
        return PROJECT[file]
    if file.suffix == ".ipynb":
        return PurePosixPath("notebooks") / f"{file.stem}.md"
    path = PurePosixPath("files") / file.relative_to(ROOT).as_posix()
    shown = file.stat().st_size <= SHOWN_BYTES
    return path.with_name(f"{path.name}.md") if shown else path


def title(page: Path) -> str:
    """The first heading of a page."""
    return str(_HEADING.search(page.read_text(encoding="utf-8"))["text"])  # type: ignore[index]


def links(text: str) -> Iterator[tuple[str, str]]:
    """The text and the target of each link of a page."""
    for found in _LINK.finditer(_FENCED.sub("", text)):
        if found["target"]:
            yield found["text"], found["target"]


def _list_of_decisions() -> str:
    entries = (f"- [{title(page)}]({page.name})" for page in sorted(DECISIONS.glob("*.md")))
    about = "One page for each design decision: what, why, and what else was measured."
    return "\n".join(["# Decisions", "", about, "", *entries, ""])


def _with_anchors(text: str) -> str:
    """The page with the anchors of GitHub at its headings."""
    seen: dict[str, int] = {}

    def heading(found: re.Match[str]) -> str:
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found["text"]).replace("*", "")
        kept = (c for c in shown.lower() if c in " -_" or unicodedata.category(c)[0] in "LN")
        name = "".join(kept).replace(" ", "-")
        times = seen[name] = seen.get(name, -1) + 1
        anchor = f"{name}-{times}" if times else name
        return f"{found['marks']} {found['text']} {{ #{anchor} }}"

    return _in_prose(lambda prose: _HEADING.sub(heading, prose), text)


def _in_prose(change: Callable[[str], str], text: str) -> str:
    """A page changed outside its blocks of code."""
    parts, end = [], 0
    for found in _FENCED.finditer(text):
        parts += [change(text[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*parts, change(text[end:])])
