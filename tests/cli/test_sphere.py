"""`neardup sphere` as a process."""

import json

import pytest
from tests.cli.forked import neardup

from neardup.sphere import Sphere


def sphere(*arguments):
    return neardup("sphere", *arguments)


def test_it_shows_the_charges_settle():
    done = sphere("--dim", 3, "--count", 6)
    assert done.returncode == 0, done.stderr
    assert "6 lines in 3 dimensions, seed 0" in done.stdout
    assert "energy above rest" in done.stdout
    assert "█" in done.stdout
    assert "\nconverged: the last step moved" in done.stdout
    assert "smallest angle 63.4349°; the optimum 63.4349°" in done.stdout
    assert done.stderr == ""


def test_where_no_optimum_is_known_it_shows_a_bound():
    done = sphere("--dim", 4, "--count", 9)
    assert "no arrangement exceeds" in done.stdout


def test_json_for_machines():
    done = sphere("--dim", 2, "--count", 5, "--seed", 7, "--json")
    summary = json.loads(done.stdout)
    assert (summary["dimension"], summary["count"], summary["seed"]) == (2, 5, 7)
    assert summary["smallest_angle"] == pytest.approx(36, abs=1e-6)
    assert summary["best_angle"] == 36
    assert summary["converged"] is True
    assert len(summary["energies"]) == len(summary["angles"]) == summary["iterations"]


def test_vectors_and_picture_are_written(tmp_path):
    done = sphere("--dim", 3, "--count", 4, "-o", tmp_path / "v.npz", "--plot", tmp_path / "v.svg")
    assert done.returncode == 0, done.stderr
    assert Sphere.load(tmp_path / "v.npz").content_hash in done.stdout
    assert (tmp_path / "v.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_a_single_line_has_nothing_to_settle():
    done = sphere("--dim", 3, "--count", 1)
    assert done.returncode == 0, done.stderr
    assert "1 line in 3 dimensions" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--dim", "1"], 2, "dimension=1"),
        (["--count", "0"], 2, "count=0"),
        (["--seed", "-1"], 2, "seed=-1"),
        (["--plot", "picture.bmp"], 2, ".png, .svg or .pdf"),
        (["--dim", "2", "--count", "3", "-o", "no/such/folder/v.npz"], 1, "cannot write"),
    ],
)
def test_bad_use_is_one_sentence(arguments, code, said):
    done = sphere(*arguments)
    assert done.returncode == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr
