import json
import sys

import pyarrow.parquet as pq
import pytest
from tests.deduplication.planted import planted_texts

import neardup as nd
from neardup.cli.app import main

TEXTS = planted_texts(120, changed=2)


@pytest.fixture
def run(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["neardup", "rethreshold", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return stopped.value.code, out, err

    return run


@pytest.mark.parametrize("threshold", [0.6, 0.95])
def test_it_equals_a_new_run(run, tmp_path, threshold):
    nd.dedup(TEXTS, floor=0.5).save(tmp_path / "out")
    code, out, err = run(tmp_path / "out", threshold, "-o", tmp_path / "again")
    assert code == 0, err
    expected = nd.dedup(TEXTS, threshold=threshold)
    removed = expected.summary["removed"]
    assert f"jaccard ≥ {threshold:g}: {removed:,} removed" in out
    assert pq.read_table(tmp_path / "again" / "clusters.parquet").equals(expected.clusters)
    assert pq.read_table(tmp_path / "again" / "kept.parquet").equals(expected.kept)
    summary = json.loads((tmp_path / "again" / "summary.json").read_text())
    assert summary["settings"]["threshold"] == threshold
    assert summary["command"].startswith("neardup rethreshold ")


def test_json_and_format(run, tmp_path):
    nd.dedup(TEXTS, pairs="all").save(tmp_path / "out", format="jsonl")
    code, out, _ = run(tmp_path / "out", 0.9, "-o", tmp_path / "again", "--json")
    assert code == 0
    assert json.loads(out)["format"] == "jsonl"
    assert (tmp_path / "again" / "kept.jsonl").exists()


@pytest.mark.parametrize(
    ("threshold", "said"),
    [("0.4", "nor at least its floor"), ("nan", "nor at least its floor"), ("x", "not a valid")],
)
def test_a_threshold_that_is_not_known(run, tmp_path, threshold, said):
    nd.dedup(TEXTS, floor=0.5).save(tmp_path / "out")
    code, _, err = run(tmp_path / "out", threshold, "-o", tmp_path / "again")
    assert code in (1, 2)
    assert said in err
    assert not (tmp_path / "again").exists()


def test_evidence_is_not_enough(run, tmp_path):
    nd.dedup(TEXTS).save(tmp_path / "out")
    code, _, err = run(tmp_path / "out", 0.9, "-o", tmp_path / "again")
    assert code == 2
    assert "needs all pairs" in err


def test_the_run_itself_is_never_replaced(run, tmp_path):
    nd.dedup(TEXTS, pairs="all").save(tmp_path / "out")
    code, _, err = run(tmp_path / "out", 0.9, "-o", tmp_path / "out", "--overwrite")
    assert code == 1
    assert "also an input" in err
    nd.Result.load(tmp_path / "out")
