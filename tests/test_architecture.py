"""The one-way dependency rule: nothing imports upwards."""

import ast
from pathlib import Path

import neardup

ROOT = Path(neardup.__file__).parent

# From the bottom up; a module imports only from its own layer or lower ones.
LAYERS = [
    {"errors", "settings", "visible", "notebook", "figures", "__init__"},
    {"atomic", "engines"},
    {"kernels"},
    {"read", "features", "hashes", "sphere"},
    {"fingerprints"},
    {"cluster", "presets"},
    {"collection", "pairs"},
    {"comparison"},
    {"report"},
    {"index"},
    {"deduplication"},
    {"lab"},
    {"cli", "__main__"},
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
