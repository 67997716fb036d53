"""Jobs with real commands: queued, run, cancelled, interrupted, and what is left on disk."""

import asyncio
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.deduplication.planted import planted_texts

import neardup as nd
from neardup.errors import InputError, NeardupError, SettingError
from neardup.service.data_root import DataRoot
from neardup.service.jobs import Jobs, QueueFull, process, result_file
from neardup.service.jobs.record import Job, JobFolders, NewIds, stored

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")

SAMPLE = Path(__file__).parents[3] / "examples" / "sample.jsonl"
DEDUP: dict[str, Any] = {"kind": "dedup", "inputs": ["corpus/*.jsonl"]}
# Many plans over many documents: more than a minute, all of it in one stage.
LONG: dict[str, Any] = {
    "kind": "sweep",
    "inputs": ["long.jsonl"],
    "settings": {"bands": list(range(60, 100)), "band_bits": list(range(10, 41))},
}
PATIENCE = 60  # seconds; only a broken program takes that long


def events(name):
    if name == "uvloop":
        return pytest.importorskip("uvloop").new_event_loop()
    return asyncio.new_event_loop()


@pytest.fixture(scope="module")
def unrelated(tmp_path_factory):
    """A file of documents without pairs, so that a sweep takes time but little memory."""
    path = tmp_path_factory.mktemp("unrelated") / "long.jsonl"
    rows = [json.dumps({"text": text}) + "\n" for text in planted_texts(20_000, share=0)]
    path.write_text("".join(rows))
    return path


@pytest.fixture
def root(tmp_path, unrelated):
    (tmp_path / "corpus").mkdir()
    shutil.copy(SAMPLE, tmp_path / "corpus" / "sample.jsonl")
    (tmp_path / "long.jsonl").hardlink_to(unrelated)
    return tmp_path


def with_jobs(root, use, loop="asyncio", **options):
    """Start the jobs of a data folder, use them, and close them, as the service does."""

    async def main():
        jobs = Jobs(root, **options)
        await jobs.start()
        try:
            return await asyncio.wait_for(use(jobs), PATIENCE)
        finally:
            await jobs.close()

    running = events(loop)
    try:
        return running.run_until_complete(main())
    finally:
        running.close()


async def seen(condition):
    """Wait for something that no event tells."""
    while not condition():
        await asyncio.sleep(0.005)


async def reached(jobs, id, stage="plans"):
    """Wait until the command of a job has come to a stage."""
    await seen(lambda: (jobs.get(id)["progress"] or {}).get("stage") == stage)
    return jobs._runs[id].process.pid


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def record(root, id):
    return json.loads((root / "jobs" / id / "job.json").read_text())


def left_in(root, id):
    return sorted(os.listdir(root / "jobs" / id))


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_a_job_from_submission_to_its_files(root, loop):
    async def use(jobs):
        job = await jobs.submit({**DEDUP, "settings": {"threshold": 0.7, "keep": "longest"}})
        assert job["state"] == "queued"
        assert record(root, job["id"])["state"] == "queued"
        assert [job["started"], job["ended"], job["progress"], job["error"]] == [None] * 4
        return await jobs.ended(job["id"])

    job = with_jobs(root, use, loop)
    assert job["state"] == "done", job["error"]
    assert set(job) == {
        *("id", "kind", "state", "inputs", "against", "settings", "created", "started", "ended"),
        *("progress", "error", "summary", "files"),
    }
    assert job["created"] <= job["started"] <= job["ended"]
    assert job["progress"] is None
    expected = nd.dedup(SAMPLE, threshold=0.7, keep="longest")
    assert job["summary"]["kept"] == expected.summary["kept"]
    assert job["summary"]["settings"]["keep"] == "longest"
    assert str(root) not in json.dumps(job)
    kept = result_file(root, job["id"], "kept.parquet")
    assert pq.read_table(kept)["id"].to_pylist() == expected.kept["id"].to_pylist()
    assert {"name": "kept.parquet", "bytes": kept.stat().st_size} in job["files"]
    assert left_in(root, job["id"]) == ["job.json", "result"]
    assert {**record(root, job["id"]), "progress": None} == {"format": "neardup job 1", **job}


def test_tune_and_sweep(root):
    async def use(jobs):
        tune = await jobs.submit({"kind": "tune", "inputs": ["corpus"]})
        grid = {"bands": [2, 3], "band_bits": 10, "exact": True, "threshold": [0.8, 0.9]}
        sweep = await jobs.submit({**DEDUP, "kind": "sweep", "settings": grid})
        return await jobs.ended(tune["id"]), await jobs.ended(sweep["id"])

    tune, sweep = with_jobs(root, use)
    assert [tune["state"], sweep["state"]] == ["done", "done"]
    assert [file["name"] for file in tune["files"]] == ["settings.toml", "tuning.json"]
    stored_tuning = json.loads(result_file(root, tune["id"], "tuning.json").read_text())
    assert stored_tuning == tune["summary"]
    assert 'features = "' in result_file(root, tune["id"], "settings.toml").read_text()
    assert {"sweep.json", "sweep.csv"} <= {file["name"] for file in sweep["files"]}
    assert len(sweep["summary"]["rows"]) == 4


def test_against_an_index_and_against_the_result_of_a_job(root):
    (root / "indexes").mkdir()
    with nd.Index(root / "indexes" / "seen") as index:
        index.add_many((row, text) for row, text in enumerate(["nothing of the kind"] * 2))
        first = json.loads(SAMPLE.read_text().splitlines()[0])
        index.add("known", first["text"])

    async def use(jobs):
        asked = {**DEDUP, "against": ["indexes/seen"], "settings": {"within": True}}
        one = await jobs.ended((await jobs.submit(asked))["id"])
        kept = f"jobs/{one['id']}/result/kept.parquet"
        two = await jobs.submit({"kind": "dedup", "inputs": [kept], "against": ["corpus"]})
        return one, await jobs.ended(two["id"])

    one, two = with_jobs(root, use)
    assert one["state"] == two["state"] == "done", (one["error"], two["error"])
    assert one["summary"]["repeats_index"] >= 1
    assert two["summary"]["kept"] == two["summary"]["empty"]


def test_progress_and_the_process(root):
    listening = socket.create_server(("127.0.0.1", 0))
    listening.set_inheritable(True)

    async def use(jobs):
        job = await jobs.submit({**LONG, "settings": {**LONG["settings"], "threads": 2}})
        pid = await reached(jobs, job["id"])
        told = jobs.get(job["id"])
        assert told["state"] == record(root, job["id"])["state"] == "running"
        assert told["progress"] == {"stage": "plans", "done": 0, "total": None, "documents": 0}
        assert "progress" not in record(root, job["id"])
        assert os.getpgid(pid) == os.getsid(pid) == pid
        own = os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getpriority(os.PRIO_PROCESS, pid) == min(own + 10, 19)
        files = [os.readlink(f"/proc/{pid}/fd/{number}") for number in (0, 1, 2)]
        assert files[0] == os.devnull
        assert Path(files[1]).name == "printed.json"
        links = [os.readlink(one.path) for one in os.scandir(f"/proc/{pid}/fd")]
        assert not [link for link in links if link.startswith("socket:")]
        arguments = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        assert "--threads=2" in arguments

    with listening:
        with_jobs(root, use)


def test_cancel_while_running(root):
    async def use(jobs):
        job = await jobs.submit(LONG)
        pid = await reached(jobs, job["id"])
        cancelled = await jobs.delete(job["id"])
        assert not is_alive(pid)
        return cancelled

    job = with_jobs(root, use)
    assert (job["state"], job["error"], job["summary"], job["files"]) == (
        "cancelled",
        None,
        None,
        [],
    )
    assert job["ended"] >= job["started"]
    assert record(root, job["id"])["state"] == "cancelled"
    assert left_in(root, job["id"]) == ["job.json"]


def test_cancel_what_does_not_listen(root, monkeypatch):
    """A stopped process gets no SIGTERM, but it gets SIGKILL."""
    monkeypatch.setattr(process, "_PATIENCE", 0.2)

    async def use(jobs):
        job = await jobs.submit(LONG)
        pid = await reached(jobs, job["id"])
        os.kill(pid, signal.SIGSTOP)
        cancelled = await jobs.delete(job["id"])
        assert not is_alive(pid)
        return cancelled

    assert with_jobs(root, use)["state"] == "cancelled"


def test_cancel_at_once_and_again(root):
    """Before the process is started, and by several clients."""

    async def use(jobs):
        job = await jobs.submit(LONG)
        return await asyncio.gather(*(jobs.delete(job["id"]) for _ in range(3)))

    assert [job["state"] for job in with_jobs(root, use)] == ["cancelled"] * 3


def test_cancel_while_queued_then_remove(root):
    async def use(jobs):
        running = await jobs.submit(LONG)
        waiting = await jobs.submit(DEDUP)
        await seen(lambda: jobs.counts()["running"])
        assert jobs.counts()["queued"] == 1
        cancelled = await jobs.delete(waiting["id"])
        assert (cancelled["state"], cancelled["started"]) == ("cancelled", None)
        assert record(root, waiting["id"])["state"] == "cancelled"
        assert jobs.get(running["id"])["state"] == "running"
        removed = await asyncio.gather(*(jobs.delete(waiting["id"]) for _ in range(3)))
        assert [job and job["state"] for job in removed] == ["cancelled", None, None]
        assert jobs.get(waiting["id"]) is None
        assert [job["id"] for job in jobs.listed()] == [running["id"]]
        assert os.listdir(root / "jobs") == [running["id"]]
        assert await jobs.delete("no such job") is None

    with_jobs(root, use)


def test_removing_a_finished_job_removes_its_files(root):
    async def use(jobs):
        job = await jobs.submit(DEDUP)
        await jobs.ended(job["id"])
        assert (await jobs.delete(job["id"]))["state"] == "done"
        assert os.listdir(root / "jobs") == []
        assert result_file(root, job["id"], "kept.parquet") is None
        assert jobs.counts()["done"] == 0

    with_jobs(root, use)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({**DEDUP, "settings": {"text": "body"}}, "corpus/sample.jsonl has no column 'body'"),
        ({**DEDUP, "settings": {"text": "-x\ny"}}, "no column '-x"),
        ({"kind": "tune", "inputs": ["bad.jsonl"]}, "bad.jsonl"),
        ({"kind": "dedup", "inputs": ["unknown.bin"]}, "unknown.bin is not text, nor of a format"),
    ],
)
def test_bad_input_fails_with_the_sentence_of_the_command(root, request_, said):
    (root / "bad.jsonl").write_bytes(b"\xff\xfe\0")
    (root / "unknown.bin").write_bytes(b"\0")

    async def use(jobs):
        return await jobs.ended((await jobs.submit(request_))["id"])

    job = with_jobs(root, use)
    assert job["state"] == "failed"
    assert said in job["error"]
    assert not job["error"].startswith("neardup")
    assert left_in(root, job["id"]) == ["job.json"]


def test_a_process_that_is_killed(root):
    async def use(jobs):
        job = await jobs.submit(LONG)
        os.kill(await reached(jobs, job["id"]), signal.SIGKILL)
        return await jobs.ended(job["id"])

    job = with_jobs(root, use)
    assert job["state"] == "failed"
    assert "SIGKILL" in job["error"]


def test_paths_are_checked_again_when_the_job_runs(root, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.jsonl").write_text('{"text": "one two three"}\n')

    async def use(jobs):
        first = await jobs.submit(LONG)
        job = await jobs.submit(DEDUP)
        (root / "corpus" / "x.jsonl").symlink_to(outside / "secret.jsonl")
        await jobs.delete(first["id"])
        return await jobs.ended(job["id"])

    job = with_jobs(root, use)
    assert job["state"] == "failed"
    assert job["error"].startswith("corpus/x.jsonl is a link that leaves the data folder")


def test_wrong_requests_leave_nothing(root):
    async def use(jobs):
        with pytest.raises(SettingError, match="unknown setting 'index'"):
            await jobs.submit({**DEDUP, "settings": {"index": "x"}})
        with pytest.raises(InputError, match="absolute"):
            await jobs.submit({"kind": "dedup", "inputs": ["/etc/passwd"]})
        assert jobs.listed() == []

    with_jobs(root, use, most_waiting=0)  # they take no place in the queue
    assert os.listdir(root / "jobs") == []


def test_names_that_look_like_options_are_read(root):
    for name in ("-", "-o.jsonl", "--config=x.jsonl"):
        shutil.copy(SAMPLE, root / name)
    row = {"-text\n": "one two three four"}
    (root / "-o.jsonl").write_text(json.dumps(row) + "\n")

    async def use(jobs):
        asked = {"kind": "dedup", "inputs": ["-o.jsonl"], "settings": {"text": "-text\n"}}
        one = await jobs.submit(asked)
        two = await jobs.submit({"kind": "dedup", "inputs": ["--config=x.jsonl"]})
        return await jobs.ended(one["id"]), await jobs.ended(two["id"])

    one, two = with_jobs(root, use)
    assert one["summary"]["documents"] == 1, one["error"]
    assert two["summary"]["documents"] == 355, two["error"]


def test_programs_in_the_data_folder_are_not_run(root, monkeypatch):
    for name in ("neardup", "json", "numpy", "orjson", "sitecustomize", "signal"):
        (root / f"{name}.py").write_text("open('ran', 'w').close()\nraise SystemExit(3)\n")
    (root / "matplotlibrc").write_text("text.usetex: True\n")
    monkeypatch.chdir(root)

    async def use(jobs):
        asked = {**DEDUP, "kind": "sweep", "settings": {"plans": ["bands:4x16"]}}
        return await jobs.ended((await jobs.submit(asked))["id"])

    job = with_jobs(root, use)
    assert job["state"] == "done", job["error"]
    assert not (root / "ran").exists()


def test_twenty_at_once(root):
    async def use(jobs):
        running = await jobs.submit(LONG)
        asked = (jobs.submit(DEDUP) for _ in range(19))
        found = [running, *await asyncio.gather(*asked, return_exceptions=True)]
        taken = [job for job in found if isinstance(job, dict)]
        refused = [error for error in found if not isinstance(error, dict)]
        assert len(taken) == 17
        assert [type(error) for error in refused] == [QueueFull] * 3
        assert "16 jobs are waiting already" in str(refused[0])
        assert len({job["id"] for job in taken}) == 17
        await seen(lambda: jobs.counts()["running"])
        assert jobs.counts() == {
            **{"queued": 16, "running": 1, "done": 0, "failed": 0, "cancelled": 0},
            "interrupted": 0,
        }
        listed = [job["id"] for job in jobs.listed()]
        assert listed == sorted(listed, reverse=True)
        waiting = [job["id"] for job in taken if jobs.get(job["id"])["state"] == "queued"]
        await asyncio.gather(*(jobs.delete(id) for id in waiting[2:]))
        await jobs.submit(DEDUP)  # there is room again
        await jobs.delete(running["id"])
        return [await jobs.ended(id) for id in waiting[:2]]

    one, two = with_jobs(root, use)
    assert [one["state"], two["state"]] == ["done", "done"]
    first, second = sorted((one, two), key=lambda job: job["started"])
    assert first["ended"] <= second["started"]  # one after the other


def test_two_jobs_with_the_same_inputs_at_the_same_time(root):
    async def use(jobs):
        asked = [await jobs.submit(DEDUP), await jobs.submit(DEDUP)]
        await seen(lambda: jobs.counts()["running"] == 2)
        return [await jobs.ended(job["id"]) for job in asked]

    one, two = with_jobs(root, use, at_once=2)
    assert one["state"] == two["state"] == "done"
    kept = [result_file(root, job["id"], "kept.parquet").read_bytes() for job in (one, two)]
    assert kept[0] == kept[1]


def test_close_interrupts_and_the_next_start_goes_on(root):
    async def begin(jobs):
        running, waiting = await jobs.submit(LONG), await jobs.submit(DEDUP)
        pid = await reached(jobs, running["id"])
        await jobs.close()
        assert not is_alive(pid)
        assert jobs.get(running["id"])["state"] == "interrupted"
        assert "the service was stopped" in jobs.get(running["id"])["error"]
        assert jobs.get(waiting["id"])["state"] == "queued"
        with pytest.raises(NeardupError, match="the service is stopping"):
            await jobs.submit(DEDUP)
        return running["id"], waiting["id"]

    running, waiting = with_jobs(root, begin)
    assert record(root, running)["state"] == "interrupted"

    async def go_on(jobs):
        assert jobs.get(running)["state"] == "interrupted"
        return await jobs.ended(waiting)

    assert with_jobs(root, go_on)["state"] == "done"


WRITER = """
import asyncio, json, sys
from neardup.service.jobs import Jobs

async def main(root, *requests):
    jobs = Jobs(root)
    await jobs.start()
    ids = [(await jobs.submit(json.loads(one)))["id"] for one in requests]
    while (jobs.get(ids[0])["progress"] or {}).get("stage") != "plans":
        await asyncio.sleep(0.005)
    print(json.dumps([ids, jobs._runs[ids[0]].process.pid]), flush=True)
    await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""


def test_the_service_is_killed_in_the_middle(root):
    command = [sys.executable, "-c", WRITER, str(root), json.dumps(LONG), json.dumps(DEDUP)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        (running, waiting), pid = json.loads(writer.stdout.readline())
        assert is_alive(pid)
        writer.kill()
    deadline = time.monotonic() + PATIENCE
    while is_alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    assert record(root, running)["state"] == "running"
    # What a dedup leaves that is killed while it writes.
    unfinished = root / "jobs" / running / ".result.neardup-unfinished-abcdefgh"
    (unfinished / "new").mkdir(parents=True)

    async def go_on(jobs):
        assert jobs.counts()["interrupted"] == 1
        assert "the service ended" in jobs.get(running)["error"]
        return await jobs.ended(waiting)

    assert with_jobs(root, go_on)["state"] == "done"
    assert record(root, running)["state"] == "interrupted"
    assert left_in(root, running) == ["job.json"]


FULL_DISK = """
import asyncio, json, resource, sys
from neardup.errors import NeardupError
from neardup.service.jobs import Jobs

def room(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

async def main(root, request):
    jobs = Jobs(root)
    await jobs.start()
    room(0)
    try:
        await jobs.submit(json.loads(request))
    except NeardupError as error:
        print(json.dumps([str(error), error.__cause__.errno]))
    assert jobs.listed() == []
    room(20_000)
    job = await jobs.submit(json.loads(request))
    print(json.dumps(await jobs.ended(job["id"])))
    job = await jobs.submit({**json.loads(request), "settings": {"text": "none"}})
    room(0)
    print(json.dumps(await jobs.ended(job["id"])))
    room(resource.RLIM_INFINITY)
    await jobs.close()

asyncio.run(main(*sys.argv[1:]))
"""


def test_the_disk_is_full(root):
    """With a limit on the size of files, which gives the same kind of error."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    command = [sys.executable, "-c", FULL_DISK, str(root), json.dumps(DEDUP)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    refused, failed, unsaved = map(json.loads, done.stdout.splitlines())
    assert refused[0].startswith("the job cannot be stored: File too large")
    assert failed["state"] == "failed"
    assert failed["error"].startswith(f"cannot write jobs/{failed['id']}/result: File too large")
    assert left_in(root, failed["id"]) == ["job.json"]
    assert unsaved["state"] == "failed"
    assert record(root, unsaved["id"])["state"] == "failed"  # stored when there was room again
    assert "the job cannot be stored" in done.stderr
    assert sorted(os.listdir(root / "jobs")) == [failed["id"], unsaved["id"]]


def made(root, number, ids, **more):
    """Records of jobs as they are on disk."""
    folders = JobFolders(DataRoot(root))
    folders.make()
    found = []
    for _ in range(number):
        job = Job(ids.next(), "dedup", ["corpus"], [], {}, time.time(), **more)
        folders.of(job.id).mkdir()
        (folders.of(job.id) / "job.json").write_bytes(stored(job))
        found.append(job.id)
    return found


def test_more_jobs_than_are_listed(root):
    ids = NewIds()
    waiting = made(root, 1, ids)
    old = made(root, 1005, ids, state="done")

    async def use(jobs):
        await jobs.ended(waiting[0])
        listed = jobs.listed()
        assert len(listed) == 1000
        assert [job["id"] for job in listed] == old[:4:-1]
        assert jobs.counts()["done"] == 1006
        assert jobs.get(old[0])["id"] == old[0]
        assert (await jobs.delete(old[0]))["id"] == old[0]
        assert jobs.get(old[0]) is None
        assert len(jobs._recent) < 1018

    with_jobs(root, use)
    assert len(os.listdir(root / "jobs")) == 1005


def test_records_that_cannot_be_read_are_left_alone(root, caplog):
    ids = NewIds()
    good, damaged, newer, foreign = made(root, 4, ids, state="done")
    places = [root / "jobs" / id / "job.json" for id in (damaged, newer, foreign)]
    places[0].write_text("{")
    places[1].write_text(places[1].read_text().replace("neardup job 1", "neardup job 9"))
    places[2].write_text("[]")
    (root / "jobs" / "notes.txt").write_text("mine")
    (root / "jobs" / ids.next()).mkdir()  # the service ended before the record was there
    removed = root / "jobs" / f".{ids.next()}.removed"  # the service ended while it removed this
    (removed / "result").mkdir(parents=True)

    async def use(jobs):
        assert [job["id"] for job in jobs.listed()] == [good]
        assert jobs.get(damaged) is None
        assert await jobs.delete(damaged) is None

    with_jobs(root, use)
    assert sorted(os.listdir(root / "jobs")) == [good, damaged, newer, foreign, "notes.txt"]
    assert caplog.text.count("no record of a job that can be read") == 3


def test_a_folder_of_jobs_that_is_a_link(root, tmp_path_factory):
    (root / "jobs").symlink_to(tmp_path_factory.mktemp("elsewhere"))

    async def use(jobs):
        raise AssertionError

    with pytest.raises(NeardupError, match="is a link"):
        with_jobs(root, use)


def test_a_client_that_goes_away_leaves_nothing_halfway(root):
    async def use(jobs):
        asking = asyncio.create_task(jobs.submit(LONG))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await seen(jobs.listed)
        id = jobs.listed()[0]["id"]
        await reached(jobs, id)
        cancelling = asyncio.create_task(jobs.delete(id))
        await asyncio.sleep(0)
        cancelling.cancel()
        return await jobs.ended(id)

    assert with_jobs(root, use)["state"] == "cancelled"


def test_result_files(root):
    (id,) = made(root, 1, NewIds(), state="done")
    result = root / "jobs" / id / "result"
    (result / "folder").mkdir(parents=True)
    (result / "kept.parquet").write_text("x")
    (result / ".hidden").write_text("x")
    (result / "link").symlink_to(SAMPLE)
    assert result_file(root, id, "kept.parquet") == result / "kept.parquet"
    for name in ("folder", ".hidden", "link", "", ".", "..", "../job.json", "none", "a\0", 5):
        assert result_file(root, id, name) is None
    for other in ("..", ".", "", f"{id}/", f"../jobs/{id}", id.upper() + "x", 5, "none"):
        assert result_file(root, other, "kept.parquet") is None
