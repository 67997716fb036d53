"""The limits of the service: what one request may be, and how much may wait."""

from __future__ import annotations

from dataclasses import dataclass

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Limits:
    """Sizes are in bytes, times in seconds.

    Attributes:
        body: A JSON or Arrow body, packed and unpacked. NDJSON streams may be longer.
        text: A document, as a line of NDJSON or an element of a JSON body.
        documents: Documents in a JSON or Arrow body.
        features: Features of a document.
        answers: The answers to a stream, which are kept until all of it is read.
        faults: Wrong lines of an NDJSON stream; one more ends it.
        requests: Requests that a worker works on at the same time.
        streams: Streams that a worker reads at the same time.
        portion: Bytes of a stream that are read, worked on and committed together. A stream has
            three portions in memory, with what is made of them: about ten times this size.
        waiting: Writes that wait for the writer, for one index.
        waiting_bytes: Size of the writes that wait for the writer, in all.
        headers: The request line and all headers.
        header_seconds: Until the headers have arrived.
        body_seconds: Between two pieces of a body, and for a client to take what is sent to it.
        idle_seconds: Until an idle connection is closed.
        drain_seconds: For requests to end after SIGTERM.
    """

    body: int = 64 * MEGABYTE
    text: int = 16 * MEGABYTE
    documents: int = 10_000
    features: int = 2_000_000
    answers: int = 4_000 * MEGABYTE
    faults: int = 10_000
    requests: int = 512
    streams: int = 4
    portion: int = 8 << 20
    waiting: int = 1024
    waiting_bytes: int = 256 << 20
    headers: int = 64 << 10
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    idle_seconds: float = 75.0
    drain_seconds: float = 30.0


def size_words(size: int) -> str:
    """A size for a sentence.

    >>> size_words(64_000_000)
    '64 MB'
    """
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size >= factor:
            return f"{size / factor:.4g} {unit}"
    return f"{size} bytes"
