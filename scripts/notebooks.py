"""Run the notebooks of neardup/samples from top to bottom, and store them with their output.

    python -m scripts.notebooks [NAME...]

The cells are edited in Jupyter, in the .ipynb files themselves. Solutions of exercises are Markdown
cells with <details>, whose code is run as well, after the other cells, without being stored.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "src" / "neardup" / "samples" / "notebooks"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_SOLUTION = re.compile(r"<details>.*?</details>", re.S)
_CODE = re.compile(r"```python\n(.*?)```", re.S)


def names() -> list[str]:
    """The notebooks, without their suffix."""
    return sorted(path.stem for path in FOLDER.glob("*.ipynb"))


def read(name: str) -> Any:
    """A notebook as it is stored."""
    import nbformat

    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def solutions(notebook: Any) -> list[str]:
    """The code of the solutions."""
    return [
        code
        for cell in notebook.cells
        if cell.cell_type == "markdown"
        for part in _SOLUTION.findall(cell.source)
        for code in _CODE.findall(part)
    ]


def executed(notebook: Any) -> Any:
    """The notebook with new output; an error in a cell or a solution is raised."""
    import nbformat
    from nbclient import NotebookClient

    run = nbformat.from_dict(notebook)
    cells = len(run.cells)
    run.cells += [nbformat.v4.new_code_cell(code) for code in solutions(notebook)]
    run.metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    with tempfile.TemporaryDirectory() as folder:  # not the repository, which users do not have
        NotebookClient(run, timeout=120, resources={"metadata": {"path": folder}}).execute()
    run.cells = run.cells[:cells]
    return tidy(run)


def tidy(notebook: Any) -> Any:
    """Without what differs from run to run: numbers and times of execution, ids, progress."""
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number:03}"
        cell["metadata"] = {}
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = None
    return notebook


def main() -> None:
    """Run those that are named, or all."""
    import nbformat

    for name in sys.argv[1:] or names():
        notebook = executed(read(name))
        nbformat.write(notebook, FOLDER / f"{name}.ipynb")
        print(f"{name}: {len(notebook.cells)} cells")


if __name__ == "__main__":
    main()
