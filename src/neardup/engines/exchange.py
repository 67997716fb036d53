"""Steps that exchange messages: what a distributed engine has to run.

A job is a row of steps. Each step is done by a number of tasks, on any machines and in any order;
every task gets the messages that tasks of the step before have sent to it. What the last step sends
goes to the caller. A step is a plain function, so an engine only has to start tasks and to carry
messages: `InProcess` here, Spark in `engines/spark.py`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.frozen import dataclass

_ALIGNED = 8
_ARROW = "arrow"


@dataclass(frozen=True, eq=False)
class Message:
    """Some bytes for the task `to`; `tag` says what they are, or where they come from."""

    to: int
    tag: int
    blob: bytes


Step = Callable[[int, Iterator[Message]], Iterable[Message]]


@dataclass(frozen=True, eq=False)
class Tasks:
    """A step and the number of tasks that do it, each with its own number."""

    step: Step
    count: int


class Engine(Protocol):
    """Runs jobs; the messages to a task come in any order."""

    @property
    def cores(self) -> int:
        """How many tasks run at the same time."""

    def run(self, name: str, job: Sequence[Tasks]) -> list[Message]:
        """Do all steps; the messages that the last one sends, in any order."""


class InProcess:
    """Runs one task after the other in this process: the slow twin of a cluster."""

    def __init__(self, cores: int = 2) -> None:
        self.cores = cores

    def run(self, name: str, job: Sequence[Tasks]) -> list[Message]:
        """Do all steps; messages come in the reverse order, because no step may rely on it."""
        sent: list[Message] = []
        for tasks in job:
            mail: list[list[Message]] = [[] for _ in range(tasks.count)]
            for message in sent:
                mail[message.to].append(message)
            sent = []
            for number, messages in enumerate(mail):
                sent += tasks.step(number, iter(messages))
            sent.reverse()
        return sent


def in_order(messages: Iterable[Message]) -> list[Message]:
    """The messages by their tags, so that a step does the same in every run."""
    return sorted(messages, key=lambda message: message.tag)


def packed(**values: NDArray[Any] | pa.Array | pa.RecordBatch | Any) -> bytes:
    """Arrays of NumPy and Arrow, record batches and plain values as bytes.

    >>> unpacked(packed(a=np.arange(3), b=pa.array(["x"]), c=None))["a"]
    array([0, 1, 2])
    """
    header: dict[str, Any] = {}
    parts: list[Any] = []
    size = 0
    for name, value in values.items():
        kind: Any
        if isinstance(value, np.ndarray):
            data, kind = np.ascontiguousarray(value), [value.dtype.str, list(value.shape)]
        elif isinstance(value, pa.Array | pa.RecordBatch):
            data, kind = np.frombuffer(_ipc(value), np.uint8), _ARROW
            kind += "" if isinstance(value, pa.Array) else " table"
        else:
            header[name] = {"value": value}
            continue
        padding = -size % _ALIGNED
        header[name] = {"kind": kind, "at": size + padding, "bytes": data.nbytes}
        parts += [bytes(padding), data]
        size += padding + data.nbytes
    head = json.dumps(header).encode()
    head += b" " * (-(len(head) + _ALIGNED) % _ALIGNED)
    return b"".join((len(head).to_bytes(_ALIGNED, "little"), head, *parts))


def unpacked(blob: Any) -> dict[str, Any]:
    """What `packed` made bytes of; arrays of numbers are views of the bytes."""
    view = memoryview(blob)
    begin = _ALIGNED + int.from_bytes(view[:_ALIGNED], "little")
    found = {}
    for name, one in json.loads(bytes(view[_ALIGNED:begin])).items():
        if "value" in one:
            found[name] = one["value"]
            continue
        at = begin + one["at"]
        data = view[at : at + one["bytes"]]
        if isinstance(one["kind"], str):
            batch = pa.ipc.open_stream(pa.py_buffer(data)).read_next_batch()
            found[name] = batch if one["kind"] != _ARROW else batch.column(0)
        else:
            dtype, shape = one["kind"]
            found[name] = np.frombuffer(data, dtype).reshape(shape)
    return found


def _ipc(value: pa.Array | pa.RecordBatch) -> bytes:
    if isinstance(value, pa.Array):
        value = pa.RecordBatch.from_arrays([value], [""])
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, value.schema) as writer:
        writer.write_batch(value)
    return sink.getvalue()
