"""Spheres are computed once, and a damaged cache is never an error."""

import os
import sys
import warnings
from pathlib import Path

import pytest

from neardup.sphere import Sphere, cache_folder, projection, sphere_vectors
from neardup.sphere.spread import spread


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NEARDUP_CACHE", str(tmp_path / "cache"))
    projection._kept.cache_clear()
    yield tmp_path / "cache"
    projection._kept.cache_clear()


@pytest.fixture
def computed(monkeypatch):
    """The spheres that were computed, not read from the cache."""
    calls = []

    def counting(*size):
        calls.append(size)
        return spread(*size)

    monkeypatch.setattr(projection, "spread", counting)
    return calls


def next_process():
    projection._kept.cache_clear()


def test_a_sphere_is_computed_once(folder, computed):
    first = sphere_vectors(3, 4)
    assert sphere_vectors(3, 4) is first
    next_process()
    assert sphere_vectors(3, 4).content_hash == first.content_hash
    assert computed == [(3, 4, 0)]
    assert Sphere.load(folder / "sphere-3x4-0.npz").content_hash == first.content_hash


def test_dimension_count_and_seed_are_kept_apart(folder, computed):
    digests = {sphere_vectors(*size).content_hash for size in [(3, 4), (4, 3), (3, 5), (3, 4, 1)]}
    assert len(digests) == len(computed) == 4
    assert len(os.listdir(folder)) == 4


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 nothing", None])
def test_a_damaged_file_is_computed_again(folder, computed, damage):
    wanted = sphere_vectors(3, 4).content_hash
    path = folder / "sphere-3x4-0.npz"
    path.write_bytes(damage if damage is not None else path.read_bytes()[:-30])
    next_process()
    with pytest.warns(UserWarning, match="computed again"):
        assert sphere_vectors(3, 4).content_hash == wanted
    assert len(computed) == 2
    assert Sphere.load(path).content_hash == wanted


def test_another_sphere_under_the_name_is_computed_again(folder, computed):
    sphere_vectors(3, 5)
    os.rename(folder / "sphere-3x5-0.npz", folder / "sphere-3x4-0.npz")
    with pytest.warns(UserWarning, match="holds the sphere 3x5"):
        assert sphere_vectors(3, 4).count == 4


def test_a_folder_that_cannot_be_written_is_told_once(folder, computed):
    folder.write_text("a file where the folder should be")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert sphere_vectors(3, 4).count == 4
        assert sphere_vectors(3, 4).count == 4
    assert [str(warning.message).count("NEARDUP_CACHE") for warning in told] == [1]
    assert computed == [(3, 4, 0)]


def test_where_the_cache_is(monkeypatch, tmp_path):
    for name in ("NEARDUP_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_folder() == tmp_path / ".cache" / "neardup"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == tmp_path / ".cache" / "neardup"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "neardup"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == tmp_path / "Library" / "Caches" / "neardup"
    monkeypatch.setattr(sys, "platform", "win32")
    assert cache_folder() == tmp_path / "AppData" / "Local" / "neardup" / "cache"
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache_folder() == tmp_path / "local" / "neardup" / "cache"
    monkeypatch.setenv("NEARDUP_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
