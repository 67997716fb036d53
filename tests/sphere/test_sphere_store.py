"""Saved spheres are read back unchanged, or refused."""

import zipfile

import numpy as np
import pytest

from neardup.errors import InputError, NeardupError
from neardup.sphere import Sphere, spread


@pytest.fixture(scope="module")
def sphere():
    return spread(3, 6, seed=4)


@pytest.fixture
def saved(sphere, tmp_path):
    path = tmp_path / "six.npz"
    sphere.save(path)
    return path


def test_there_and_back(sphere, saved):
    back = Sphere.load(saved)
    for name in ("vectors", "energies", "exponents", "angles"):
        assert getattr(back, name).tobytes() == getattr(sphere, name).tobytes()
    for name in ("dimension", "count", "seed", "attempts", "converged", "displacement"):
        assert getattr(back, name) == getattr(sphere, name)
    assert back.content_hash == sphere.content_hash
    assert not back.vectors.flags.writeable


def test_numpy_reads_the_vectors(sphere, saved):
    assert (np.load(saved)["vectors"] == sphere.vectors).all()


def test_the_same_sphere_has_the_same_bytes(sphere, saved, tmp_path):
    sphere.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == saved.read_bytes()


def test_every_damaged_byte_of_the_vectors_is_found(sphere, saved):
    good = saved.read_bytes()
    start = good.index(sphere.vectors.tobytes())
    for place in range(start, start + sphere.vectors.nbytes, 11):
        saved.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        with pytest.raises(InputError, match="damaged"):
            Sphere.load(saved)


@pytest.mark.parametrize("kept", [0, 1, 100, 700, -1])
def test_cut_files_are_refused(saved, kept):
    saved.write_bytes(saved.read_bytes()[:kept])
    with pytest.raises(InputError, match="damaged"):
        Sphere.load(saved)


def rewritten(path, **members):
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    content.update({name.replace("_", "."): data for name, data in members.items()})
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            if data is not None:
                archive.writestr(name, data)


def test_vectors_that_are_not_the_saved_ones(saved, sphere, tmp_path):
    spread(3, 6, seed=5).save(tmp_path / "other.npz")
    with zipfile.ZipFile(tmp_path / "other.npz") as archive:
        rewritten(saved, vectors_npy=archive.read("vectors.npy"))
    with pytest.raises(InputError, match="not as they were written"):
        Sphere.load(saved)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"about_json": None}, r"missing .*about\.json"),
        ({"about_json": b"[]"}, "format is None"),
        ({"about_json": b'{"format": "neardup sphere 2"}'}, "neardup sphere 2"),
        ({"about_json": b'{"format": "neardup sphere 1"}'}, "missing .*seed"),
        ({"vectors_npy": None}, r"missing .*vectors\.npy"),
        ({"vectors_npy": b"no array"}, "damaged"),
    ],
)
def test_foreign_files_are_refused(saved, members, said):
    rewritten(saved, **members)
    with pytest.raises(InputError, match=said):
        Sphere.load(saved)


def test_another_npz_is_refused(tmp_path):
    np.savez(tmp_path / "mine.npz", vectors=np.eye(3))
    with pytest.raises(InputError, match="is not a sphere"):
        Sphere.load(tmp_path / "mine.npz")


def test_a_pickle_is_never_opened(saved, tmp_path):
    np.save(tmp_path / "objects.npy", np.array([print], dtype=object), allow_pickle=True)
    rewritten(saved, vectors_npy=(tmp_path / "objects.npy").read_bytes())
    with pytest.raises(InputError, match="damaged"):
        Sphere.load(saved)


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        Sphere.load(tmp_path / "none.npz")


def test_a_folder_that_is_not_there(sphere, tmp_path):
    with pytest.raises(NeardupError, match="cannot write"):
        sphere.save(tmp_path / "none" / "six.npz")
