import json
import sys
from types import SimpleNamespace

import pytest

from neardup.cli.app import main
from neardup.pairs.by_fingerprints import plan_of


@pytest.fixture
def run(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["neardup", "curve", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stopped.value.code, out=out, err=err)

    return run


def test_curves_in_the_terminal_and_as_a_picture(run, tmp_path):
    picture = tmp_path / "curve.svg"
    plans = ("--plan", "bands:20x16", "--plan", "blocks:3", "--bits", 320)
    result = run(*plans, "--threshold", 0.8, "-o", picture)
    assert result.code == 0, result.err
    assert "  ● bands:20x16\n  ○ blocks:3\n  ┊ threshold 0.8\n" in result.out
    recall = plan_of("bands:20x16", 320).recall(0.8)
    assert f"{recall:.4f} at 0.8" in result.out
    assert picture.read_text(encoding="utf-8").startswith("<?xml")


def test_points_as_json(run):
    told = json.loads(run("--plan", "bands:4x8", "--similarity", "jaccard", "--json").out)
    (curve,) = told["curves"]
    assert (curve["plan"], curve["bits"], curve["at_threshold"]) == ("bands:4x8", 32, None)
    assert curve["points"][0][0] == 0
    assert curve["points"][-1] == [1.0, 1.0]
    assert curve["points"][160][1] == pytest.approx(plan_of("bands:4x8", 32).recall(1.6 / 1.8))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--plan", "bands:20x16", "--bits", 64), "needs 320 bits"),
        (("--plan", "length:0.2"), "has no curve by similarity"),
        (("--plan", "bands:2x8", "--similarity", "hamming"), "hamming has no curve"),
        (("--plan", "bands:2x8", "-o", "curve.gif"), "curve.gif is not a picture"),
    ],
)
def test_wrong_usage_is_one_sentence(run, arguments, words):
    result = run(*arguments)
    assert result.code == 2
    assert words in result.err
