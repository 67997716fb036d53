"""A notebook as a page: its text, its code, and what the code printed and drew."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_FORMULA = re.compile(
    r"(?P<code>(?P<ticks>`+).*?(?P=ticks))|\$\$(?P<block>.+?)\$\$|\$(?P<inline>[^$\s](?:[^$\n]*[^$\s])?)\$",
    re.S,
)
_FENCE = "~~~~~"
_MOST_LINES = 40


def notebook_page(file: Path) -> tuple[str, dict[str, bytes]]:
    """The page as Markdown, and its pictures by the names of their files."""
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    pictures: dict[str, bytes] = {}
    parts: list[str] = []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(_prose(source))
        elif cell["cell_type"] == "code" and source.strip():
            parts.append(f"{_FENCE}python\n{source}\n{_FENCE}")
            for output in cell["outputs"]:
                parts += _shown(output, file.stem, pictures)
    return "\n\n".join(parts) + "\n", pictures


def _prose(text: str) -> str:
    """Text whose formulas are MathML, and whose folded parts are Markdown, too."""
    return _FORMULA.sub(_formula, text).replace("<details>", '<details markdown="1">')


def _formula(found: re.Match[str]) -> str:
    if found["code"]:
        return found[0]
    from latex2mathml.converter import convert

    if found["inline"]:
        return str(convert(found["inline"])).replace("\n", "")
    # In a box of its own, which can be scrolled where there is no room.
    formula = str(convert(found["block"], display="block")).replace("\n", "")
    return f'<div class="formula">{formula}</div>'


def _shown(output: dict[str, Any], stem: str, pictures: dict[str, bytes]) -> Iterator[str]:
    """What a cell printed or drew: a picture or a table rather than its description."""
    data = output.get("data", {})
    if "image/png" in data:
        name = f"{stem}-{len(pictures) + 1}.png"
        pictures[name] = base64.b64decode(data["image/png"])
        yield f"![What the code above draws]({name})"
    elif "text/html" in data:
        # Without empty lines, which would end the block of HTML.
        table = re.sub(r"<style.*?</style>", "", "".join(data["text/html"]), flags=re.S)
        yield "\n".join(line for line in table.splitlines() if line.strip())
    else:
        printed = "".join(output.get("text") or data.get("text/plain") or [])
        lines = printed.rstrip("\n").splitlines()
        if len(lines) > _MOST_LINES:
            lines = [*lines[:_MOST_LINES], "…"]
        yield "\n".join([f"{_FENCE}text", *lines, _FENCE])
