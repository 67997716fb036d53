import csv
import json
from dataclasses import replace

import pytest

import neardup as nd
from neardup.errors import NeardupError
from neardup.lab.sweep.plots import draw_sweep, pareto_front
from neardup.lab.sweep.result import Sweep, SweepRow

PICTURES = ("effect-of-k", "effect-of-m", "precision-recall", "time-recall")


def row(bands, band_bits, recall, alone, **more):
    """A row with these values, the others of no importance."""
    values = {
        "plan": f"bands:{bands}x{band_bits}",
        "bands": bands,
        "band_bits": band_bits,
        "bits": bands * band_bits,
        "threshold": 0.8,
        "candidates": 10**6 // band_bits**2,
        "true": 10,
        "false": 10**6 // band_bits**2 - 10,
        "precision": 0.1 * bands,
        "recall": recall,
        "seconds": {"fingerprint": 0.1, "candidates": 0.2, "verify": 0.3, "alone": alone},
        "predicted_candidates": 5e5 / band_bits**2,
        "predicted_recall": 0.5,
    }
    return SweepRow(**{**values, **more})


def table(*rows, thresholds=(0.8,)):
    return Sweep(1000, 1, 0, "nd1/word:3/set/64", "jaccard", thresholds, (40,), {}, rows)


GRID = table(*(row(m, k, 0.3 + 0.1 * m - 0.01 * k, m / k) for m in (2, 3) for k in (8, 12)))


def test_pareto_front_has_what_nothing_beats():
    rows = [row(2, 8, 0.9, 5.0), row(2, 9, 0.8, 5.0), row(2, 10, 0.8, 2.0), row(2, 11, 0.95, 9.0)]
    front = pareto_front([*rows, row(3, 8, 0.7, 3.0), row(3, 9, None, 0.1, predicted_recall=None)])
    assert [one.recall for one in front] == [0.8, 0.9, 0.95]
    assert front[0].band_bits == 10


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    draw_sweep(GRID, folder)
    return folder


def test_pictures_are_the_same_bytes_each_time(pictures, tmp_path):
    draw_sweep(GRID, tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(f"{name}.{kind}" for name in PICTURES for kind in ("png", "svg"))
    for name in names:
        assert (pictures / name).read_bytes() == (tmp_path / name).read_bytes(), name


def test_each_threshold_has_pictures_of_its_own(tmp_path):
    rows = [replace(one, threshold=level) for level in (0.9, 0.8) for one in GRID.rows[:2]]
    draw_sweep(table(*rows, thresholds=(0.9, 0.8)), tmp_path)
    assert {path.stem for path in tmp_path.glob("*.svg")} == {
        f"{name}-{level}" for name in PICTURES if name != "effect-of-m" for level in (0.9, 0.8)
    }


def test_without_recall_only_effects_are_drawn(tmp_path):
    rows = [replace(one, recall=None, predicted_recall=None) for one in GRID.rows]
    draw_sweep(table(*rows), tmp_path)
    assert {path.stem for path in tmp_path.glob("*.png")} == {"effect-of-k", "effect-of-m"}
    assert "true pairs" in _texts(tmp_path / "effect-of-k.svg")


def test_axes_are_named_with_their_units(pictures):
    effect = _texts(pictures / "effect-of-k.svg")
    for words in ("K, bits of a table", "candidate pairs", "precision", "recall", "M = 2"):
        assert words in effect
    assert "predicted" in effect
    assert "seconds, if run alone" in effect
    assert "Pareto front" in _texts(pictures / "time-recall.svg")


def _texts(path):
    """Letters are drawn as shapes; each text stands before them as a comment."""
    return path.read_text(encoding="utf-8")


def test_folder_has_json_csv_and_pictures(tmp_path):
    found = nd.sweep(
        ["a b c d", "a b c e", "a b c d"], bands=[1, 2], band_bits=[2, 3], features="word:1", top=1
    )
    found.save(tmp_path / "out")
    stored = json.loads((tmp_path / "out" / "sweep.json").read_text(encoding="utf-8"))
    assert stored == json.loads(json.dumps(found.as_dict()))
    assert {"documents", "threshold", "rows"} <= stored.keys()
    wanted = {"bands", "band_bits", "bits", "candidates", "true", "false", "precision", "recall"}
    assert wanted | {"seconds", "predicted_candidates"} <= stored["rows"][0].keys()
    assert stored["rows"][0]["top"] == [{"a": 0, "b": 2, "similarity": 1.0}]
    with (tmp_path / "out" / "sweep.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [one["plan"] for one in rows] == [one.plan for one in found.rows]
    assert [int(one["candidates"]) for one in rows] == [one.candidates for one in found.rows]
    assert rows[0]["recall"] == ""
    with pytest.raises(NeardupError, match="is there already"):
        found.save(tmp_path / "out")


def test_table_shows_what_there_is():
    text = str(GRID)
    lines = text.splitlines()
    assert lines[0] == "1,000 documents (1 empty), nd1/word:3/set/64"
    assert lines[2] == "jaccard ≥ 0.8; 40 pairs reach it; recall is the share found of them"
    assert lines[4].split()[:4] == ["M", "K", "bits", "candidates"]
    assert "…" not in text
    assert "plan" not in text
    other = replace(GRID.rows[0], plan="rotate:4", bands=None, band_bits=None)
    assert "rotate:4" in str(table(*GRID.rows, other))
