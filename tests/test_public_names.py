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
    "compare",
    "cosine",
    "dedup",
    "find_pairs",
    "fingerprint",
    "hamming",
    "idf",
    "jaccard",
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
        "import neardup.fingerprints, neardup.comparison, neardup.candidates, neardup.pipeline;"
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
