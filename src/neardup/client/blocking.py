"""`Client`: a server, asked by threads that wait for the answer."""

from __future__ import annotations

import time
from collections.abc import Callable
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


def _blocking(
    steps: Callable[Concatenate[Any, P], Steps[T]],
) -> Callable[Concatenate[Any, P], T]:
    """The method that runs some steps and returns what they lead to."""

    @described_by(steps)
    def method(self: Client | RemoteIndex, /, *args: P.args, **named: P.kwargs) -> T:
        return self._run(steps(self._steps, *args, **named))

    return method


class Client:
    """A server that runs `neardup serve`, for any number of threads.

    Nothing is connected until the first call. Calls that may be repeated are repeated after a
    broken connection and after the answers 429, 502, 503 and 504, with growing pauses.

    Args:
        url: The address of the server.
        key: The key, if the server asks for one.
        timeout: How many seconds to wait for a connection, and for each part of an answer.
        retries: How often to repeat a call at most.

    >>> import neardup as nd
    >>> with nd.Client("http://127.0.0.1:7700", key="secret") as client:
    ...     client.index("pages")
    <RemoteIndex pages on http://127.0.0.1:7700>
    """

    @suggests_settings
    def __init__(
        self, url: str, key: str | None = None, timeout: float = 30.0, retries: int = 5
    ) -> None:
        self._connection = Connection.of(url, key, timeout, retries)
        self._steps = ServerSteps(self._connection.retries)
        import httpx

        self._http = httpx.Client(**self._connection.options())

    @property
    def url(self) -> str:
        """The address of the server."""
        return self._connection.url

    def index(self, name: str) -> RemoteIndex:
        """An index of the server, by name; whether it exists shows at the first call."""
        return RemoteIndex(self, IndexSteps(name, self._connection.retries))

    def create_index(self, name: str, **settings: Any) -> RemoteIndex:
        """Create an index with the settings of `nd.Index`, unless it exists with the same ones."""
        self._run(self._steps.create_index(name, **settings))
        return self.index(name)

    indexes = _blocking(ServerSteps.indexes)
    delete_index = _blocking(ServerSteps.delete_index)
    fingerprint = _blocking(ServerSteps.fingerprint)
    compare = _blocking(ServerSteps.compare)
    submit_job = _blocking(ServerSteps.submit_job)
    jobs = _blocking(ServerSteps.jobs)
    job = _blocking(ServerSteps.job)
    cancel_job = _blocking(ServerSteps.cancel_job)
    wait_for_job = _blocking(ServerSteps.wait_for_job)
    download = _blocking(ServerSteps.download)

    def close(self) -> None:
        """Close all connections; the client and its indexes cannot be used afterwards."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self.url}>"

    def _run(self, steps: Steps[T]) -> T:
        import httpx

        try:
            if self._http.is_closed:
                raise closed()
            step = next(steps)
            while True:
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    step = next(steps)
                    continue
                try:
                    reply = self._send(step)
                except httpx.RequestError as error:
                    step = steps.throw(self._connection.failure(error))
                else:
                    step = steps.send(reply)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        finally:
            steps.close()

    def _send(self, call: Call[Any]) -> Reply:
        with self._http.stream(**self._connection.request(call)) as response:
            if call.into is not None and response.is_success:
                with call.into.open("wb") as file:
                    for piece in response.iter_bytes():
                        file.write(piece)
            else:
                response.read()
                return Reply(response.status_code, response.headers, response.content)
        return Reply(response.status_code, response.headers, b"")


class RemoteIndex:
    """An index on a server, with the methods of `nd.Index`; made by `Client.index`.

    Threads may share it. Every method is a request, `len(index)` and `id in index` too.
    """

    def __init__(self, client: Client, steps: IndexSteps) -> None:
        self._client = client
        self._steps = steps

    @property
    def name(self) -> str:
        return self._steps.name

    @property
    def settings(self) -> IndexSettings:
        """The settings that the index was created with."""
        return self._run(self._steps.settings())

    @property
    def scheme(self) -> Scheme:
        return self._run(self._steps.scheme())

    info = _blocking(IndexSteps.info)
    add = _blocking(IndexSteps.add)
    add_many = _blocking(IndexSteps.add_many)
    check = _blocking(IndexSteps.check)
    check_many = _blocking(IndexSteps.check_many)
    query = _blocking(IndexSteps.query)
    query_many = _blocking(IndexSteps.query_many)
    get = _blocking(IndexSteps.get)
    delete = _blocking(IndexSteps.delete)
    delete_many = _blocking(IndexSteps.delete_many)
    expire = _blocking(IndexSteps.expire)
    stats = _blocking(IndexSteps.stats)
    compact = _blocking(IndexSteps.compact)
    backup = _blocking(IndexSteps.backup)
    compare = _blocking(IndexSteps.compare)

    def close(self) -> None:
        """Do nothing, as the client may be in use: closing that closes the connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __contains__(self, id: object) -> bool:
        return self._run(self._steps.contains(id))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self._run(self._steps.count())

    def __bool__(self) -> bool:
        """Always True: otherwise the question whether there is an index would be a request."""
        return True

    def __repr__(self) -> str:
        return f"<RemoteIndex {self.name} on {self._client.url}>"

    def _run(self, steps: Steps[T]) -> T:
        return self._client._run(steps)
