"""Code is told from prose."""

from pathlib import Path

import pytest

from neardup.report.code import is_code

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "name", ["src/neardup/report/code.py", "native/src/dispatch.cpp", "pyproject.toml"]
)
def test_source_files_are_code(name):
    assert is_code((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one line only;",
        "a paragraph\n\nand another, of\nwhich the lines\nare wrapped.\n",
        '   Licensed under the licence\n   (the "License"); you may not\n   use this file.\n' * 9,
        "春眠不觉晓，\n处处闻啼鸟。\n夜来风雨声，\n花落知多少。\n",
        "\n \n\t\n  \n",
    ],
)
def test_prose_is_not(text):
    assert not is_code(text)


def test_json_and_markup_keep_their_lines():
    assert is_code('{\n  "name": "a",\n  "list": [\n    1,\n    2\n  ]\n}\n')
    assert is_code("<ul>\n  <li>one</li>\n  <li>two</li>\n</ul>\n")
