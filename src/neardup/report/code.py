"""Whether a text is code, whose lines and indentation a page must keep."""

from __future__ import annotations

from itertools import islice

_LINES = 200
_CHARACTERS = 20_000
_ENDS = tuple("{}()[];:=\\>")
_STARTS = ("#", "//", "/*", "*", "@", "<", "import ", "from ", "def ", "class ", "return ")


def is_code(text: str) -> bool:
    r"""Whether the beginning of a text has the line ends and the indentation of code.

    >>> is_code("def f(x):\n    return x + 1\n\nprint(f(2))\n")
    True
    >>> is_code("The quick brown fox\njumps over the lazy dog,\nand runs.\n")
    False
    """
    lines = [
        line
        for line in islice(text[:_CHARACTERS].splitlines(), _LINES)
        if line and not line.isspace()
    ]
    indented = sum(map(_is_indented, lines))
    coded = sum(map(_looks_coded, lines))
    return len(lines) >= 3 and coded >= 0.3 * len(lines) and indented >= 0.1 * len(lines)


def _is_indented(line: str) -> bool:
    return line[0] in " \t"


def _looks_coded(line: str) -> bool:
    bare = line.strip()
    listed = bare.endswith(",") and _is_indented(line)
    return listed or bare.endswith(_ENDS) or bare.startswith(_STARTS)
