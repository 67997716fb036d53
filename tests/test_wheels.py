"""What is built, what is promised and what is tried are the same systems and versions."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from scripts.wheels.build import FIRST_STABLE
from scripts.wheels.pythons import declared

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = ROOT / ".github" / "workflows"
PAGE = (ROOT / "docs" / "start" / "installation.md").read_text(encoding="utf-8")


def workflow(name: str) -> str:
    return (WORKFLOWS / name).read_text(encoding="utf-8")


def test_every_declared_version_gets_a_wheel_and_is_tried():
    versions = declared()
    assert versions[0] == PROJECT["project"]["requires-python"].removeprefix(">=")
    built = PROJECT["tool"]["cibuildwheel"]["build"]
    assert built == [f"cp{version.replace('.', '')}-*" for version in versions]
    tried = re.search(r"python: \[(.*)\]", workflow("tests.yml"))
    assert re.findall(r'"([\d.]+)"', tried[1]) == versions


def test_the_stable_abi_begins_where_the_page_and_the_script_say():
    assert PROJECT["tool"]["scikit-build"][["wheel", "py-api"][0]] == {
        **PROJECT["tool"]["scikit-build"]["wheel"],
        "py-api": f"cp3{FIRST_STABLE}",
    }
    assert f"The wheel for Python 3.{FIRST_STABLE} uses Python's stable ABI" in PAGE
    assert "Development.SABIModule" in (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("system", ["manylinux", "musllinux"])
def test_the_page_names_the_images_of_linux(system):
    images = {
        image
        for name, image in PROJECT["tool"]["cibuildwheel"].items()
        if name.startswith(system) and name.endswith("-image")
    }
    assert len(images) == 1
    assert f"`{images.pop()}`" in PAGE


def test_the_page_names_the_oldest_macos():
    environment = PROJECT["tool"]["cibuildwheel"]["macos"]["environment"]
    oldest = environment["MACOSX_DEPLOYMENT_TARGET"].removesuffix(".0")
    assert f"| macOS {oldest} or later | ARM64, x86-64 |" in PAGE


def test_every_system_of_the_page_has_a_machine_that_builds_for_it():
    machines = re.findall(
        r"^          - ((?:ubuntu|macos|windows)\S+)", workflow("wheels.yml"), re.M
    )
    kinds = {(name.split("-")[0], "-arm" in name or name == "macos-15") for name in machines}
    assert kinds == {
        ("ubuntu", False),
        ("ubuntu", True),
        ("macos", False),
        ("macos", True),
        ("windows", False),
    }


def test_a_release_is_published_without_a_token():
    text = workflow("wheels.yml")
    assert "id-token: write" in text
    assert "secrets." not in text
    assert "password" not in text
    assert text.count("permissions:") == 2
    assert "startsWith(github.ref, 'refs/tags/v')" in text


@pytest.mark.parametrize("path", sorted(WORKFLOWS.glob("*.yml")), ids=lambda path: path.name)
def test_the_scripts_and_folders_that_a_workflow_runs_exist(path):
    text = path.read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w/.])(?:tests|scripts|examples|\.ci)/[\w./-]+", text))
    assert named
    assert not {name for name in named if not (ROOT / name).exists()}
