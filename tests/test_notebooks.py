"""The notebooks run from top to bottom, with their solutions, away from the repository."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("ipykernel")
pytest.importorskip("jieba")
pytest.importorskip("matplotlib")
pytest.importorskip("nbclient")

from scripts import notebooks

NAMES = notebooks.names()


def printed(notebook):
    """What each cell puts out: the kinds of output, and the text without its numbers."""
    return [
        [
            (one.output_type, sorted(one.get("data", ())), re.sub(r"\d+", "0", one.get("text", "")))
            for one in merged(cell.outputs)
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def merged(outputs):
    """The outputs, with text that arrived in several parts in one."""
    found = []
    for one in outputs:
        if found and one.output_type == found[-1].output_type == "stream":
            found[-1] = type(one)({**found[-1], "text": found[-1]["text"] + one["text"]})
        else:
            found.append(one)
    return found


def test_there_are_three():
    assert NAMES == ["clean-a-corpus", "tune-by-labels", "what-is-simhash"]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_puts_out_what_is_stored(name):
    stored = notebooks.read(name)
    assert printed(notebooks.executed(stored)) == printed(stored)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_tidy(name):
    stored = notebooks.read(name)
    assert "pip install 'neardup[plots" in stored.cells[1].source
    text = notebooks.FOLDER.joinpath(f"{name}.ipynb").read_text(encoding="utf-8")
    assert not re.search(r'"/(home|root|tmp|usr)/', text)
    for cell in stored.cells:
        assert cell.cell_type == "markdown" or len(cell.source.splitlines()) <= 26, cell.source
        if "plt.show()" in cell.source:
            assert any("image/png" in one.get("data", ()) for one in cell.outputs), cell.source


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_other_notebooks(name):
    for cell in notebooks.read(name).cells:
        if cell.cell_type == "markdown":
            for target in re.findall(r"\]\(([^)]+)\)", cell.source):
                assert (notebooks.FOLDER / target).is_file(), target


def test_every_chapter_of_the_course_has_exercises_with_solutions():
    text = [cell.source for cell in notebooks.read("what-is-simhash").cells]
    chapters = "\n".join(text).split("\n## ")[1:-1]
    assert len(chapters) == 8
    for chapter in chapters:
        assert chapter.count("**Exercises**") == 1, chapter[:40]
        assert chapter.count("<details><summary>Solution</summary>") == 1, chapter[:40]
        assert chapter.count("</details>") == 1, chapter[:40]


def test_an_error_in_a_solution_is_noticed():
    import nbformat

    broken = nbformat.v4.new_notebook()
    broken.cells.append(nbformat.v4.new_code_cell("answer = 42"))
    broken.cells.append(
        nbformat.v4.new_markdown_cell(
            "<details><summary>Solution</summary>\n\n"
            "```python\nassert answer == 41\n```\n\n</details>"
        )
    )
    with pytest.raises(Exception, match="AssertionError"):
        notebooks.executed(broken)
