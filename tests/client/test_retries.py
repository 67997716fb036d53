"""What a client does when a server fails: it repeats what may be repeated, and says why not."""

import asyncio
import email.utils
import pickle
import socket
import time

import pytest
from tests.client.faults import Fault, failing, problem

import neardup as nd
from neardup.client.call import Call, Pause, Reply, ask
from neardup.client.errors import error_of

VERDICT = {"id": "a", "is_new": True, "added": True, "match": None, "matches": []}
GOOD = Fault(200, VERDICT)
BUSY = problem(503, "unavailable", Retry_After="0")
CUT = Fault(200, VERDICT, cut=10)
CLOSED = Fault(cut=0)
NOT_REPEATABLE = [
    lambda client: client.submit_job("dedup", "a.jsonl"),
    lambda client: client.cancel_job("17"),
    lambda client: client.delete_index("pages"),
    lambda client: client.index("pages").backup("monday"),
]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch):
    """The pauses are tested below, where nobody waits for them."""
    monkeypatch.setattr("neardup.client.call._FIRST_WAIT", 0.001)


def checked(url, flavour, **given):
    if flavour == "sync":
        with nd.Client(url, **given) as client:
            return client.index("pages").check("a", "one two three")

    async def work():
        async with nd.AsyncClient(url, **given) as client:
            return await client.index("pages").check("a", "one two three")

    return asyncio.run(work())


@pytest.mark.parametrize("flavour", ["sync", "async"])
@pytest.mark.parametrize(
    "fault",
    [
        BUSY,
        CUT,
        CLOSED,
        problem(429, "queue_full", Retry_After="0"),
        Fault(502, b"<html>Bad Gateway</html>"),
        Fault(504),
    ],
)
def test_a_repeatable_call_is_repeated(flavour, fault):
    with failing([fault, fault, GOOD]) as server:
        assert checked(server.url, flavour).is_new
    assert len(server.seen) == 3
    assert len({(method, path, body) for method, path, body, _ in server.seen}) == 1


@pytest.mark.parametrize("flavour", ["sync", "async"])
@pytest.mark.parametrize(("fault", "code"), [(BUSY, "unavailable"), (CUT, "broken")])
def test_attempts_are_bounded(flavour, fault, code):
    with failing([fault]) as server:
        with pytest.raises(nd.ServiceError) as caught:
            checked(server.url, flavour, retries=2)
        assert len(server.seen) == 3
    assert caught.value.code == code


@pytest.mark.parametrize(
    "fault",
    [
        problem(500, "internal"),
        problem(507, "disk_full"),
        problem(413, "body_too_large"),
        Fault(408),
    ],
)
def test_other_errors_are_not_repeated(fault):
    with failing([fault]) as server, pytest.raises(nd.ServiceError) as caught:
        checked(server.url, "sync")
    assert len(server.seen) == 1
    assert caught.value.status == fault.status


@pytest.mark.parametrize("call", NOT_REPEATABLE)
@pytest.mark.parametrize("fault", [BUSY, CUT, CLOSED, problem(429, "queue_full")])
def test_what_would_act_twice_is_never_repeated(call, fault):
    with failing([fault]) as server, nd.Client(server.url) as client:
        with pytest.raises(nd.ServiceError):
            call(client)
        assert len(server.seen) == 1


def test_a_document_that_found_the_queue_full_is_sent_again():
    full = {"id": "b", "error": {"code": "queue_full", "detail": "too many wait"}}
    stored = [{"id": id, "stored": True} for id in "ab"]
    info = {
        "name": "pages",
        "documents": 0,
        "scheme": "nd1/word:3/set/64",
        "finds": "",
        "settings": {
            "threshold": 0.8,
            "complete": False,
            "plan": None,
            "max_distance": None,
            "store_text": False,
            "store_features": True,
            "ttl": None,
        },
    }
    answers = [info, {"results": [stored[0], full]}, {"results": stored}]
    faults = [Fault(200, answer) for answer in answers]
    with failing(faults) as server, nd.Client(server.url) as client:
        assert client.index("pages").add_many([("a", "x"), ("b", "y")]) == 2
    assert [path for _, path, *_ in server.seen] == [
        "/v1/indexes/pages",
        "/v1/indexes/pages/documents",
        "/v1/indexes/pages/documents",
    ]


def steps_of(replies, repeatable=True, retries=5):
    """The pauses between some replies, and the answer or error in the end."""
    steps = ask(Call("GET", "/", lambda found: found, repeatable=repeatable), retries)
    pauses = []
    try:
        step = next(steps)
        for reply in replies:
            assert isinstance(step, Call)
            step = steps.throw(reply) if isinstance(reply, Exception) else steps.send(reply)
            if isinstance(step, Pause):
                pauses.append(step.seconds)
                step = next(steps)
    except StopIteration as end:
        return pauses, end.value
    except nd.ServiceError as error:
        return pauses, error
    raise AssertionError("the steps want more replies")


def busy(retry_after=None):
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return Reply(503, headers, b'{"code": "unavailable", "detail": "later"}')


def test_pauses_grow_and_differ(monkeypatch):
    monkeypatch.setattr("neardup.client.call._FIRST_WAIT", 0.25)
    seen = set()
    for _ in range(20):
        pauses, answer = steps_of([busy()] * 8 + [Reply(200, {}, b"7")], retries=8)
        assert answer == 7
        for pause, most in zip(pauses, [0.25, 0.5, 1, 2, 4, 8, 8, 8], strict=True):
            assert most / 2 <= pause <= most
        seen.add(pauses[0])
    assert len(seen) > 1


def test_the_server_is_left_alone_as_long_as_it_asks():
    (pause,), answer = steps_of([busy("7"), Reply(200, {}, b"1")])
    assert (7 < pause < 8, answer) == (True, 1)
    date = email.utils.formatdate(time.time() + 50, usegmt=True)
    (pause,), _ = steps_of([busy(date), Reply(200, {}, b"1")])
    assert 40 < pause < 52
    for unreadable in ("soon", "-5", ""):
        (pause,), _ = steps_of([busy(unreadable), Reply(200, {}, b"1")])
        assert pause < 1
    pauses, error = steps_of([busy("3600")])
    assert (pauses, error.retry_after, str(error)) == ([], 3600.0, "later")


def test_the_error_tells_everything():
    fault = problem(429, "queue_full", Retry_After="17")
    with failing([fault]) as server, pytest.raises(nd.ServiceError) as caught:
        checked(server.url, "sync", retries=0)
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert isinstance(error, nd.ServiceError)
        assert issubclass(nd.ServiceError, nd.NeardupError)
        assert str(error) == "the sentence of queue_full"
        assert (error.status, error.code, error.retry_after) == (429, "queue_full", 17.0)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("invalid_setting", nd.SettingError),
        ("invalid_parameter", nd.SettingError),
        ("settings_differ", nd.SettingError),
        ("invalid_document", nd.InputError),
        ("index_not_found", nd.ServiceError),
    ],
)
def test_errors_are_those_of_a_local_index(code, kind):
    error = error_of(422, {}, b'{"code": "%s", "detail": "why"}' % code.encode())
    assert (type(error), str(error)) == (kind, "why")


@pytest.mark.parametrize(
    ("status", "content", "told"),
    [
        (500, b"<html>oh</html>", "the server answered 500 Internal Server Error"),
        (500, b"[1]", "the server answered 500 Internal Server Error"),
        (599, b"", "the server answered 599 without a reason"),
        (302, b"", "the server answered 302 Found"),
    ],
)
def test_answers_of_a_proxy(status, content, told):
    error = error_of(status, {}, content)
    assert isinstance(error, nd.ServiceError)
    assert (str(error), error.status, error.code) == (told, status, None)


@pytest.mark.parametrize("body", [b"", b"<html>hello</html>", b"{}", b"[]", b"null", b'{"id": 1}'])
def test_another_kind_of_server_is_noticed(body):
    with failing([Fault(200, body)]) as server, pytest.raises(nd.ServiceError) as caught:
        checked(server.url, "sync")
    assert len(server.seen) == 1
    assert caught.value.code == "unexpected_answer"
    assert "POST /v1/indexes/pages/check" in str(caught.value)


def test_nobody_is_there():
    with socket.socket() as bound:  # bound, but not listening
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        for flavour in ("sync", "async"):
            with pytest.raises(nd.ServiceError, match=f"{url} cannot be reached: ") as caught:
                checked(url, flavour, retries=1)
            assert (caught.value.status, caught.value.code) == (None, "unreachable")


def test_nobody_answers():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        for flavour in ("sync", "async"):
            with pytest.raises(nd.ServiceError, match=r"not answered within 0\.05 s") as caught:
                checked(url, flavour, timeout=0.05, retries=1)
            assert caught.value.code == "no_answer"


def test_what_is_sent():
    with failing([GOOD]) as server:
        with nd.Client(server.url + "/below/", key="a secret") as client:
            assert client.index("a b?ü").check("x", "text", ttl="1d", threshold=0.9).is_new
            assert "a secret" not in repr(client) + repr(client.index("pages"))
        (method, path, body, headers) = server.seen[0]
    assert method == "POST"
    assert path == (
        "/below/v1/indexes/a%20b%3F%C3%BC/check?add=new&keep_per_group=1&ttl=1d&threshold=0.9"
        "&limit=10"
    )
    assert body == b'{"id":"x","text":"text"}'
    assert headers["authorization"] == "Bearer a secret"
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"] == f"neardup/{nd.__version__}"


def test_a_broken_download_leaves_nothing_behind(tmp_path):
    target = tmp_path / "kept.parquet"
    whole = Fault(200, b"x" * 100_000)
    torn = Fault(200, b"y" * 100_000, cut=50_000)
    with failing([torn, torn, whole, torn]) as server, nd.Client(server.url, retries=2) as client:
        client.download("17", "kept.parquet", target)
        assert target.read_bytes() == whole.body
        with pytest.raises(nd.ServiceError, match="broke before the answer was complete"):
            client.download("17", "kept.parquet", target)
    assert target.read_bytes() == whole.body
    assert list(tmp_path.iterdir()) == [target]
    assert server.seen[0][1] == "/v1/jobs/17/files/kept.parquet"


def test_a_refused_download_writes_nothing(tmp_path):
    with failing([problem(404, "job_not_found")]) as server, nd.Client(server.url) as client:
        with pytest.raises(nd.ServiceError, match="the sentence of job_not_found"):
            client.download("17", "a", tmp_path / "a")
        with pytest.raises(nd.NeardupError, match="there is no folder"):
            client.download("17", "a", tmp_path / "none" / "a")
    assert list(tmp_path.iterdir()) == []
    assert len(server.seen) == 1
