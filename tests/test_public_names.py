"""What `import neardup` offers is a promise; changing it means changing this list."""

import subprocess
import sys

import pytest

import neardup as nd

PUBLIC = [
    "Comparison",
    "Fingerprints",
    "IdfTable",
    "Index",
    "InputError",
    "Match",
    "MemoryIndex",
    "NeardupError",
    "Result",
    "SchemeMismatchError",
    "SettingError",
    "Sweep",
    "Tuning",
    "compare",
    "cosine",
    "dedup",
    "exact_pairs",
    "find_pairs",
    "fingerprint",
    "hamming",
    "idf",
    "jaccard",
    "keyed",
    "sweep",
    "tune",
    "unique",
    "weighted_jaccard",
]


def test_public_names_are_frozen():
    assert nd.__all__ == PUBLIC
    assert set(dir(nd)) == {*PUBLIC, "__version__"}


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_documented(name):
    assert (getattr(nd, name).__doc__ or "").strip()


@pytest.mark.parametrize("name", ["fingerprint", "compare", "find_pairs"])
def test_functions_are_not_hidden_by_modules(name):
    code = (
        "import neardup.fingerprints, neardup.comparison, neardup.pairs, neardup.deduplication;"
        "import neardup as nd;"
        f"assert callable(nd.{name})"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        nd.no_such_name  # noqa: B018


def test_importing_is_light():
    code = (
        "import sys, neardup\n"
        "heavy = {'numpy', 'pyarrow', 'lmdb', 'rich', 'typer'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_help_needs_no_arrow():
    code = (
        "import sys\nfrom neardup.cli.app import app\n"
        "heavy = {'numpy', 'pyarrow', 'fsspec', 'lmdb'} & set(sys.modules)\nassert not heavy, heavy"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_run_starts_quickly(tmp_path):
    """What takes longer to import than many a run takes is not imported for one."""
    source = tmp_path / "texts.jsonl"
    lines = [f'{{"id": {i}, "text": "to be or not to be, number {i // 2}"}}\n' for i in range(40)]
    source.write_text("".join(lines), encoding="utf-8")
    code = (
        f"import sys; sys.argv = ['neardup', 'dedup', {str(source)!r}, '-o', "
        f"{str(tmp_path / 'out')!r}, '--quiet']\n"
        "from neardup.cli.app import main\n"
        "try:\n    main()\nfinally:\n"
        "    heavy = {'pandas', 'fsspec', 'rich', 'matplotlib', 'lmdb'} & set(sys.modules)\n"
        "    assert not heavy, heavy"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert (tmp_path / "out" / "kept.parquet").exists()
