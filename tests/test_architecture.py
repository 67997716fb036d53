"""The one-way dependency rule: nothing imports upwards."""

import ast
import re
from pathlib import Path

import pytest

import neardup

ROOT = Path(neardup.__file__).parent

# From the bottom up; a module imports only from its own layer or lower ones.
LAYERS = [
    {"errors", "frozen", "settings", "visible", "notebook", "figures", "presets", "__init__"},
    {"system"},
    {"atomic"},
    {"kernels"},
    {"hashes", "sphere", "samples"},
    {"read"},
    {"features"},
    {"fingerprints"},
    {"engines", "cluster"},
    {"collection"},
    {"scoring"},
    {"pairs"},
    {"comparison"},
    {"report"},
    {"decisions"},
    {"labels"},
    {"index"},
    {"client"},
    {"deduplication"},
    {"contrib"},
    {"parts"},
    {"distributed"},
    {"spark"},
    {"runs"},
    {"evaluation"},
    {"lab"},
    {"explore"},
    {"cli", "__main__", "service"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imported_parts(path: Path) -> set[str]:
    """The parts of neardup that a module imports, at any place in the module."""
    parts = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write the import in full"
            if node.module == "neardup":
                names = {alias.name for alias in node.names}
                parts |= {name if name in LEVEL else "__init__" for name in names}
            elif node.module and node.module.startswith("neardup."):
                parts.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            dotted = [alias.name.split(".") for alias in node.names]
            parts |= {names[1] for names in dotted if names[0] == "neardup" and len(names) > 1}
    return parts


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def test_every_part_has_a_layer():
    assert {part_of(path) for path in ROOT.rglob("*.py")} <= set(LEVEL)


def test_nothing_imports_upwards():
    upwards = [
        f"{path.relative_to(ROOT)} imports {part}"
        for path in sorted(ROOT.rglob("*.py"))
        if path != ROOT / "__init__.py"
        for part in sorted(imported_parts(path))
        if LEVEL[part] > LEVEL[part_of(path)]
    ]
    assert upwards == []


def test_the_native_core_knows_no_python():
    native = Path(__file__).parents[1] / "native"
    sources = [*native.glob("include/**/*.hpp"), *native.glob("src/**/*.cpp")]
    assert sources
    for source in sources:
        text = source.read_text(encoding="utf-8")
        assert "Python.h" not in text, source
        assert "nanobind" not in text, source


PAGE = (Path(__file__).parents[1] / "ARCHITECTURE.md").read_text(encoding="utf-8")


def named_paths() -> list[str]:
    """Everything in ARCHITECTURE.md that looks like a file or folder."""
    quoted = re.findall(r"`([\w/.]+)`", PAGE)
    return sorted({name for name in quoted if name.endswith((".py", "/", ".inc", ".j2", ".cpp"))})


@pytest.mark.parametrize("name", named_paths())
def test_the_architecture_page_names_what_exists(name):
    project = Path(__file__).parents[1]
    places = [ROOT / name, project / name, project / "native" / name]
    assert any(place.exists() for place in places)


def test_the_walks_are_long_enough_to_be_of_use():
    walks = PAGE[PAGE.index("## Walk 1") : PAGE.index("## The native code")]
    modules = set(re.findall(r"`([\w/]+\.py)`", walks))
    assert len(modules) > 40
    assert {"deduplication/run.py", "index/api.py", "lab/tune/run.py"} <= modules


def test_every_folder_is_on_the_map():
    table = PAGE[PAGE.index("## The map") : PAGE.index("## Walk 1")]
    folders = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert folders == set(re.findall(r"`(\w+)/`", table)) - {"dedup", "compare"}
    modules = {path.name for path in ROOT.glob("[a-z]*.py")}
    assert modules <= set(re.findall(r"`(\w+\.py)`", table))
