"""Both clients against a real server: indexes, stateless calls, jobs, keys, threads."""

import asyncio
import inspect
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.client.conftest import Awaited
from tests.client.running import serving
from tests.index.texts import edited, pairs, text

import neardup as nd
from neardup.client import AsyncRemoteIndex, RemoteIndex
from neardup.client.answers import IndexInfo
from neardup.client.job import Job
from neardup.index.settings import IndexSettings

A = "受台风影响，沿海地区今晚到明天有大到暴雨，阵风可达十级。"
B = "受台风影响，沿海地区今晚有大到暴雨，阵风可达十二级！"


@pytest.fixture(params=["sync", "async"])
def either(request, server):
    """A client of either kind, whose methods return results."""
    if request.param == "sync":
        with nd.Client(server.url) as client:
            yield client
        return
    loop = asyncio.new_event_loop()
    other = nd.AsyncClient(server.url)
    yield Awaited(other, loop.run_until_complete)
    loop.run_until_complete(other.close())
    loop.close()


def test_indexes_are_made_listed_and_deleted(either, index_name):
    assert index_name not in [info.name for info in either.indexes()]
    either.create_index(index_name, threshold=0.7, complete=None)
    either.create_index(index_name, threshold=0.7)
    (info,) = (info for info in either.indexes() if info.name == index_name)
    settings = IndexSettings.of({"threshold": 0.7})
    assert info == IndexInfo(index_name, 0, settings.finds, settings)
    with pytest.raises(nd.SettingError, match=r"0\.7.*0\.9"):
        either.create_index(index_name, threshold=0.9)
    with pytest.raises(nd.SettingError):
        either.create_index(f"{index_name}-2", features="word:0")
    with pytest.raises(nd.SettingError, match="treshold"):
        either.create_index(f"{index_name}-2", treshold=0.9)
    with pytest.raises(nd.SettingError, match="cannot be sent to a server"):
        either.create_index(f"{index_name}-2", hash=lambda data: 1)
    for name in ("../outside", "a b", "ü", ".."):
        with pytest.raises(nd.SettingError, match="name of an index"):
            either.create_index(name)
    assert either.delete_index(index_name) is None
    with pytest.raises(nd.ServiceError) as caught:
        either.delete_index(index_name)
    assert (caught.value.status, caught.value.code) == (404, "index_not_found")


def test_an_index_that_is_not_there(client, index_name):
    index = client.index(index_name)
    for call in (
        lambda: index.check("a", "b"),
        lambda: index.add_many([("a", "b")]),
        lambda: index.get("a"),
        lambda: len(index),
        lambda: "a" in index,
        lambda: index.settings,
        index.stats,
    ):
        with pytest.raises(nd.ServiceError, match=index_name) as caught:
            call()
        assert caught.value.code == "index_not_found"


def test_a_handle_needs_no_request(index_name):
    index = nd.Client("http://127.0.0.1:9").index(index_name)
    assert bool(index)
    assert repr(index) == f"<RemoteIndex {index_name} on http://127.0.0.1:9>"


@pytest.mark.parametrize("bits", [1, 64, 65, 100])
def test_fingerprints_are_those_of_here(either, bits):
    texts = [text(n) for n in range(5)] + ["...", A]
    found = either.fingerprint(texts, bits=bits, features="word:2")
    here = nd.fingerprint(texts, bits=bits, features="word:2")
    assert found == here
    assert found.words.tolist() == here.words.tolist()
    assert either.fingerprint(np.array(texts), bits=bits, features="word:2") == here


def test_many_fingerprints_come_in_order(either):
    texts = [text(n, 3) for n in range(2500)]
    assert either.fingerprint(iter(texts)) == nd.fingerprint(texts)
    nothing = either.fingerprint([], bits=65)
    assert (len(nothing), nothing.bits) == (0, 65)
    with pytest.raises(nd.SettingError, match="features"):
        either.fingerprint([], features="word:0")
    with pytest.raises(nd.InputError, match="put it in a list"):
        either.fingerprint("one text")


@pytest.mark.parametrize("settings", [{}, {"bits": 100, "features": "char:2", "weights": "count"}])
def test_comparisons_are_those_of_here(either, settings):
    for a, b in ((A, B), ("", A), (text(1), edited(1))):
        assert either.compare(a, b, **settings) == nd.compare(a, b, **settings)


def test_an_index_compares_texts_and_stored_documents(either, index_name):
    index = either.create_index(index_name, features="char:3", store_text=True)
    index = index if isinstance(index, RemoteIndex) else Awaited(index, either._run)
    index.add("a/b", A)
    index.add(17, B)
    here = nd.compare(A, B, features="char:3")
    assert index.compare(A, B) == here
    assert index.compare({"id": "a/b"}, B) == here
    assert index.compare({"id": "a/b"}, {"id": 17}) == here
    with pytest.raises(nd.ServiceError) as caught:
        index.compare({"id": "none"}, B)
    assert caught.value.code == "document_not_found"


def test_the_number_and_the_string_are_two_ids(client, index_name):
    index = client.create_index(index_name)
    index.add_many([(17, text(1)), ("17", text(2)), (18, text(3)), ("", text(4))])
    assert index.get("17").id == "17"
    assert index.get(17).id == 17
    assert index.get(18).id == 18
    assert index.get("18") is None
    assert index.get("").id == ""
    assert index.delete(17)
    assert [match.id for match in index.query(text(2))] == ["17"]


def test_more_than_one_portion(client, index_name):
    index = client.create_index(index_name)
    told: list[int] = []
    added = ((n, text(n, 8)) for n in range(6_000))
    assert index.add_many(added, progress=told.append) == 6_000
    assert told == [5_000, 6_000]
    verdicts = index.check_many((f"again-{n}", text(n, 8)) for n in range(2_500))
    assert [verdict.match.id for verdict in verdicts] == list(range(2_500))
    answers = index.query_many(text(n, 8) for n in range(2_500, 5_000))
    assert [matches[0].id for matches in answers] == list(range(2_500, 5_000))
    assert index.delete_many(range(20_000)) == 6_000


def test_a_bad_document_among_many_is_named(client, index_name):
    index = client.create_index(index_name, features="terms", threshold=0.5)
    good, bad = {"x": 1.0}, {"y": float("inf")}
    with pytest.raises(nd.InputError):
        index.add_many([("good", good), ("bad", bad)])
    texts = client.create_index(f"{index_name}-texts")
    with pytest.raises(nd.ServiceError, match="'long'") as caught:
        texts.add_many([("good", "one two"), ("long", "long " * 4_000_000), ("next", "three")])
    assert caught.value.code == "text_too_long"
    assert ("good" in texts, "next" in texts) == (True, False)  # it was to be sent later
    assert str(caught.value).startswith("the document 'long': a text has 20,000,000 ")
    long = (text(n) if n != 1500 else "long " * 4_000_000 for n in range(2_000))
    with pytest.raises(nd.ServiceError, match=r"^document 1500: a text has "):
        texts.query_many(long)


def test_at_once_is_refused(client, index_name):
    with pytest.raises(nd.SettingError, match="at_once is for an index on disk"):
        client.create_index(index_name).add_many([("a", "b")], at_once=True)


def test_a_backup_is_an_index(server, client, index_name):
    index = client.create_index(index_name)
    index.add_many(pairs(0, 5))
    assert index.backup(index_name) == 5
    with nd.Index(server.data / "backups" / index_name, create=False, readonly=True) as copy:
        assert len(copy) == 5
    with pytest.raises(nd.ServiceError) as caught:
        index.backup(index_name)
    assert (caught.value.status, caught.value.code) == (409, "backup_exists")


def test_threads_share_a_client(client, index_name):
    index = client.create_index(index_name)
    begin = threading.Barrier(16)

    def work(thread):
        begin.wait()
        return [index.check(f"{thread}-{n}", text(n)).is_new for n in range(20)]

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(work, range(16)))
    assert [sum(column) for column in zip(*found, strict=True)] == [1] * 20
    assert len(index) == 20


def test_coroutines_share_a_client(server, index_name):
    async def work():
        async with nd.AsyncClient(server.url) as client:
            index = await client.create_index(index_name)
            checks = (index.check(n, text(n % 20)) for n in range(200))
            verdicts = await asyncio.gather(*checks)
            return sum(verdict.is_new for verdict in verdicts), await index.count()

    assert asyncio.run(work()) == (20, 20)


def test_a_server_that_is_started_again(tmp_path, index_name):
    """The stream stops the server, and the client waits until another one is there."""
    first, second = ExitStack(), ExitStack()
    url = first.enter_context(serving(tmp_path / "data")).url
    port = int(url.rpartition(":")[2])
    starting = threading.Thread(
        target=lambda: second.enter_context(serving(tmp_path / "data", port=port))
    )

    def stream():
        for number in range(12_000):
            if number == 7_000:  # 5,000 are stored
                first.close()
                starting.start()
            yield number, text(number, 5)

    with first, second, nd.Client(url, retries=20) as client:
        index = client.create_index(index_name)
        assert index.add_many(stream()) == 12_000
        starting.join()
        assert len(index) == 12_000


def test_a_job(either, server, index_name, tmp_path):
    rows = [{"id": n, "text": text(n % 7)} for n in range(20)]
    folder = server.data / index_name
    folder.mkdir()
    (folder / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    job = either.submit_job("dedup", f"{index_name}/*.jsonl", threshold=0.9)
    assert type(job) is Job
    assert (job.kind, job.inputs, job.is_over) == ("dedup", (f"{index_name}/*.jsonl",), False)
    looks: list[Job] = []
    done = either.wait_for_job(job.id, timeout=120, progress=looks.append)
    assert (done.state, done.error, looks[-1]) == ("done", None, done)
    assert done.settings["threshold"] == 0.9
    assert done.created <= done.started <= done.ended
    sizes = {file.name: file.bytes for file in done.files}
    target = tmp_path / "kept.parquet"
    assert either.download(job.id, "kept.parquet", target) is None
    assert target.stat().st_size == sizes["kept.parquet"]
    assert pq.read_table(target).num_rows == 7
    assert job.id in [one.id for one in either.jobs()]
    assert either.job(job.id) == done
    with pytest.raises(nd.ServiceError) as caught:
        either.download(job.id, "none.parquet", tmp_path / "none")
    assert caught.value.status == 404
    assert list(tmp_path.iterdir()) == [target]
    assert either.cancel_job(job.id).id == job.id  # it is over, so this removes it
    with pytest.raises(nd.ServiceError) as caught:
        either.job(job.id)
    assert caught.value.code == "job_not_found"


def test_a_job_that_fails_and_one_that_is_refused(client, server, index_name):
    (server.data / f"{index_name}.csv").write_text("a,b\n1,2\n")
    job = client.submit_job("dedup", [f"{index_name}.csv"])
    done = client.wait_for_job(job.id)
    assert done.state == "failed"
    assert "text" in done.error
    client.cancel_job(job.id)
    with pytest.raises(nd.NeardupError):
        client.submit_job("dedup", ["/etc/passwd"])
    with pytest.raises(nd.NeardupError):
        client.submit_job("dance", [f"{index_name}.csv"])


def test_waiting_for_a_job_can_end(client, server, index_name):
    lines = (json.dumps({"id": n, "text": text(n, 300)}) + "\n" for n in range(3_000))
    (server.data / f"{index_name}.jsonl").write_text("".join(lines))
    job = client.submit_job("sweep", f"{index_name}.jsonl", plans=["blocks:3", "bands:40x16"])
    with pytest.raises(nd.ServiceError, match=f"the job {job.id} is still") as caught:
        client.wait_for_job(job.id, timeout=0)
    assert caught.value.code == "timeout"
    client.cancel_job(job.id)
    assert client.wait_for_job(job.id).state == "cancelled"
    client.cancel_job(job.id)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """The address of a server with keys, and a key of each role."""
    folder = tmp_path_factory.mktemp("guarded")
    keys = {role: made_key(folder / "keys.toml", role) for role in ("read", "write", "admin")}
    with serving(folder / "data", "--keys", str(folder / "keys.toml")) as running:
        yield running.url, keys


def made_key(file, role):
    command = [sys.executable, "-m", "neardup", "keys", "create", str(file), role, "--role", role]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.split()[-1]


def refused(call):
    with pytest.raises(nd.ServiceError) as caught:
        call()
    return caught.value.status, caught.value.code


def test_keys(guarded, index_name):
    url, keys = guarded
    with nd.Client(url) as nobody, nd.Client(url, "nd_wrong") as stranger:
        assert refused(nobody.indexes) == (401, "unauthorized")
        assert refused(lambda: stranger.index(index_name).query("a b c")) == (401, "unauthorized")
    with nd.Client(url, keys["admin"]) as admin:
        admin.create_index(index_name)
    with nd.Client(url, keys["write"]) as writer:
        assert refused(lambda: writer.create_index(f"{index_name}-2")) == (403, "forbidden")
        assert writer.index(index_name).check("a", text(1)).is_new
        assert writer.index(index_name).add_many(pairs(2, 4)) == 2
    with nd.Client(url, keys["read"]) as reader:
        index = reader.index(index_name)
        assert refused(lambda: index.check("b", text(1))) == (403, "forbidden")
        assert index.check("b", text(1), add="never").match.id == "a"
        assert index.check_many([("b", text(3))], add="never")[0].match.id == 3
        assert (len(index), "a" in index, index.query(text(2))[0].id) == (3, True, 2)


def signatures(kind):
    return {
        name: inspect.signature(method)
        for name, method in vars(kind).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }


@pytest.mark.parametrize(
    ("one", "other"), [(nd.Client, nd.AsyncClient), (RemoteIndex, AsyncRemoteIndex)]
)
def test_both_kinds_of_clients_have_the_same_methods(one, other):
    sync, awaited = signatures(one), signatures(other)
    assert set(awaited) - set(sync) <= {"contains", "count"}
    assert set(sync) <= set(awaited)
    for name, signature in sync.items():
        assert signature.parameters == awaited[name].parameters
        assert inspect.getdoc(getattr(one, name)) == inspect.getdoc(getattr(other, name))
        assert inspect.iscoroutinefunction(getattr(other, name)) == (name != "index")


def test_an_index_on_a_server_has_the_signatures_of_a_local_one():
    here = {"expire": {"now"}, "stats": {"buckets"}, "backup": {"destination"}}  # what is not sent
    shared = [name for name in signatures(RemoteIndex) if hasattr(nd.Index, name)]
    assert {"add", "add_many", "check", "check_many", "query", "query_many"} <= set(shared)
    for name in shared:
        own = inspect.signature(getattr(RemoteIndex, name)).parameters
        local = inspect.signature(getattr(nd.Index, name)).parameters
        assert set(local) - set(own) == here.get(name, set()), name
        assert {key: own[key].default for key in local if key in own} == {
            key: local[key].default for key in local if key in own
        }
