"""A server for all tests of the clients, and an index of one's own for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest
from tests.client.running import Running, serving

import neardup as nd


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("served") / "data") as running:
        yield running


@pytest.fixture
def client(server: Running) -> Iterator[nd.Client]:
    with nd.Client(server.url) as client:
        yield client


@pytest.fixture
def index_name() -> str:
    return f"test-{uuid4().hex[:12]}"


class Awaited:
    """An asynchronous object whose methods are waited for, to be tested like any other."""

    def __init__(self, held: Any, run: Callable[[Any], Any]) -> None:
        self._held, self._run = held, run

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._held, name)
        if asyncio.iscoroutine(found):
            return self._run(found)
        if not asyncio.iscoroutinefunction(found):
            return found
        return lambda *args, **named: self._run(found(*args, **named))

    def __len__(self) -> int:
        return self._run(self._held.count())

    def __contains__(self, id: object) -> bool:
        return self._run(self._held.contains(id))


@pytest.fixture(params=["memory", "disk", "client", "async"])
def make(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Callable[..., Any]]:
    """Makes an index of any kind with the given settings."""
    kind = request.param
    if kind in ("memory", "disk"):
        made: list[Any] = []

        def local(**settings: Any) -> Any:
            if kind == "memory":
                made.append(nd.MemoryIndex(**settings))
            else:
                made.append(nd.Index(tmp_path / f"{len(made)}.index", sync=False, **settings))
            return made[-1]

        yield local
        for index in made:
            index.close()
        return
    url = request.getfixturevalue("server").url
    if kind == "client":
        with nd.Client(url) as client:
            yield lambda **settings: client.create_index(f"test-{uuid4().hex[:12]}", **settings)
        return
    loop = asyncio.new_event_loop()
    other = nd.AsyncClient(url)
    run = loop.run_until_complete

    def remote(**settings: Any) -> Any:
        made = other.create_index(f"test-{uuid4().hex[:12]}", **settings)
        return Awaited(run(made), run)

    yield remote
    run(other.close())
    loop.close()
