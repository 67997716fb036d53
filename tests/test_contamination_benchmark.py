"""The benchmark of contamination at a tiny size: what it plants is found."""

from benchmarks import contamination
from benchmarks.result import Result


def test_planted_items_are_found_in_every_disguise(tmp_path):
    size = ["--megabytes", "0.3", "--items", "60", "--planted", "5", "--rounds", "1"]
    contamination.main([*size, "--out", str(tmp_path)])
    result = Result.load(contamination.BENCHMARK, tmp_path)
    ours = [row for row in result.rows if row["task"] == "recall" and row["name"] == "neardup"]
    assert [row["recall"] for row in ours] == [1.0] * len(contamination.DISGUISES)
    raw = result.row(task="recall", name=contamination.RAW, disguise="in capitals")
    assert raw["recall"] == 0
    assert "| **neardup** |" in contamination.section(result)
    assert [target.met for target in contamination.targets(result)][1:] == [True, True]
