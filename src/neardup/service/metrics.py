"""Counters and histograms of all processes, in memory that they share, and Prometheus' text form.

The supervisor makes the memory before it starts a process. Every process adds to a row of its own,
so that nothing is locked and nothing is lost between two of them; the sum of the rows is the truth.
A process that takes the place of a dead one goes on with its row, so that counters never fall.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BUCKETS = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1),
    *(0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
PREFIX = "neardup"


class _Family(NamedTuple):
    name: str
    kind: str
    help: str
    edges: tuple[float, ...] = ()


class Counters:
    """Adds to the metrics of one process. `labels` of each family are fixed when it is made."""

    def __init__(self, processes: int, routes: Sequence[str], statuses: Sequence[int]) -> None:
        self._places: dict[tuple[str, ...], int] = {}
        self._families: dict[str, _Family] = {}
        self._labels: dict[str, list[tuple[str, ...]]] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        size = 0

        def family(
            found: _Family, names: tuple[str, ...], labels: Iterable[tuple[str, ...]]
        ) -> None:
            nonlocal size
            self._families[found.name] = found
            self._names[found.name] = names
            self._labels[found.name] = list(labels)
            width = len(found.edges) + 2 if found.edges else 1
            for each in self._labels[found.name]:
                self._places[(found.name, *each)] = size
                size += width

        family(
            _Family("requests_total", "counter", "Requests answered, by route and status."),
            ("route", "status"),
            ((route, str(status)) for route in routes for status in statuses),
        )
        family(
            _Family("request_seconds", "histogram", "Time to answer a request.", BUCKETS),
            ("route",),
            ((route,) for route in routes),
        )
        for name, about in (
            ("received_bytes_total", "Bytes of request bodies, as they arrived."),
            ("documents_checked_total", "Documents that were checked."),
            ("documents_queried_total", "Documents that were queried."),
            ("documents_added_total", "Documents that were stored by checks and additions."),
            ("documents_deleted_total", "Documents that were deleted."),
            ("matches_total", "Checked or queried documents that had a match."),
            ("writer_restarts_total", "Times that the writer was started again."),
            ("worker_restarts_total", "Times that a worker was started again."),
        ):
            family(_Family(name, "counter", about), (), [()])
        for name, about in (
            ("requests_in_progress", "Requests that are being worked on."),
            ("writes_waiting", "Writes that wait for the writer."),
            ("writes_waiting_bytes", "Size of the writes that wait for the writer."),
            ("jobs_waiting", "Jobs that wait."),
            ("jobs_running", "Jobs that run."),
        ):
            family(_Family(name, "gauge", about), (), [()])
        family(
            _Family("commit_seconds", "histogram", "Time of a transaction of the writer.", BUCKETS),
            (),
            [()],
        )
        family(
            _Family("commit_requests", "histogram", "Requests in a transaction.", SIZES), (), [()]
        )
        self._memory = mmap.mmap(-1, max(1, processes * size) * 8)
        self._all: NDArray[np.float64] = np.frombuffer(self._memory, np.float64)[
            : processes * size
        ].reshape(processes, size)
        self._row = memoryview(self._memory).cast("d")
        self._size = size
        self._begin = 0

    def belong_to(self, process: int) -> None:
        """Add to the row of this process from now on; its gauges begin at zero."""
        self._begin = process * self._size
        for name, family in self._families.items():
            if family.kind == "gauge":
                self.set(name, 0)

    def add(self, name: str, amount: float = 1, *labels: str) -> None:
        """Add to a counter or a gauge."""
        self._row[self._begin + self._places[(name, *labels)]] += amount

    def set(self, name: str, value: float) -> None:
        """Set a gauge."""
        self._row[self._begin + self._places[(name,)]] = value

    def observe(self, name: str, value: float, *labels: str) -> None:
        """Add a value to a histogram."""
        family = self._families[name]
        place = self._begin + self._places[(name, *labels)]
        for edge in family.edges:
            if value <= edge:
                break
            place += 1
        row = self._row
        row[place] += 1
        row[self._begin + self._places[(name, *labels)] + len(family.edges) + 1] += value

    def total(self, name: str, *labels: str) -> float:
        """The sum of a counter over all processes."""
        return float(self._all[:, self._places[(name, *labels)]].sum())

    def text(self, gauges: Mapping[str, tuple[str, Mapping[str, float]]]) -> str:
        """All metrics in Prometheus' text form, and gauges by index: name → (help, values)."""
        return "".join(f"{line}\n" for line in self._lines(gauges))

    def _lines(self, gauges: Mapping[str, tuple[str, Mapping[str, float]]]) -> Iterator[str]:
        summed = self._all.sum(axis=0)
        for name, family in self._families.items():
            yield f"# HELP {PREFIX}_{name} {family.help}"
            yield f"# TYPE {PREFIX}_{name} {family.kind}"
            for labels in self._labels[name]:
                place = self._places[(name, *labels)]
                named = dict(zip(self._names[name], labels, strict=True))
                if family.edges:
                    yield from _histogram(name, family.edges, named, summed[place:])
                elif summed[place] or not labels:
                    yield f"{PREFIX}_{name}{_braces(named)} {_number(summed[place])}"
        for name, (about, values) in gauges.items():
            yield f"# HELP {PREFIX}_{name} {about}"
            yield f"# TYPE {PREFIX}_{name} gauge"
            for index, value in values.items():
                yield f"{PREFIX}_{name}{_braces({'index': index})} {_number(value)}"


def _histogram(
    name: str, edges: tuple[float, ...], labels: dict[str, str], values: NDArray[np.float64]
) -> Iterator[str]:
    counts = np.cumsum(values[: len(edges) + 1])
    if labels and not counts[-1]:
        return
    for edge, count in zip((*edges, "+Inf"), counts, strict=True):
        bucket = _braces({**labels, "le": str(edge)})
        yield f"{PREFIX}_{name}_bucket{bucket} {_number(count)}"
    yield f"{PREFIX}_{name}_sum{_braces(labels)} {_number(values[len(edges) + 1])}"
    yield f"{PREFIX}_{name}_count{_braces(labels)} {_number(counts[-1])}"


def _braces(labels: Mapping[str, str]) -> str:
    # Names of indexes, routes and statuses have no character that would have to be escaped.
    inside = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"{{{inside}}}" if inside else ""


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
