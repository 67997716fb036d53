"""The runs that a worker has open for its pages."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.service.exploring import ROWS

import neardup as nd
from neardup.runs import open_run
from neardup.service.data_root import DataRoot
from neardup.service.explore import open_runs


@pytest.fixture
def saved(tmp_path: Path) -> tuple[DataRoot, list[str]]:
    """A data folder with the results of ten jobs."""
    rows = [dict(row) for row in ROWS]
    ids = [f"20260101-00000{number}-000000-0123456789abcdef" for number in range(10)]
    for id in ids:
        (tmp_path / "jobs" / id).mkdir(parents=True)
        nd.dedup(rows, threshold=0.6).save(tmp_path / "jobs" / id / "result")
    return DataRoot(tmp_path), ids


def test_few_runs_are_kept_open(saved):
    root, ids = saved

    async def look() -> None:
        runs = open_runs.OpenRuns(root)
        async with runs.using(ids[0]) as first:
            for id in ids[1:]:
                async with runs.using(id) as run:
                    assert run.documents == len(ROWS)
            assert len(runs._open) == open_runs.MOST_OPEN
            assert ids[0] not in runs._open
            assert first.document(0).id == "a"  # still open, because it is in use
        async with runs.using(ids[0]) as again:
            assert again is not first
            assert str(again.path) == f"jobs/{ids[0]}/result"
        async with runs.using(ids[0]) as kept:
            assert kept is again
        runs.close()

    asyncio.run(look())


def test_workers_that_open_one_run_build_its_index_once(saved, monkeypatch):
    root, (id, *_) = saved
    opened: list[Path] = []

    def counted(folder: Path, **options: Any) -> Any:
        opened.append(folder)
        return open_run(folder, **options)

    monkeypatch.setattr(open_runs, "open_run", counted)

    async def look() -> None:
        runs = open_runs.OpenRuns(root)

        async def use() -> None:
            async with runs.using(id) as run:
                assert run.documents == len(ROWS)

        await asyncio.gather(*(use() for _ in range(5)))
        runs.close()

    asyncio.run(look())
    assert len(opened) == 1


def test_a_run_that_takes_long_to_open(saved, monkeypatch):
    root, (id, *_) = saved
    monkeypatch.setattr(open_runs, "_PATIENCE", 0.01)

    async def look() -> None:
        go = Event()

        def slow(folder: Path, *, progress: Any) -> Any:
            progress(1, 4, 1)
            go.wait()
            return open_run(folder)

        monkeypatch.setattr(open_runs, "open_run", slow)
        runs = open_runs.OpenRuns(root)
        shares = []
        while not shares or shares[-1] is None:
            with pytest.raises(open_runs.OpeningError) as told:
                async with runs.using(id):
                    pass
            shares.append(told.value.share)
        assert shares[-1] == 0.25
        go.set()
        monkeypatch.setattr(open_runs, "_PATIENCE", 60)
        async with runs.using(id) as run:
            assert run.documents == len(ROWS)
        runs.close()

    asyncio.run(look())


def test_a_run_that_is_deleted_or_damaged(saved):
    root, (first, second, third, *_) = saved

    async def look() -> None:
        runs = open_runs.OpenRuns(root)
        async with runs.using(first):
            pass
        shutil.rmtree(root.jobs / first)
        runs._look()
        assert not runs._open
        with pytest.raises(open_runs.NoRunError):
            async with runs.using(first):
                pass
        with pytest.raises(open_runs.NoRunError):
            async with runs.using(second) as run:
                shutil.rmtree(root.jobs / second)
                run.cluster(10**9)
        (root.jobs / third / "result" / "summary.json").write_text("{}", encoding="utf-8")
        with pytest.raises(nd.NeardupError, match="summary"):
            async with runs.using(third):
                pass
        with pytest.raises(open_runs.NoRunError):
            async with runs.using("../../etc"):
                pass
        runs.close()

    asyncio.run(look())
