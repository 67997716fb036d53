"""The public names, their signatures and their documentation."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import neardup as nd
from neardup.fingerprints import Scheme
from neardup.lab.sweep.request import _SETTINGS as OF_SWEEPS
from neardup.settings import SETTINGS

FUNCTIONS = [name for name in nd.__all__ if inspect.isfunction(getattr(nd, name))]
# These take no settings.
OF_TWO = {
    "containment",
    "cosine",
    "hamming",
    "inclusion",
    "jaccard",
    "keyed",
    "sample",
    "spans",
    "weighted_jaccard",
}
# Defaults that differ from the table of settings, with the reason.
OTHER_DEFAULTS = {
    ("exact_pairs", "threshold"): 0.8,  # no other argument changes it
    ("find_pairs", "memory"): None,  # no limit
    ("idf", "features"): "word:1",  # counts words by default
    ("passages", "threshold"): 0.9,  # of passages, which are shorter than documents
    ("tune", "features"): None,  # chosen
    ("tune", "recall"): None,  # depends on the candidates
    ("tune", "cluster"): None,  # chosen
}
# None leaves a setting to the preset, or to an index that exists.
LEFT_OPEN = {"dedup", "sweep", "Index", "MemoryIndex"}
CLASSES = ["Index", "MemoryIndex", "Client", "AsyncClient"]  # those that users make


def imports_for_type_checkers():
    """Name and module of the imports for type checkers in `__init__.py`."""
    tree = ast.parse(Path(nd.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    assert len(imports) == len(block.body)
    found = [(node.module, alias) for node in imports for alias in node.names]
    # Under --strict, only a name imported as itself is exported.
    assert [alias.asname for _, alias in found] == [alias.name for _, alias in found]
    return {alias.name: home for home, alias in found}


def test_both_lists_of_public_names_agree():
    assert imports_for_type_checkers() == nd._HOMES
    assert nd.__all__ == sorted(nd._HOMES)
    assert set(dir(nd)) == {*nd.__all__, "__version__"}


@pytest.mark.parametrize("name", nd.__all__)
def test_every_public_name_is_documented(name):
    assert (getattr(nd, name).__doc__ or "").strip()


def parameters(name):
    return [
        parameter
        for parameter in inspect.signature(getattr(nd, name)).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_POSITIONAL
    ]


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_every_argument_is_documented_and_typed(name):
    found = parameters(name)
    assert all(parameter.annotation is not parameter.empty for parameter in found)
    assert not any(parameter.kind is parameter.VAR_KEYWORD for parameter in found)
    documentation = inspect.getdoc(getattr(nd, name))
    assert ">>> " in documentation
    if len(found) > 3:
        arguments = documentation.partition("\nArgs:\n")[2].partition("\n\n")[0]
        documented = re.findall(r"^    (\w+): ", arguments, re.MULTILINE)
        assert documented == [parameter.name for parameter in found]


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_defaults_are_those_of_the_table(name):
    for parameter in parameters(name):
        setting = SETTINGS.get(parameter.name)
        if setting is None or parameter.default is parameter.empty:
            continue
        if (name, parameter.name) in OTHER_DEFAULTS:
            assert parameter.default == OTHER_DEFAULTS[name, parameter.name]
        elif name in LEFT_OPEN and parameter.default is None:
            about = inspect.getdoc(getattr(nd, name)).replace("\n        ", " ")
            line = re.search(rf"^    {parameter.name}: (.*)$", about, re.MULTILINE)[1]
            if setting.default is not None:
                assert f"Default: {setting.default}." in line
        else:
            assert parameter.default == setting.default


def test_the_functions_have_all_settings():
    assert set(SETTINGS) <= {parameter.name for parameter in parameters("dedup")}
    tuned = {parameter.name for parameter in parameters("tune")}
    assert set(SETTINGS) - {"model"} <= tuned  # a model is fitted to labels, not tuned
    swept = {parameter.name for parameter in parameters("sweep")}
    assert {*OF_SWEEPS, "bits", "threshold"} <= swept
    assert not swept & (set(SETTINGS) - {*OF_SWEEPS, "bits", "threshold"})
    recipe = inspect.signature(Scheme.of).parameters
    assert all(
        parameter.default == SETTINGS[name].default
        for name, parameter in recipe.items()
        if name in SETTINGS
    )


@pytest.mark.parametrize("name", [*sorted(set(FUNCTIONS) - OF_TWO), *CLASSES])
def test_a_misspelt_argument_is_refused_with_a_suggestion(name):
    right = max((parameter.name for parameter in parameters(name)), key=len)
    wrong = right.replace(right[2], "", 1)
    about = f"unknown setting '{wrong}'; did you mean '{right}'"
    with pytest.raises(nd.SettingError, match=about):
        getattr(nd, name)([], **{wrong: 1})


def test_the_misspelt_threshold():
    with pytest.raises(nd.SettingError) as caught:
        nd.dedup([], treshold=0.8)  # type: ignore[call-arg]
    assert str(caught.value) == "unknown setting 'treshold'; did you mean 'threshold'?"


SNIPPET = """
from typing import Any

import neardup as nd
from neardup import dedup

texts = ["one two three"]
stored: dict[str, Any] = {"threshold": 0.8}
result: nd.Result = nd.dedup(texts, threshold=0.8, **stored)
dedup(texts, preset="caim", cluster="star", similarity="cosine", memory=10**9)
nd.dedup(texts, **nd.tune(texts).settings)
nd.sweep(texts, bands=[2, 3], band_bits=8, threshold=[0.5, 0.6])
reveal_type(nd.dedup(texts).summary)
nd.dedup(texts, treshold=0.8)  # refused
nd.tune(texts, bits="64")  # refused
nd.sweep(texts, keep="first")  # refused
nd.dedup(texts, pairs="some")  # refused
nd.detup(texts)  # refused
"""


def test_type_checkers_see_the_signatures(tmp_path, monkeypatch):
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    path = tmp_path / "snippet.py"
    path.write_text(SNIPPET, encoding="utf-8")
    # With the settings and the cache of `make lint`, because checking all of neardup is slow.
    monkeypatch.chdir(Path(__file__).parents[1])
    told, complaints, _ = api.run(["--strict", "--no-error-summary", str(path)])
    assert not complaints
    lines = SNIPPET.splitlines()
    refused = [place for place, line in enumerate(lines, 1) if line.endswith("# refused")]
    found = [int(line.split(":")[1]) for line in told.splitlines() if ": error:" in line]
    assert found == refused, told
    assert 'Unexpected keyword argument "treshold" for "dedup"; did you mean "threshold"?' in told
    assert 'Revealed type is "dict[str, Any]"' in told.replace("builtins.", "")


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
        nd.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def test_importing_is_light():
    code = (
        "import sys, neardup\n"
        "heavy = {'numpy', 'pyarrow', 'lmdb', 'rich', 'click', 'httpx'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
