"""One measurement of a stored run in a process of its own: what to do and a folder in, JSON out."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

Json = dict[str, Any]
Calls = list[Callable[[], object]]

_SORTS = ("size", "weakest", "density", "source", "number")


def main() -> None:
    task, folder = sys.argv[1:]
    print(json.dumps({"build": build, "ask": ask}[task](folder)))


def build(folder: str) -> Json:
    """Build the index."""
    from neardup.runs import open_run

    began = time.perf_counter()
    open_run(folder)
    return {"seconds": round(time.perf_counter() - began, 2), "megabytes": megabytes()}


def ask(folder: str) -> Json:
    """Open the run, and ask what pages ask."""
    from neardup.runs import open_run

    began = time.perf_counter()
    run = open_run(folder)
    opened = time.perf_counter() - began
    pages = _Pages(run)
    first = _milliseconds(lambda: pages.answer("/"))
    rows = []
    for name, calls in (*pages.all(), *_queries(run)):
        spent = [_milliseconds(call) for call in calls]
        rows.append(
            {
                "name": name,
                "calls": len(spent),
                "best_ms": round(min(spent), 2),
                "median_ms": round(median(spent), 2),
                "worst_ms": round(max(spent), 2),
            }
        )
        print(rows[-1], file=sys.stderr)
    return {
        "open_seconds": round(opened, 3),
        "first_page_ms": round(first, 1),
        "largest_page_kilobytes": round(pages.largest / 1e3, 1),
        "queries": rows,
        "megabytes": megabytes(),
    }


class _Pages:
    """The pages of the explorer, as its server asks for them; `largest` is in bytes."""

    def __init__(self, run: Any) -> None:
        from neardup.explore.app import Explorer

        self._run, self._explorer = run, Explorer(run, reviewer="ann")
        self.largest = 0

    def answer(self, address: str) -> None:
        from urllib.parse import urlsplit

        from neardup.explore.http import Request, read_fields

        parts = urlsplit(address)
        request = Request(
            "GET", parts.path, query=read_fields(parts.query), headers={"host": "localhost"}
        )
        response = self._explorer.respond(request)
        if response.status != 200:
            raise AssertionError(f"{address} answers {response.status}")
        self.largest = max(self.largest, len(response.body))

    def all(self) -> Iterator[tuple[str, Calls]]:
        run = self._run
        numbers = range(0, run.clusters_count, max(1, run.clusters_count // 20))
        places = range(0, run.documents, max(1, run.documents // 20))
        ids = [run.document(place).id for place in places]
        words = [run.text(place).split() for place in places]
        addresses = {
            "overview": ["/"] * 5,
            "clusters": [
                f"/clusters?sort={sort}&page={page}" for sort in _SORTS for page in (1, 9)
            ],
            "search of clusters": [f"/clusters?search={one[7]}+{one[9]}" for one in words],
            "a cluster": [f"/clusters/{number}" for number in numbers],
            "a document": [f"/documents/{id}" for id in ids],
            "review": [f"/review?at={at}" for at in range(0, 200, 10)],
            "threshold": ["/threshold"] * 5,
        }
        for name, some in addresses.items():
            yield f"page: {name}", [partial(self.answer, address) for address in some]


def _milliseconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1e3


def megabytes() -> float:
    """The peak memory of this process. Its rusage would begin with that of its parent."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    (found,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return round(int(found) * 1024 / 1e6, 1)


def _queries(run: Any) -> Iterator[tuple[str, Calls]]:
    from neardup.runs import ClusterQuery

    def clusters(**asked: Any) -> Callable[[], object]:
        return lambda: run.clusters(ClusterQuery(**asked))

    count = run.clusters_count
    pages = [1, 2, 10, count // 50, count // 25]
    for sort in _SORTS:
        yield (
            f"clusters by {sort}",
            [
                clusters(sort=sort, descending=way, page=page)
                for way in (True, False)
                for page in pages
            ],
        )
    yield (
        "clusters, filtered",
        [
            clusters(size_least=3, similarity_most=0.9, page=page, sort=sort)
            for page in (1, 50)
            for sort in _SORTS
        ],
    )
    yield "clusters, undecided", [clusters(undecided=True, page=page) for page in (1, 2, 50)]
    places = list(range(0, run.documents, max(1, run.documents // 20)))
    words = [run.text(place).split() for place in places]
    yield "search: the most common word", [clusters(search=_common(words))]
    yield "search: a word", [clusters(search=text[7]) for text in words]
    yield "search: two words", [clusters(search=f"{text[3]} {text[9]}") for text in words]
    yield "search: a phrase", [clusters(search=f'"{" ".join(text[4:7])}"') for text in words]
    yield "search: a column", [clusters(search=f"title:{text[1]}") for text in words]
    yield "search: an id", [clusters(search=f"doc-{place:07}") for place in places]
    yield "search: beginning of ids", [clusters(search=f"doc-{digit:03}") for digit in range(5)]
    numbers = list(range(0, count, max(1, count // 20)))
    yield "members of a cluster", [partial(run.members, number) for number in numbers]
    yield (
        "members with texts and pairs",
        [partial(_page, run, number) for number in numbers],
    )
    yield "a document", [partial(run.document, place) for place in places]
    yield "a row", [partial(run.row, place) for place in places]
    yield "neighbours", [partial(run.neighbours, place) for place in places]
    yield "queue", [partial(run.queue, start, 25, "ann") for start in (0, 25, 1000)]
    yield "queue, progress", [lambda: run.queue_progress("ann")] * 3
    yield (
        "plots",
        [
            run.similarity_histogram,
            run.size_histogram,
            run.distance_histogram,
            run.length_histogram,
            run.matrix,
            run.threshold_table,
        ],
    )
    yield "matrix of a column", [lambda: run.matrix("kind")] * 3


def _page(run: Any, number: int) -> None:
    places = [member.place for member in run.members(number)]
    run.texts(places)
    run.links(places)


def _common(texts: list[list[str]]) -> str:
    every = [word for text in texts for word in text]
    return max(sorted(set(every)), key=every.count)


if __name__ == "__main__":
    main()
