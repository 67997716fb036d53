import json
import sys
from types import SimpleNamespace

import pytest

from neardup.cli.app import main
from neardup.pairs.by_fingerprints import choose, plan_of


@pytest.fixture
def run(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["neardup", "plan", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stopped.value.code, out=out, err=err)

    return run


def test_alternatives_choice_and_promises_in_80_columns(run):
    result = run("--n", "1e7", "--max-distance", 6, "--bits", 64, "--similarity", 0.9)
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert lines[0] == "10,000,000 fingerprints of 64 bits, pairs within 6; one thread"
    heading = ["plan", "tables", "guarantee", "candidates", "memory", "seconds", "found"]
    assert lines[2].split() == heading
    for name in ("blocks:6", "all", "bands:4x16", "rotate:16:4", "prefix:16", "length:0.2"):
        assert any(line.startswith(name) for line in lines[3:])
    assert f"auto takes {choose(10**7, 6, 64).plan}: complete to distance 6" in result.out
    assert "neighbours crowd each other out" in " ".join(result.out.split())
    assert max(map(len, lines)) <= 80
    assert "…" not in result.out


def test_json_is_what_the_plans_say(run):
    found = json.loads(run("bands:3x18", "--n", 58102, "--similarity", 0.9, "--json").out)
    assert (found["n"], found["bits"], found["max_distance"]) == (58102, 64, 3)
    assert found["choice"] == found["plans"][0]["plan"]
    (bands,) = [row for row in found["plans"] if row["plan"] == "bands:3x18"]
    plan = plan_of("bands:3x18", 64)
    assert bands["recall"] == plan.recall(0.9)
    assert bands["expected_candidates"] == plan.expected_candidates(58102)
    assert (bands["tables"], bands["guarantee"]) == (3, 2)


@pytest.mark.parametrize("bits", [1, 7, 65, 4096])
def test_every_width_has_alternatives(run, bits):
    found = json.loads(run("--bits", bits, "--json").out)
    assert found["plans"][0]["guarantee"] >= min(3, bits)


def test_a_named_plan_is_not_listed_twice(run):
    found = json.loads(run("blocks:3", "all", "--json").out)
    names = [row["plan"] for row in found["plans"]]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--n", "many"], "--n many must be a whole number"),
        (["--n", "nan"], "--n nan must be a whole number"),
        (["--n", "1.5"], "--n 1.5 must be"),
        (["--n", "1e12"], "below 2^32"),
        (["--bits", "0"], "bits=0"),
        (["--max-distance", "-1"], "--max-distance"),
        (["--similarity", "2"], "must be a cosine"),
        (["bands:3x30"], "needs 90 bits, but these fingerprints have 64"),
    ],
)
def test_wrong_usage(run, arguments, message):
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
