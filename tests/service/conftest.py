"""Running services: one for the tests of a module, and others with options of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from tests.service.running import Server, limited, served

Starts = Callable[..., Server]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service for a whole module; it must end well, and must not have failed."""
    running = served(tmp_path_factory.mktemp("served") / "data")
    yield running
    code = running.stop()
    failures = [event for event in running.events() if event["event"] in ("failure", "died")]
    assert (code, failures) == (0, []), running.said()[-5000:]
    assert "Traceback" not in running.said()


@pytest.fixture(scope="module")
def client(server: Server) -> httpx.Client:
    return server.client


@pytest.fixture(scope="module")
def start_for_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starts]:
    """Starts services with options, or with `limits`, that end with the module."""
    yield from _starting(lambda: tmp_path_factory.mktemp("served") / "data")


@pytest.fixture
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starts]:
    """Starts services with options, or with `limits`, that end with the test."""
    yield from _starting(lambda: tmp_path_factory.mktemp("served") / "data")


@pytest.fixture
def index(client: httpx.Client) -> str:
    """The path of a new index with the default settings."""
    return make_index(client)


def make_index(client: httpx.Client, **settings: object) -> str:
    """Create an index with a name of its own; return its path."""
    path = f"/v1/indexes/test-{uuid4().hex[:12]}"
    made = client.put(path, json=settings)
    assert made.status_code == 201, made.text
    return path


def _starting(folder: Callable[[], Path]) -> Iterator[Starts]:
    started: list[Server] = []

    def start(*options: str, data: Path | None = None, **settings: object) -> Server:
        place = folder() if data is None else data
        begin = limited(place, **settings) if settings else served(place, *options)
        started.append(begin)
        return begin

    yield start
    for running in started:
        running.abandon()
