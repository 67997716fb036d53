"""`AsyncClient`: a server, asked by coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from neardup.client.call import Call, Pause, Reply, Steps
from neardup.client.connection import Connection, closed, described_by
from neardup.client.index_steps import IndexSteps
from neardup.client.server_steps import ServerSteps
from neardup.settings import suggests_settings

if TYPE_CHECKING:
    from typing_extensions import Self

    from neardup.fingerprints import Scheme
    from neardup.index.settings import IndexSettings

P = ParamSpec("P")
T = TypeVar("T")


def _awaiting(
    steps: Callable[Concatenate[Any, P], Steps[T]],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """The coroutine that runs some steps and returns what they lead to."""

    @described_by(steps)
    async def method(
        self: AsyncClient | AsyncRemoteIndex, /, *args: P.args, **named: P.kwargs
    ) -> T:
        return await self._run(steps(self._steps, *args, **named))

    return method


class AsyncClient:
    """A server that runs `neardup serve`, for asyncio: `Client` with methods to be awaited.

    Args:
        url: The address of the server.
        key: The key, if the server asks for one.
        timeout: How many seconds to wait for a connection, and for each part of an answer.
        retries: How often to repeat a call at most.

    >>> import neardup as nd
    >>> nd.AsyncClient("http://127.0.0.1:7700").index("pages")
    <AsyncRemoteIndex pages on http://127.0.0.1:7700>
    """

    @suggests_settings
    def __init__(
        self, url: str, key: str | None = None, timeout: float = 30.0, retries: int = 5
    ) -> None:
        self._connection = Connection.of(url, key, timeout, retries)
        self._steps = ServerSteps(self._connection.retries)
        import httpx

        self._http = httpx.AsyncClient(**self._connection.options())

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._connection.url

    def index(self, name: str) -> AsyncRemoteIndex:
        """An index of the server, by name; whether it exists shows at the first call."""
        return AsyncRemoteIndex(self, IndexSteps(name, self._connection.retries))

    async def create_index(self, name: str, **settings: Any) -> AsyncRemoteIndex:
        """Create an index with the settings of `nd.Index`, unless it exists with the same ones."""
        await self._run(self._steps.create_index(name, **settings))
        return self.index(name)

    indexes = _awaiting(ServerSteps.indexes)
    delete_index = _awaiting(ServerSteps.delete_index)
    fingerprint = _awaiting(ServerSteps.fingerprint)
    compare = _awaiting(ServerSteps.compare)
    submit_job = _awaiting(ServerSteps.submit_job)
    jobs = _awaiting(ServerSteps.jobs)
    job = _awaiting(ServerSteps.job)
    cancel_job = _awaiting(ServerSteps.cancel_job)
    wait_for_job = _awaiting(ServerSteps.wait_for_job)
    download = _awaiting(ServerSteps.download)

    async def close(self) -> None:
        """Close all connections; the client and its indexes cannot be used afterwards."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncClient of {self.url}>"

    async def _run(self, steps: Steps[T]) -> T:
        import httpx

        try:
            if self._http.is_closed:
                raise closed()
            step = next(steps)
            while True:
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    step = next(steps)
                    continue
                try:
                    reply = await self._send(step)
                except httpx.RequestError as error:
                    step = steps.throw(self._connection.failure(error))
                else:
                    step = steps.send(reply)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        finally:
            steps.close()

    async def _send(self, call: Call[Any]) -> Reply:
        async with self._http.stream(**self._connection.request(call)) as response:
            if call.into is not None and response.is_success:
                with call.into.open("wb") as file:
                    async for piece in response.aiter_bytes():
                        file.write(piece)
            else:
                await response.aread()
                return Reply(response.status_code, response.headers, response.content)
        return Reply(response.status_code, response.headers, b"")


class AsyncRemoteIndex:
    """An index on a server, with the methods of `nd.Index` to be awaited.

    It is made by `AsyncClient.index`. `await index.settings` gives the settings; `await
    index.contains(id)` and `await index.count()` stand for `id in index` and `len(index)`.
    """

    def __init__(self, client: AsyncClient, steps: IndexSteps) -> None:
        self._client = client
        self._steps = steps

    @property
    def name(self) -> str:
        return self._steps.name

    @property
    async def settings(self) -> IndexSettings:
        """The settings that the index was created with."""
        return await self._run(self._steps.settings())

    @property
    async def scheme(self) -> Scheme:
        return await self._run(self._steps.scheme())

    info = _awaiting(IndexSteps.info)
    add = _awaiting(IndexSteps.add)
    add_many = _awaiting(IndexSteps.add_many)
    check = _awaiting(IndexSteps.check)
    check_many = _awaiting(IndexSteps.check_many)
    query = _awaiting(IndexSteps.query)
    query_many = _awaiting(IndexSteps.query_many)
    get = _awaiting(IndexSteps.get)
    contains = _awaiting(IndexSteps.contains)
    count = _awaiting(IndexSteps.count)
    delete = _awaiting(IndexSteps.delete)
    delete_many = _awaiting(IndexSteps.delete_many)
    expire = _awaiting(IndexSteps.expire)
    stats = _awaiting(IndexSteps.stats)
    compact = _awaiting(IndexSteps.compact)
    backup = _awaiting(IndexSteps.backup)
    compare = _awaiting(IndexSteps.compare)

    async def close(self) -> None:
        """Do nothing, as the client may be in use: closing that closes the connections."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncRemoteIndex {self.name} on {self._client.url}>"

    async def _run(self, steps: Steps[T]) -> T:
        return await self._client._run(steps)
