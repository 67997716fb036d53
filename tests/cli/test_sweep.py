import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from neardup.cli.app import main

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"
GRID = ("--bands", "2,3", "--band-bits", "8,12")


@pytest.fixture
def run(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["neardup", "sweep", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stopped.value.code, out=out, err=err)

    return run


def test_table_json_and_folder(run, tmp_path):
    out = tmp_path / "out"
    options = (SAMPLE, *GRID, "--plan", "blocks:3", "--threshold", "0.9,0.8", "--exact")
    shown = run(*options, "--top", 2, "-o", out)
    assert shown.code == 0, shown.err
    assert "pairs reach it; recall is the share found of them" in shown.out
    assert "bands:3x12, the most similar pairs" in shown.out
    assert "…" not in shown.out  # wider than the terminal, but not truncated
    assert shown.out.splitlines()[-1] == f"table and plots → {out}"
    stored = json.loads((out / "sweep.json").read_text(encoding="utf-8"))
    told = json.loads(run(*options, "--json").out)
    assert told["threshold"] == stored["threshold"] == [0.9, 0.8]
    assert [row["plan"] for row in told["rows"]][:3] == ["bands:2x8", "bands:3x8", "bands:2x12"]
    assert len(told["rows"]) == 10
    for one, other in zip(told["rows"], stored["rows"], strict=True):
        for name in ("candidates", "true", "false", "recall", "predicted_recall"):
            assert one[name] == other[name]
    again = run(*options, "-o", out)
    assert again.code == 1
    assert "--overwrite" in again.err


def test_features_weights_and_presets_are_taken(run):
    options = ("--features", "char:3", "--weights", "count", "--hash", "md5", "--tie", ">=0")
    told = json.loads(run(SAMPLE, *GRID, *options, "--json").out)
    assert told["scheme"] == "md5/char:3/count/36/>=0"
    assert told["similarity"] == "weighted-jaccard"
    assert told["true_pairs"] is None
    told = json.loads(run(SAMPLE, "--preset", "irrs", "--threshold", 0.7, "--json").out)
    assert [row["plan"] for row in told["rows"]] == ["bands:3x18"]
    assert told["threshold"] == 0.7


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--bands", "2,x", "--band-bits", "8"), "--bands 2,x must be whole numbers"),
        (("--bands", "2"), "give bands (the number of tables) and band_bits"),
        ((*GRID, "--threshold", "high"), "--threshold high must be numbers"),
        ((), "nothing to sweep"),
        (("--plan", "bands:0x3"), "bands:0x3"),
    ],
)
def test_wrong_usage_is_one_sentence(run, arguments, words):
    result = run(SAMPLE, *arguments)
    assert result.code == 2
    assert words in result.err
    assert len(result.err.splitlines()) == 1


def test_rows_that_cannot_be_read_are_counted(run, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"text": "a b c d"}\nnonsense\n', encoding="utf-8")
    result = run(tmp_path / "bad.jsonl", *GRID)
    assert result.code == 0
    assert "1 row could not be read" in result.err
