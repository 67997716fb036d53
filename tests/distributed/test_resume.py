"""A run that was stopped goes on where it was, or says in a sentence why it cannot."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.distributed.both_engines import assert_same_output, run_distributed, run_local
from tests.distributed.planted import columns, planted, write_jsonl

from neardup.distributed.run import Sizes
from neardup.engines.exchange import InProcess, Tasks
from neardup.errors import NeardupError

ROWS = columns(planted(60), "text", "quality", id=int)
# With stages for giant components, and for links in rounds.
SIZES = Sizes(split_bytes=1 << 11, bin_features=100, giant_features=50, most_nodes=10)
SETTINGS = {"weights": "tfidf", "threshold": 0.6, "keep": "max:quality"}


class Recording(InProcess):
    """Notes the stages that it runs."""

    def __init__(self):
        super().__init__()
        self.names: list[str] = []

    def run(self, name, job):
        self.names.append(name)
        return super().run(name, job)


class Stopping(Recording):
    """Fails in one stage, in the last task of one of its steps."""

    def __init__(self, name, step):
        super().__init__()
        self._name, self._step = name, step

    def run(self, name, job):
        if name == self._name:
            job = list(job)
            broken = job[self._step]

            def fail(number, messages):
                if number == broken.count - 1:
                    raise NeardupError("the power is gone")
                return broken.step(number, messages)

            job[self._step] = Tasks(fail, broken.count)
        return super().run(name, job)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """An input, the output of an undisturbed run, and the names of its stages."""
    folder = tmp_path_factory.mktemp("undisturbed")
    path = write_jsonl(folder / "a.jsonl", ROWS)
    run_local(path, folder / "local", **SETTINGS)
    engine = Recording()
    run_distributed(path, folder / "out", engine=engine, sizes=SIZES, **SETTINGS)
    assert_same_output(folder / "local", folder / "out")
    return path, folder / "local", engine.names


def stopped(path, folder, name, step=-1, **more):
    """A run that was stopped in a stage; its work folder."""
    engine, given = Stopping(name, step), {**SETTINGS, **more}
    with pytest.raises(NeardupError, match="the power is gone"):
        run_distributed(
            path,
            folder / "out",
            engine=engine,
            sizes=SIZES,
            work=folder / "work",
            resume=True,
            **given,
        )
    assert not (folder / "out").exists()
    assert [one.name for one in folder.iterdir() if one.name != "work"] == []
    return engine.names


def resumed(path, folder, engine=None, **more):
    return run_distributed(
        path,
        folder / "out",
        engine=engine,
        sizes=SIZES,
        work=folder / "work",
        resume=True,
        **{**SETTINGS, **more},
    )


def test_a_run_has_several_stages(prepared):
    assert len(set(prepared[2])) >= 5


def test_a_run_that_was_stopped_in_any_stage_goes_on_there(prepared, tmp_path):
    path, local, names = prepared
    for number, name in enumerate(names):
        folder = tmp_path / str(number)
        folder.mkdir()
        step = 0 if number % 2 else -1  # the first or the last of a stage
        assert stopped(path, folder, name, step) == names[: number + 1]
        engine = Recording()
        outcome = resumed(path, folder, engine)
        assert engine.names == names[number:]
        assert outcome.summary["resumed"] == names[:number]
        assert_same_output(local, folder / "out")


def test_a_run_may_be_stopped_in_every_stage(prepared, tmp_path):
    path, local, names = prepared
    for number, name in enumerate(names):
        assert stopped(path, tmp_path, name) == names[max(0, number - 1) : number + 1]
    engine = Recording()
    resumed(path, tmp_path, engine)
    assert engine.names == names[-1:]
    assert_same_output(local, tmp_path / "out")


def test_the_division_is_that_of_the_run_that_was_stopped(prepared, tmp_path):
    path, local, _ = prepared
    stopped(path, tmp_path, "decisions")
    outcome = run_distributed(
        path, tmp_path / "out", work=tmp_path / "work", resume=True, **SETTINGS
    )
    assert outcome.summary["engine"]["splits"] > 1
    assert_same_output(local, tmp_path / "out")


def test_other_settings_are_refused(prepared, tmp_path):
    path, local, _ = prepared
    stopped(path, tmp_path, "decisions")
    with pytest.raises(NeardupError, match="stages of a run with other settings; resume that"):
        resumed(path, tmp_path, threshold=0.7)
    assert not (tmp_path / "out").exists()
    with pytest.raises(NeardupError, match="with other"):
        resumed(path, tmp_path, against=path, within=False)
    resumed(path, tmp_path)  # the stages are still there
    assert_same_output(local, tmp_path / "out")


def test_a_changed_input_is_refused(tmp_path):
    source, place = tmp_path / "in", tmp_path / "run"
    source.mkdir()
    place.mkdir()
    path = write_jsonl(source / "a.jsonl", ROWS)
    stopped(path, place, "decisions")
    before = path.stat()
    path.write_text(path.read_text().replace("river", "rover"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert path.stat().st_size == before.st_size
    with pytest.raises(NeardupError, match="stages of a run with other inputs; resume that"):
        resumed(path, place)
    assert not (place / "out").exists()


def test_another_version_is_refused(prepared, tmp_path, monkeypatch):
    path, _, _ = prepared
    stopped(path, tmp_path, "decisions")
    monkeypatch.setattr("neardup.distributed.run.__version__", "0.0.0")
    with pytest.raises(NeardupError, match="stages of a run with other version; resume that"):
        resumed(path, tmp_path)


def test_without_resume_a_run_begins_again(prepared, tmp_path):
    path, _, names = prepared
    stopped(path, tmp_path, "decisions")
    engine = Recording()
    run_local(path, tmp_path / "local", **{**SETTINGS, "threshold": 0.7})
    outcome = run_distributed(
        path,
        tmp_path / "out",
        engine=engine,
        sizes=SIZES,
        work=tmp_path / "work",
        **{**SETTINGS, "threshold": 0.7},
    )
    assert outcome.summary["resumed"] == []
    assert engine.names[0] == names[0]
    assert_same_output(tmp_path / "local", tmp_path / "out")


def test_resume_without_a_run_before_is_a_run(prepared, tmp_path):
    path, local, names = prepared
    engine = Recording()
    assert resumed(path, tmp_path, engine).summary["resumed"] == []
    assert engine.names == names
    assert_same_output(local, tmp_path / "out")


def flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def emptied(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("harm", [flipped, cut_short, emptied])
def test_a_damaged_file_is_refused(prepared, tmp_path, harm):
    path, _, _ = prepared
    stopped(path, tmp_path, "output", 0)
    work = tmp_path / "work"
    files = [one for one in work.rglob("*") if one.is_file()]
    assert not [one.name for one in files if one.suffix == ".new"]
    # What the last stage reads, and what says that earlier stages are complete.
    needed = [work / "plan.json", *(work / "done").iterdir(), *(work / "outcomes").iterdir()]
    for file in needed:
        whole = file.read_bytes()
        harm(file)
        with pytest.raises(NeardupError, match="is damaged; delete the work folder, and run again"):
            resumed(path, tmp_path)
        assert not (tmp_path / "out").exists()
        file.write_bytes(whole)
    resumed(path, tmp_path)


def test_a_missing_file_is_refused(prepared, tmp_path):
    path, _, _ = prepared
    stopped(path, tmp_path, "output", 0)
    next((tmp_path / "work" / "outcomes").iterdir()).unlink()
    with pytest.raises(NeardupError, match=r"cannot read .*No such file"):
        resumed(path, tmp_path)


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_of_others_is_refused_and_left_as_it_is(prepared, tmp_path, resume):
    path, _, _ = prepared
    mine = tmp_path / "work" / "mine.txt"
    mine.parent.mkdir()
    mine.write_text("do not delete")
    with pytest.raises(NeardupError, match="not a work folder of neardup, and not empty; name"):
        run_distributed(path, tmp_path / "out", work=tmp_path / "work", resume=resume, **SETTINGS)
    assert mine.read_text() == "do not delete"
    assert os.listdir(mine.parent) == ["mine.txt"]


def test_a_plan_of_others_is_refused_and_left_as_it_is(prepared, tmp_path):
    path, _, _ = prepared
    mine = tmp_path / "work" / "plan.json"
    mine.parent.mkdir()
    mine.write_text(json.dumps({"holidays": ["sea", "mountains"]}))
    (mine.parent / "budget.txt").write_text("do not delete")
    with pytest.raises(NeardupError):
        run_distributed(path, tmp_path / "out", work=tmp_path / "work", **SETTINGS)
    assert sorted(os.listdir(mine.parent)) == ["budget.txt", "plan.json"]


def test_a_work_folder_that_cannot_be_written_is_a_sentence(prepared, tmp_path):
    path, _, _ = prepared
    (tmp_path / "file").write_text("")
    with pytest.raises(NeardupError, match=r"cannot write .*Not a directory"):
        run_distributed(
            path, tmp_path / "out", work=tmp_path / "file" / "work", resume=True, **SETTINGS
        )
