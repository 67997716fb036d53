"""`dedup --resume`: finished passes are taken over, and the output is that of one run."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.deduplication.planted import planted_texts
from tests.needs_posix import READS_EVERYTHING

from neardup.cli.app import app
from neardup.collection.collected import collect
from neardup.collection.source import FileSource
from neardup.decisions import DecisionFile, Named, content_of
from neardup.deduplication import run as run_module, save as save_module

TIMED = ("seconds", "wall_seconds", "peak_megabytes", "resumed", "command", "started")
# Options, and whether an idf pass comes first.
KINDS = {
    "stars": ((), False),
    "components": (("--cluster", "components", "--pairs", "all"), False),
    "dense": (("--cluster", "dense:0.5", "--pairs", "all"), False),
    "all pairs": (("--pairs", "all", "--floor", "0.5"), False),
    "no pairs": (("--pairs", "none", "--keep", "longest"), False),
    "bands": (("--candidates", "bands:16x4", "--keep", "max:n"), False),
    "tfidf": (("--features", "word:1", "--weights", "tfidf"), True),
    "idf": (("--features", "word:1", "--weights", "idf"), True),
    "hamming": (("--similarity", "hamming", "--threshold", "6"), False),
    "md5": (("--hash", "md5"), False),
    "containment": (("--similarity", "containment", "--keep", "longest"), False),
    "inclusion": (("--similarity", "inclusion", "--keep", "shortest", "--floor", "0.5"), False),
    "against": (("--against", "old.jsonl"), False),
    "within": (("--against", "old.jsonl", "--within", "--keep", "each:2"), False),
    "spilled": (("--memory", "20kB"), False),
    "fields": (("--text", "text:word:1*2 + n:number", "--against", "old.jsonl", "--within"), False),
}


class StopError(Exception):
    """Ends a run as a crash does."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with inputs, which is the current one."""
    monkeypatch.chdir(tmp_path)
    texts = planted_texts(150, seed=5)
    write(tmp_path / "in.jsonl", [*texts, ""])
    with (tmp_path / "in.jsonl").open("a", encoding="utf-8") as file:
        file.write("{broken\n")
    write(tmp_path / "old.jsonl", [*texts[::7], "a text of its own that nothing else has"])
    return tmp_path


def write(path, texts):
    lines = [
        json.dumps({"id": f"{path.stem}-{number}", "text": text, "n": number % 5})
        for number, text in enumerate(texts)
    ]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def neardup(*arguments):
    return CliRunner().invoke(app, ["dedup", "in.jsonl", *map(str, arguments)])


def done(*arguments):
    ran = neardup(*arguments)
    assert ran.exit_code == 0, (ran.output, ran.exception)
    return ran.stderr


def work(output="out"):
    return Path(f".{output}.neardup-work")


def contents(output):
    """The files of an output without times; the page has times, so it only has to be there."""
    found = {path.name: path.read_bytes() for path in Path(output).iterdir()}
    summary = json.loads(found.pop("summary.json"))
    found["report.html"] = b""
    return found, {key: value for key, value in summary.items() if key not in TIMED}


def resumed(output="out"):
    return json.loads(Path(output, "summary.json").read_text(encoding="utf-8"))["resumed"]


def refuse(monkeypatch, *names):
    """Let the passes of these names end the run."""

    def stop(*arguments, **more):
        raise StopError

    places = {
        "idf": [(run_module, "fitted")],
        "features": [(run_module, "collect")],
        "pairs": [(run_module, "find_removals")],
        "all pairs": [(run_module, "find_all_pairs")],
        "output": [(save_module, "write_rows")],
    }
    for name in names:
        for module, function in places[name]:
            monkeypatch.setattr(module, function, stop)


def interrupt(monkeypatch, before, *options):
    """Run until the pass `before`, which fails."""
    with monkeypatch.context() as patch:
        refuse(patch, before)
        ran = neardup("-o", "out", "--resume", *options)
    assert isinstance(ran.exception, StopError)
    assert not Path("out").exists()


STOPS = [
    (kind, before)
    for kind, (_, weighted) in KINDS.items()
    for before in (*(["features"] if weighted else []), "pairs", "output")
]


@pytest.mark.parametrize(("kind", "before"), [*STOPS, ("all pairs", "all pairs")])
def test_an_interrupted_run_goes_on(folder, monkeypatch, kind, before):
    options, weighted = KINDS[kind]
    done("-o", "whole", *options)
    interrupt(monkeypatch, before, *options)
    passes = [*(["idf"] if weighted else []), "features", "pairs", "all pairs", "output"]
    finished = [name for name in passes[: passes.index(before)] if name != "all pairs"]
    with monkeypatch.context() as patch:
        refuse(patch, *finished)
        said = done("-o", "out", "--resume", *options)
    assert [line.split()[1] for line in said.splitlines() if "resuming" in line] == finished
    assert contents("out") == contents("whole")
    assert resumed() == finished
    assert not work().exists()
    assert resumed("whole") == []


def test_a_run_that_is_not_interrupted_leaves_nothing(folder):
    done("-o", "whole")
    assert "resum" not in done("-o", "out", "--resume")
    assert contents("out") == contents("whole")
    assert not [name for name in os.listdir() if name.startswith(".")]


def test_the_input_is_read_for_the_output_only(folder, monkeypatch):
    interrupt(monkeypatch, "output", "--keep", "max:n")
    reads, of_class = [], FileSource.batches

    def counted(self, progress=None):
        reads.append(self)
        return of_class(self, progress)

    monkeypatch.setattr(FileSource, "batches", counted)
    said = done("-o", "out", "--resume", "--keep", "max:n")
    assert reads == []
    assert "resuming: features are done (151 documents, stored " in said
    done("-o", "whole", "--keep", "max:n")
    assert len(reads) == 1


def test_seconds_are_those_of_the_pass(folder, monkeypatch):
    interrupt(monkeypatch, "output")
    marker = json.loads((work() / "features.json").read_text())["content"]
    done("-o", "out", "--resume")
    summary = json.loads(Path("out", "summary.json").read_text())
    assert summary["seconds"]["features"] == round(marker["seconds"]["features"], 3)
    assert list(summary["seconds"]) == ["features", "pairs", "clusters", "output"]


def test_another_threshold_uses_the_features(folder, monkeypatch):
    done("-o", "whole", "--threshold", "0.6")
    interrupt(monkeypatch, "output", "--threshold", "0.8")
    with monkeypatch.context() as patch:
        refuse(patch, "features")
        said = done("-o", "out", "--resume", "--threshold", "0.6", "--memory", "1GB")
    assert "pairs are repeated: threshold was 0.8 and is 0.6 now" in said
    assert resumed() == ["features"]
    kept = [contents(output)[0]["kept.parquet"] for output in ("out", "whole")]
    assert kept[0] == kept[1]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--features", "word:2"), "features was word:3 and is word:2 now"),
        (("--max-document", "1MB"), "max_document was 64000000 and is 1000000 now"),
        (("--text", "text"), "text was not given and is text now"),
        (("--hash", "md5"), "hash was nd1 and is md5 now"),
        (("--against", "old.jsonl"), "the inputs are others than before"),
        (("old.jsonl",), "the inputs are others than before"),
    ],
)
def test_other_settings_or_inputs_begin_anew(folder, monkeypatch, options, reason):
    interrupt(monkeypatch, "pairs")
    assert f"features are repeated: {reason}" in done("-o", "out", "--resume", *options)
    assert resumed() == []
    done("-o", "whole", *options)
    assert contents("out") == contents("whole")


@pytest.mark.parametrize("change", ["text", "time"])
@pytest.mark.parametrize("options", [(), ("--against", "old.jsonl")])
def test_a_changed_input_begins_anew(folder, monkeypatch, change, options):
    interrupt(monkeypatch, "output", *options)
    changed = Path("old.jsonl" if options else "in.jsonl")
    if change == "text":
        with changed.open("a", encoding="utf-8") as file:
            file.write('{"id": "new", "text": "one more document"}\n')
    else:
        os.utime(changed, ns=(0, changed.stat().st_mtime_ns + 1))
    said = done("-o", "out", "--resume", *options)
    assert f"features and pairs are repeated: {changed} has changed" in said
    done("-o", "whole", *options)
    assert contents("out") == contents("whole")


def test_a_file_added_to_a_folder_begins_anew(folder, monkeypatch):
    Path("many").mkdir()
    shutil.copy("in.jsonl", "many/a.jsonl")
    with monkeypatch.context() as patch:
        refuse(patch, "pairs")
        assert CliRunner().invoke(app, ["dedup", "many", "-o", "out", "--resume"]).exit_code == 1
    shutil.copy("old.jsonl", "many/b.jsonl")
    ran = CliRunner().invoke(app, ["dedup", "many", "-o", "out", "--resume"])
    assert "features are repeated: many has changed" in ran.stderr
    assert ran.exit_code == 0


def test_another_version_begins_anew(folder, monkeypatch):
    interrupt(monkeypatch, "pairs")
    monkeypatch.setattr("neardup.deduplication.resume.__version__", "99.0")
    assert "and is 99.0 now" in done("-o", "out", "--resume")


def test_an_input_that_changes_during_the_run_is_not_stored(folder, monkeypatch):
    def changing(*arguments, **more):
        found = collect(*arguments, **more)
        os.utime("in.jsonl", (0, 0))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(run_module, "collect", changing)
        refuse(patch, "pairs")
        ran = neardup("-o", "out", "--resume")
    assert "features are not stored: the input has changed during the run" in ran.stderr
    assert not (work() / "features.json").exists()
    done("-o", "out", "--resume")
    assert resumed() == []


FILES = {
    "tfidf": ("idf.json", "idf.npz", "features.json", "features.0.ids.arrow"),
    "stars": ("features.0.features", "features.0.arrays.npz", "features.0.rejected.jsonl"),
    "within": ("features.1.features", "pairs.json", "pairs.npz"),
}


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "missing"])
@pytest.mark.parametrize(
    ("kind", "file"), [(kind, file) for kind, files in FILES.items() for file in files]
)
def test_a_damaged_file_repeats_its_pass(folder, monkeypatch, kind, file, damage):
    options, _ = KINDS[kind]
    done("-o", "whole", *options)
    # Features are read again only if the search is.
    interrupt(monkeypatch, "pairs" if file.endswith(".features") else "output", *options)
    path, name = work() / file, file.partition(".")[0]
    data = bytearray(path.read_bytes())
    if damage == "missing":
        path.unlink()
    else:
        if damage == "flip":
            data[len(data) // 2] ^= 1
        path.write_bytes({"flip": data, "cut": data[:-1], "empty": b""}[damage])
    said = done("-o", "out", "--resume", *options)
    assert (f"{name} {'is' if name == 'idf' else 'are'} repeated: {file} " in said) == (
        not (damage == "missing" and file.endswith(".json"))
    )
    assert name not in resumed()
    assert contents("out") == contents("whole")
    assert not work().exists()


KILLED = """
import os, sys, time
from pathlib import Path
from neardup.atomic import work_folder
from neardup.cli.entry import main

left, number = int(sys.argv.pop(1)), int(sys.argv.pop(1))

def counted(function):
    def call(*arguments):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), number)
            time.sleep(60)
        return function(*arguments)
    return call

work_folder.synchronize = counted(work_folder.synchronize)
Path.rename = counted(Path.rename)
main()
"""


def killed_after(steps, number):
    """A run that gets a signal after so many steps of storing its passes."""
    command = [sys.executable, "-c", KILLED, str(steps), str(int(number))]
    return subprocess.run(
        [*command, "dedup", "in.jsonl", "-o", "out", "--resume"], capture_output=True, check=False
    )


# Each pass flushes its files, its new marker and the folder, renames the marker, flushes again.
@pytest.mark.parametrize(
    ("steps", "finished"),
    [
        (0, []),
        (2, []),
        (5, []),
        (6, []),
        (7, ["features"]),
        (8, ["features"]),
        (9, ["features"]),
        (11, ["features"]),
        (12, ["features", "pairs"]),
        (13, ["features", "pairs"]),
    ],
)
def test_kill_9_leaves_a_finished_pass_or_none(folder, steps, finished):
    done("-o", "whole")
    killed = killed_after(steps, signal.SIGKILL)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert {path.name for path in work().glob("*.json")} == {f"{name}.json" for name in finished}
    done("-o", "out", "--resume")
    assert resumed() == finished
    assert contents("out") == contents("whole")
    assert not [name for name in os.listdir() if name.startswith(".")]


def test_ctrl_c_says_how_to_go_on(folder):
    stopped = killed_after(8, signal.SIGINT)
    assert stopped.returncode == 130
    assert stopped.stderr.decode().splitlines()[-1] == (
        "neardup: stopped; out was not written; the same command goes on after the passes that "
        "are finished"
    )
    done("-o", "out", "--resume")
    assert resumed() == ["features"]


def test_a_run_without_resume_leaves_the_work_folder_alone(folder, monkeypatch):
    interrupt(monkeypatch, "output")
    before = {path.name: path.read_bytes() for path in work().iterdir()}
    said = done("-o", "out")
    assert f"{work().absolute()} has finished passes of an earlier run; use them with" in said
    assert {path.name: path.read_bytes() for path in work().iterdir()} == before
    done("-o", "out", "--resume", "--overwrite")
    assert resumed() == ["features", "pairs"]


def test_a_second_run_is_refused(folder, monkeypatch):
    interrupt(monkeypatch, "output")
    lock = os.open(work(), os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    ran = neardup("-o", "out", "--resume")
    os.close(lock)
    assert "another run with --resume is writing out; wait until" in str(ran.exception)
    done("-o", "out", "--resume")
    assert resumed() == ["features", "pairs"]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["-"], "standard input"),
        (["https://example.org/a.jsonl"], "a URL"),
        (["pipe"], "a pipe or a device"),
        (["in.jsonl", "--against", "seen.index"], "an index"),
    ],
)
def test_inputs_that_cannot_be_checked_are_refused(folder, arguments, kind):
    os.mkfifo("pipe")
    CliRunner().invoke(app, ["index", "create", "seen.index"])
    ran = CliRunner().invoke(app, ["dedup", *arguments, "-o", "out", "--resume"])
    assert f"is unchanged: it is {kind}; store the documents in a file first" in str(ran.exception)
    assert not work().exists()


def test_what_is_no_folder_is_refused(folder):
    work().write_text("mine")
    ran = neardup("-o", "out", "--resume")
    assert "to store finished passes: Not a directory; choose another place" in str(ran.exception)
    assert work().read_text() == "mine"


def test_other_files_in_the_work_folder_stay(folder, monkeypatch):
    interrupt(monkeypatch, "output")
    (work() / "mine.txt").write_text("mine")
    done("-o", "out", "--resume")
    assert os.listdir(work()) == ["mine.txt"]


@pytest.mark.skipif(READS_EVERYTHING, reason="root may write anywhere")
def test_a_write_protected_folder_is_refused(folder):
    Path("locked").mkdir(mode=0o500)
    ran = neardup("-o", "locked/out", "--resume")
    assert "locked is write-protected; choose another place" in str(ran.exception)


def test_a_full_disk_is_one_sentence(folder, monkeypatch):
    def full(*arguments, **more):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("neardup.collection.checkpoint.np.savez", full)
    ran = neardup("-o", "out", "--resume")
    assert "No space left on device; make room on the disk, or run" in str(ran.exception)


def test_decisions_are_part_of_what_is_compared(folder, monkeypatch):
    texts = [json.loads(line)["text"] for line in Path("in.jsonl").read_text().splitlines()[:-1]]
    named = [Named(f"in-{place}", content_of(texts[place])) for place in range(len(texts))]
    file = DecisionFile("decisions.jsonl")
    file.add("same", named[:3], by="ann")
    options = ("--decisions", "decisions.jsonl", "--keep", "none")
    file.add("keep", [named[2]], by="ann")
    done("-o", "whole", *options)
    interrupt(monkeypatch, "output", *options)
    done("-o", "out", "--resume", *options)
    assert resumed() == ["features", "pairs"]
    assert contents("out") == contents("whole")
    shutil.rmtree("out")
    interrupt(monkeypatch, "output", *options)
    file.add("keep", [named[1]], by="ann")
    assert "pairs are repeated: decisions was" in done("-o", "out", "--resume", *options)
    assert resumed() == ["features"]
