"""What both clients need to talk HTTP: the address, the key, time limits, and httpx itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from inspect import signature
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar
from urllib.parse import urlsplit

from neardup.client.call import Call
from neardup.client.errors import ServiceError
from neardup.errors import NeardupError, SettingError
from neardup.frozen import dataclass

if TYPE_CHECKING:
    import httpx

Method = TypeVar("Method", bound=Callable[..., Any])

_LONGEST_WORK = 3600.0  # seconds, for what takes longer the larger an index is
_CONNECTIONS = 100  # kept open for the next call


def require_httpx() -> None:
    """Raise an error that says how to install httpx, if it cannot be imported."""
    try:
        import httpx  # noqa: F401 - only whether it can be imported
    except ImportError as error:
        raise NeardupError(
            f"a client of neardup serve needs httpx, which cannot be imported ({error}); install "
            "it with pip install 'neardup[serve]'"
        ) from None


@dataclass(frozen=True)
class Connection:
    """Where a server is, and how to talk to it. Nothing is connected yet."""

    url: str
    key: str | None
    timeout: float
    retries: int

    @classmethod
    def of(cls, url: Any, key: Any, timeout: Any, retries: Any) -> Connection:
        """Check the arguments of a client."""
        require_httpx()
        if not isinstance(url, str) or not _is_address(url):
            raise SettingError(
                f"url={url!r} is not the address of a server; write it like http://127.0.0.1:7700"
            )
        if key is not None and not (isinstance(key, str) and key and key.isascii()):
            raise SettingError("key must be a text of ASCII characters, as neardup keys made it")
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0:
            raise SettingError(f"timeout={timeout!r} must be a number of seconds above 0")
        whole = isinstance(retries, SupportsIndex) and not isinstance(retries, bool)
        if not whole or int(retries) < 0:
            raise SettingError(f"retries={retries!r} must be a whole number, 0 or more")
        return cls(url.rstrip("/"), key, float(timeout), int(retries))

    def options(self) -> dict[str, Any]:
        """The arguments of an httpx client."""
        import httpx

        from neardup import __version__

        headers = {"User-Agent": f"neardup/{__version__}"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        return {
            "headers": headers,
            # Threads may wait for a connection as long as others need theirs.
            "timeout": httpx.Timeout(self.timeout, pool=None),
            "limits": httpx.Limits(
                max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS
            ),
        }

    def request(self, call: Call[Any]) -> dict[str, Any]:
        """The arguments of an httpx request."""
        import httpx

        found: dict[str, Any] = {
            "method": call.method,
            "url": self.url + call.path,
            "params": call.parameters or None,
        }
        if call.body is not None:
            found |= {"content": call.body, "headers": {"Content-Type": "application/json"}}
        if call.slow:
            found["timeout"] = httpx.Timeout(self.timeout, pool=None, read=_LONGEST_WORK)
        return found

    def failure(self, error: httpx.RequestError) -> ServiceError:
        """The error to raise if no answer comes."""
        import httpx

        reason = str(error) or type(error).__name__
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return ServiceError(
                f"{self.url} cannot be reached: {reason}; check the address, and that neardup "
                "serve is running there",
                code="unreachable",
            )
        if isinstance(error, httpx.TimeoutException):
            return ServiceError(
                f"{self.url} has not answered within {self.timeout:g} s; try again later, or give "
                "the client a longer timeout",
                code="no_answer",
            )
        return ServiceError(
            f"the connection to {self.url} broke before the answer was complete: {reason}; try "
            "again",
            code="broken",
        )


def closed() -> NeardupError:
    """The error to raise if a client is used after it was closed."""
    return NeardupError("the client is closed; make a new one")


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port  # a ValueError if it is none
    except ValueError:
        return False
    more = parts.query or parts.fragment
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not more


def described_by(steps: Callable[..., Any]) -> Callable[[Method], Method]:
    """Give a method the name, documentation and signature of the steps that it runs.

    Its return type is what the steps lead to.
    """
    answer = str(steps.__annotations__["return"]).removeprefix("Steps[").removesuffix("]")
    shown = signature(steps).replace(return_annotation=answer)

    def decorate(method: Method) -> Method:
        told: Any = update_wrapper(method, steps)
        told.__annotations__ = {**steps.__annotations__, "return": shown.return_annotation}
        told.__signature__ = shown
        del told.__wrapped__
        return method

    return decorate
