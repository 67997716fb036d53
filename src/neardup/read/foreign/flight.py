"""Tables of Arrow Flight servers, at URLs such as `grpc://host:8815/pages`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from neardup.errors import InputError, UnreadableError
from neardup.read.foreign.address import scheme_of
from neardup.read.foreign.table import ForeignTable, listed
from neardup.read.limits import printable

_SECONDS = 20.0  # to be told about a table; its rows may take as long as they need


@contextmanager
def opened_flight(url: str) -> Iterator[ForeignTable]:
    """Open a table of a Flight server: the parts of its path are the path of the descriptor."""
    flight = _package(url)
    host, _, path = url.partition("://")[2].partition("/")
    if "@" in host:
        raise InputError(
            f"{scheme_of(url)}:// URLs with a password are not supported; read the stream in "
            "Python, and give it to nd.dedup"
        )
    place = f"{scheme_of(url)}://{host}"
    try:
        with closing(flight.connect(place)) as client:
            found = _info(flight, client, place, unquote(path), url)
            readers = (_reader(flight, client, endpoint) for endpoint in found.endpoints)
            schema = found.schema
            if schema is None or not len(schema):
                raise UnreadableError(f"{url} has no columns; check the path")
            yield ForeignTable(schema, (chunk for reader in readers for chunk in reader))
    except (flight.FlightError, pa.ArrowException) as error:
        said = printable(str(error))
        raise UnreadableError(f"{url} cannot be read: {said}") from error


def _package(url: str) -> Any:
    try:
        import pyarrow.flight
    except ImportError:
        raise InputError(
            f"{url} needs a pyarrow with Flight, which this one lacks; install pyarrow from PyPI"
        ) from None
    return pyarrow.flight


def _info(flight: Any, client: Any, place: str, path: str, url: str) -> Any:
    options = flight.FlightCallOptions(timeout=_SECONDS)
    if path:
        return client.get_flight_info(flight.FlightDescriptor.for_path(*path.split("/")), options)
    paths = [
        "/".join(part.decode("utf-8", "replace") for part in info.descriptor.path)
        for info in client.list_flights(options=options)
        if info.descriptor.path
    ]
    if not paths:
        raise UnreadableError(f"{url} names no table, and the server lists none; add its path")
    raise UnreadableError(
        f"{url} names no table; those of the server are {listed(paths)}; name one, for example "
        f"{place}/{paths[0]}"
    )


def _reader(flight: Any, client: Any, endpoint: Any) -> Iterator[pa.RecordBatch]:
    """The batches behind one endpoint, which may be at another server."""
    if not endpoint.locations:
        yield from _chunks(client.do_get(endpoint.ticket))
        return
    with closing(flight.connect(endpoint.locations[0])) as other:
        yield from _chunks(other.do_get(endpoint.ticket))


def _chunks(reader: Any) -> Iterator[pa.RecordBatch]:
    for chunk in reader:
        if chunk.data is not None:
            yield chunk.data
