"""Runs of both engines, opened again: the explorer and a new threshold see the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.distributed.both_engines import run_distributed, run_local
from tests.distributed.planted import columns, planted, write_jsonl, write_parquet

import neardup as nd
from neardup.distributed.run import Sizes
from neardup.errors import InputError
from neardup.runs.run import Run, open_run
from neardup.runs.views import ClusterQuery

ROWS = planted(300, seed=5)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("inputs")
    made = {"new": folder / "new.parquet", "old": folder / "old.jsonl"}
    write_parquet(made["new"], columns(ROWS, "text", "quality", id=lambda number: f"d{number}"))
    write_jsonl(made["old"], columns(ROWS[40:90], "text", id=lambda number: f"old{number}"))
    return made


def what_it_shows(run: Run) -> list[object]:
    page = run.clusters(ClusterQuery())
    places = range(len(ROWS))
    return [
        page,
        [run.members(cluster.number) for cluster in page.rows],
        [run.document(place) for place in places],
        run.texts(places),
        [run.row(place) for place in places],
        [run.neighbours(place) for place in places],
        run.threshold_table(),
        run.queue(count=50),
        run.matrix(),
    ]


@pytest.mark.parametrize(
    ("format", "keep", "compared"),
    [
        ("parquet", "longest", "alone"),
        ("parquet", "max:quality", "against"),
        ("jsonl", "max:quality", "alone"),
        ("jsonl", "longest", "against"),
        ("csv", "first", "alone"),
    ],
)
def test_the_explorer_shows_the_same_of_both_engines(inputs, tmp_path, format, keep, compared):
    settings = {"threshold": 0.6, "keep": keep, "pairs": "all", "format": format}
    if compared == "against":
        settings |= {"against": inputs["old"], "within": True}
    run_local(inputs["new"], tmp_path / "local", **settings)
    run_distributed(inputs["new"], tmp_path / "spark", sizes=Sizes(split_bytes=2000), **settings)
    assert len(list((tmp_path / "spark" / f"kept.{format}").iterdir())) > 3
    local, other = open_run(tmp_path / "local"), open_run(tmp_path / "spark")
    try:
        for expected, found in zip(what_it_shows(local), what_it_shows(other), strict=True):
            assert found == expected
    finally:
        local.close()
        other.close()
    stricter = [nd.Result.load(tmp_path / name).rethreshold(0.8) for name in ("local", "spark")]
    assert stricter[1].clusters.equals(stricter[0].clusters)


def test_csv_does_not_tell_the_keep_order_of_a_column(inputs, tmp_path):
    run_distributed(inputs["new"], tmp_path / "out", keep="max:quality", format="csv")
    with pytest.raises(InputError, match="keep=max:quality prefers: CSV has texts only"):
        nd.Result.load(tmp_path / "out")
