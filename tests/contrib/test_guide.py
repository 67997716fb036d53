"""The examples of the guide run, each program in the section of its name."""

import doctest
import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "integrations.md"
TEXT = GUIDE.read_text(encoding="utf-8")
SECTIONS = re.split(r"^## ", TEXT, flags=re.M)
PROGRAMS = {
    "Polars": "polars",
    "pandas": "pandas",
    "DuckDB": "duckdb",
    "Hugging Face datasets": "datasets",
}


@pytest.mark.parametrize("title", PROGRAMS)
def test_the_examples_of_the_guide_run(title):
    pytest.importorskip(PROGRAMS[title], reason=f"{title} is not installed")
    (section,) = (part for part in SECTIONS if part.startswith(f"{title}\n"))
    parser = doctest.DocTestParser()
    examples = parser.get_doctest(SECTIONS[0] + section, {}, title, str(GUIDE), 0)
    assert len(examples.examples) > 5
    told: list[str] = []
    done = doctest.DocTestRunner().run(examples, out=told.append)
    assert done.failed == 0, "".join(told)


def test_the_guide_names_every_module():
    import neardup.contrib

    modules = {path.stem for path in Path(neardup.contrib.__file__).parent.glob("[a-z]*.py")}
    for name in modules - {"columns", "needs", "rows"}:
        assert f"`pip install 'neardup[{name}]'`" in SECTIONS[0]
