"""The steps of a page: its shell commands with the output that it shows, and its Python examples.

What counts as a command:

- every line of a block marked `sh` or `bash`;
- lines after `$ ` in any other block; the lines between are the output that the page shows;
- every line of an indented block, or one marked `text`, whose first line begins with a program of
  `PROGRAMS`;
- code between backquotes that begins with `neardup`: in a column `command` of a table it is a
  command if nothing is missing, elsewhere a mention, of which only the names of the command and
  its options count.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.docs.usage import is_complete

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    *(
        "apt",
        "apt-get",
        "aws",
        "brew",
        "cat",
        "cd",
        "conda",
        "cp",
        "curl",
        "docker",
        "echo",
        "export",
    ),
    *("git", "gzip", "head", "ls", "make", "mkdir", "mv", "neardup", "node", "npm", "pip", "pipx"),
    *("podman", "python", "python3", "scrapy", "sh", "spark-class", "spark-submit", "sudo"),
    *("systemctl", "tar", "uv", "uvx", "wget", "wsl", "xz", "zcat", "zstd"),
}
_FENCE = re.compile(r"( *)(`{3,}|~~~)\s*\{?\.?(\w*)")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*$")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
_MENTION = re.compile(r"`(neardup [^`]+)`")
_LIST_ITEM = re.compile(r" *([-*+]|\d+\.) ")


@dataclass(frozen=True)
class Step:
    """One command or example. `shown` is the output on the page, None where it shows none."""

    page: str
    line: int
    kind: str
    text: str
    shown: str | None = None

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Block:
    """Lines of code. `kind` is the word after the fence, or `indented`."""

    line: int
    kind: str
    lines: tuple[str, ...]


def name_of(page: Path) -> str:
    """The path of a page from the root, as the tables of the tests have it."""
    return page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name


def steps(page: Path) -> list[Step]:
    """What a reader of the page runs, from top to bottom."""
    name = name_of(page)
    text = page.read_text(encoding="utf-8")
    found = [
        *(Step(name, *step) for block in blocks(text) for step in _of_block(block)),
        *(Step(name, *step) for step in _of_tables(text)),
    ]
    return sorted(found, key=lambda step: step.line)


def mentions(page: Path) -> Iterator[tuple[int, str]]:
    """Every command between backquotes, complete or not."""
    for number, line in _prose(page.read_text(encoding="utf-8")):
        yield from ((number, mention) for mention in _MENTION.findall(line))


def blocks(text: str) -> Iterator[Block]:
    """The blocks of code of a page."""
    lines, number = text.splitlines(), 0
    in_list = False
    while number < len(lines):
        line = lines[number]
        if fence := _FENCE.match(line):
            end = number + 1
            while end < len(lines) and lines[end].strip() != fence[2]:
                end += 1
            inner = (each.removeprefix(fence[1]) for each in lines[number + 1 : end])
            yield Block(number + 2, fence[3] or "text", tuple(inner))
            number = end
        elif line.startswith("    ") and not in_list and (number == 0 or not lines[number - 1]):
            end = number
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            while not lines[end - 1].strip():
                end -= 1
            inner = (each[4:] for each in lines[number:end])
            yield Block(number + 1, "indented", tuple(inner))
            number = end - 1
        elif line.strip():
            in_list = bool(_LIST_ITEM.match(line)) or (in_list and line.startswith(" "))
        number += 1


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines outside blocks of code."""
    code: set[int] = set()
    for block in blocks(text):
        code.update(range(block.line, block.line + len(block.lines)))
    for number, line in enumerate(text.splitlines(), 1):
        if number not in code:
            yield number, line


def _of_tables(text: str) -> Iterator[tuple[int, str, str]]:
    """The commands in a column `command` of a table."""
    column: int | None = None
    for number, line in _prose(text):
        if not line.startswith("|"):
            column = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if "command" in cells:
            column = cells.index("command")
        elif column is not None and column < len(cells):
            code = re.fullmatch(r"`(neardup [^`]+)`", cells[column])
            if code and is_complete(code[1]):
                yield number, "shell", code[1]


def _of_block(block: Block) -> Iterator[tuple[int, str, str] | tuple[int, str, str, str]]:
    if block.kind == "python":
        yield block.line, "python", "\n".join(block.lines) + "\n"
    elif any(line.startswith("$ ") for line in block.lines):
        yield from _of_session(block)
    elif block.kind in ("sh", "bash", "shell") or (
        block.kind in ("indented", "text") and is_command(block.lines[0] if block.lines else "")
    ):
        number = 0
        while number < len(block.lines):
            text, end = _command(block.lines, number)
            if text.strip() and not text.lstrip().startswith("#"):
                yield block.line + number, "shell", text
            number = end


def _of_session(block: Block) -> Iterator[tuple[int, str, str, str]]:
    number = 0
    while number < len(block.lines) and not block.lines[number].startswith("$ "):
        number += 1
    while number < len(block.lines):
        lines = (block.lines[number].removeprefix("$ "), *block.lines[number + 1 :])
        text, end = _command(lines, 0)
        first, number = number, number + end
        after = number
        while number < len(block.lines) and not block.lines[number].startswith("$ "):
            number += 1
        yield block.line + first, "shell", text, "\n".join(block.lines[after:number]).strip("\n")


def _command(lines: tuple[str, ...], start: int) -> tuple[str, int]:
    """The command that begins on a line, and the number of the line after it."""
    end = start + 1
    while end < len(lines) and not _is_complete("\n".join(lines[start:end])):
        end += 1
    return "\n".join(lines[start:end]), end


def _is_complete(text: str) -> bool:
    heredoc = _HEREDOC.search(text)
    if heredoc:
        return heredoc[1] in text.splitlines()[1:]
    if text.endswith("\\"):
        return False
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return False
    return True


def is_command(line: str) -> bool:
    """Whether a line begins with one of the programs, after variables that are set for it."""
    words = line.split()
    while words and _ASSIGNMENT.match(words[0]):
        words.pop(0)
    return bool(words) and words[0].rpartition("/")[2] in PROGRAMS
