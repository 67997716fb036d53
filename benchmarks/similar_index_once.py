"""One measurement of the similarity index in a process of its own: JSON in, JSON out.

Rates of adding and of queries in bulk are by CPU time, single queries and checks by the clock, all
from text to matches. Linux only.
"""

from __future__ import annotations

import ctypes
import gc
import json
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from benchmarks import corpora, similar_index_pages as pages, similar_index_tools as tools
from benchmarks.measure import one_thread_each
from benchmarks.similar_index_pages import BLOCK, NEW, ORDINARY, STORED, TEMPLATES, Edited
from benchmarks.similar_index_tools import Pages, Tool

Json = dict[str, Any]
Ints = NDArray[np.int64]

AT_ONCE = 5 * BLOCK
ASKED_AT_ONCE = 2_000
WARM = 200
EDITED_BLOCKS = 20
# Shares of words; Jaccard is then about 0.8 to 0.97, and about 0.7 to 0.98.
NEAR, WIDE = (0.01, 0.035), (0.003, 0.058)
LEAST_WORDS = 20
WORD = re.compile(r"\w+")
ARXIV, DJANGO, LICENCES, EDITS = "arXiv abstracts", "Django docs", "licences", "generated edits"
BANDS = ((0.7, 0.8), (0.8, 0.85), (0.85, 0.9), (0.9, 0.95), (0.95, 1.0))
AT_THRESHOLD = 0.03
NEW_PAGE, EDITED_PAGE, TEMPLATE_PAGE = "new", "edited", "template"
EDITED_TEMPLATE = "template, edited"


def recall(task: Json) -> list[Json]:
    """Which of all pairs of a collection each tool finds, with each threshold."""
    import neardup as nd

    texts = _collection(task["corpus"], task["most"])
    if texts is None:
        return []
    found = nd.exact_pairs(texts, min(task["thresholds"]))
    a, b = (found[name].to_numpy().astype(np.int64) for name in ("a", "b"))
    keys, similar = np.r_[a << 32 | b, b << 32 | a], np.tile(found["similarity"].to_numpy(), 2)
    rows = []
    for threshold in task["thresholds"]:
        wanted = similar >= threshold
        for name in task["tools"]:
            print(f"{task['corpus']}, {threshold}, {name}", file=sys.stderr)
            answers = _answers(name, threshold, texts)
            is_found = np.isin(keys[wanted], answers)
            rows.append(
                {
                    "corpus": task["corpus"],
                    "documents": len(texts),
                    "threshold": threshold,
                    "tool": name,
                    "answers": len(answers),
                    "precision": _mean(np.isin(answers, keys[wanted])),
                    "recall": _mean(is_found),
                    "bands": _by_band(similar[wanted], is_found, threshold),
                }
            )
    return rows


def _collection(name: str, most: int) -> list[str] | None:
    """The texts of a collection, or its first `most`; None, with a word, where it is absent."""
    if name == EDITS:
        return _generated_edits(most)
    folder = {ARXIV: "arxiv", DJANGO: "django_docs", LICENCES: "licenses"}[name]
    path = corpora.DATA / folder / "docs.parquet"
    if not path.exists():
        print(f"{folder} is absent: {name} are left out", file=sys.stderr)
        return None
    documents = pq.read_table(path)
    if name == LICENCES:
        english = pc.equal(documents["language"], "en")
        long = pc.greater_equal(documents["n_words"], LEAST_WORDS)
        documents = documents.filter(pc.and_(english, long))
    return list(documents["text"][:most].to_pylist())


def _generated_edits(most: int) -> list[str]:
    """Pages, and behind them each of them once more with words exchanged."""
    block = pages.block(0).head(min(BLOCK, most // 2))
    state = np.random.RandomState([pages.SEED, most])
    edited = block.edited(range(len(block)), WIDE, state)
    return [*block.texts().to_pylist(), *(each.text for each in edited)]


def _answers(name: str, threshold: float, texts: list[str]) -> Ints:
    """What an index of all documents gives for each, as row << 32 | match, without itself."""
    with tempfile.TemporaryDirectory(prefix="neardup-bench-") as folder:
        tool = tools.make(name, threshold, Path(folder), limit=None)
        if name in tools.PEERS:  # which would cut words with the punctuation that follows them
            texts = [" ".join(WORD.findall(text)) for text in texts]
        tool.add(Pages(0, pa.chunked_array([pa.array(texts, pa.large_string())])))
        parts = []
        for first in range(0, len(texts), ASKED_AT_ONCE):
            asked = texts[first : first + ASKED_AT_ONCE]
            for row, answer in enumerate(tool.ask_many(asked), first):
                others = np.array(tool.rows(answer), np.int64)
                parts.append(row << 32 | others[others != row])
        tool.close()
    return np.concatenate(parts)


def _by_band(similar: NDArray[np.float64], is_found: NDArray[np.bool_], threshold: float) -> Json:
    """How many pairs each band of similarity has, and what share of them was found."""
    bands = {band_name(*band): band for band in BANDS if band[0] >= threshold}
    bands[band_name(threshold, threshold + AT_THRESHOLD)] = (threshold, threshold + AT_THRESHOLD)
    counted = {}
    for name, (low, high) in bands.items():
        inside = (similar >= low) & ((similar < high) | (high == 1))
        counted[name] = {"pairs": int(inside.sum()) // 2, "recall": _mean(is_found[inside])}
    return counted


def band_name(low: float, high: float) -> str:
    """A band of similarity in words.

    >>> band_name(0.8, 0.83)
    '0.8–0.83'
    """
    return f"{low:g}–{high:g}"


def _mean(values: NDArray[np.bool_]) -> float | None:
    return round(float(values.mean()), 6) if len(values) else None


def speed(task: Json) -> Json:
    """Fill an index, and ask it for new and for edited pages, one by one and in bulk."""
    n, threshold = task["n"], task["threshold"]
    with tempfile.TemporaryDirectory(prefix="neardup-bench-", dir=task["scratch"]) as folder:
        tool = tools.make(task["tool"], threshold, Path(folder))
        try:
            filled = _fill(tool, n, ORDINARY, task["most_seconds"])
            if "stopped_after" in filled:
                return filled
            tool.ready()
            new = pages.block(0, NEW).head(task["single"]).texts().to_pylist()
            edited = _edited_pages(n, task["single"], ORDINARY)
            asked = {
                NEW_PAGE: _timed_each(tool, new),
                EDITED_PAGE: _timed_each(tool, [each.text for each in edited]),
            }
            bulk = [
                text for pair in zip(new, (e.text for e in edited), strict=False) for text in pair
            ]
            list(tool.ask_many(bulk[:WARM]))
            started, wall = tool.cpu_seconds(), time.perf_counter()
            # Every answer is looked at: one that is made when it is needed is made here.
            matches = sum(len(answer) for answer in tool.ask_many(bulk))
            spent, spent_wall = tool.cpu_seconds() - started, time.perf_counter() - wall
            near = [place for place, each in enumerate(edited) if each.jaccard >= threshold]
            found = [edited[place].row in asked[EDITED_PAGE]["rows"][place] for place in near]
            return {
                **filled,
                **_flat(NEW_PAGE, asked[NEW_PAGE]),
                **_flat(EDITED_PAGE, asked[EDITED_PAGE]),
                "queries_per_second": len(bulk) / spent,
                "queries_per_wall_second": len(bulk) / spent_wall,
                "matches": matches,
                "recall": float(np.mean(found)),
                "new_with_matches": float(np.mean([len(r) > 0 for r in asked[NEW_PAGE]["rows"]])),
                "parts": {name: round(size / n, 1) for name, size in tool.sizes().items()},
            }
        finally:
            tool.close()


def _flat(kind: str, asked: Json) -> Json:
    return {f"{kind}_{name}": asked[name] for name in ("p50_microseconds", "p99_microseconds")}


def _fill(tool: Tool, n: int, collection: str, most_seconds: float) -> Json:
    """Add the first n pages; making their text is not timed."""
    pages.block(0).head(WARM).texts()
    _release()
    before = tool.megabytes()
    cpu = wall = 0.0
    for portion in _portions(0, n, collection):
        if wall > most_seconds:
            return {"stopped_after": most_seconds, "documents": portion.first}
        spent = _timed_add(tool, portion)
        cpu, wall = cpu + spent[0], wall + spent[1]
        del portion
    _release()
    return {
        "adds_per_second": n / cpu,
        "adds_per_wall_second": n / wall,
        "bytes_each": (tool.megabytes() - before) * 1e6 / n,
    }


def _timed_add(tool: Tool, portion: Pages) -> tuple[float, float]:
    if tool.wants_strings:
        _ = portion.strings
    cpu, wall = tool.cpu_seconds(), time.perf_counter()
    tool.add(portion)
    return tool.cpu_seconds() - cpu, time.perf_counter() - wall


def _portions(first: int, last: int, collection: str) -> Iterator[Pages]:
    """The stored pages from `first` to `last`, some at once."""
    while first < last:
        stop = min(last, first + AT_ONCE)
        parts = []
        for number in range(first // BLOCK, -(-stop // BLOCK)):
            start = number * BLOCK
            block = pages.block(number, STORED, collection)
            parts.append(block.part(max(first - start, 0), min(stop - start, BLOCK)).texts())
        yield Pages(first, pa.chunked_array(parts))
        first = stop


def _edited_pages(n: int, count: int, collection: str, only_family: bool = False) -> list[Edited]:
    """Some of the first n pages, from all over them, with words exchanged, in any order."""
    state = np.random.RandomState([pages.SEED, n, count])
    blocks = np.unique(np.linspace(0, (n - 1) // BLOCK, EDITED_BLOCKS).astype(int)).tolist()
    found = []
    for number in blocks:
        inside = min(BLOCK, n - number * BLOCK)
        rows = np.array(pages.family_rows(inside) if only_family else range(inside))
        some = state.permutation(rows)[: -(-count // len(blocks))].tolist()
        found += pages.block(number, STORED, collection).edited(some, NEAR, state)
    return [found[place] for place in state.permutation(len(found))[:count]]


def _timed_each(tool: Tool, texts: list[str]) -> Json:
    """How long a single query takes, and the rows that each gives."""
    ask = tool.ask
    for text in texts[:WARM]:
        ask(text)
    spent, answers = np.zeros(len(texts)), []
    for place, text in enumerate(texts):
        started = time.perf_counter()
        answer = ask(text)
        spent[place] = time.perf_counter() - started
        answers.append(answer)
    return {**_percentiles(spent), "rows": [tool.rows(answer) for answer in answers]}


def _percentiles(seconds: Sequence[float] | NDArray[np.float64]) -> Json:
    p50, p99 = np.percentile(seconds, [50, 99]) * 1e6
    return {"p50_microseconds": float(p50), "p99_microseconds": float(p99)}


def growth(task: Json) -> list[Json]:
    """Fill an index step by step, and ask it after each."""
    collection, rows = task["collection"], []
    with tempfile.TemporaryDirectory(prefix="neardup-bench-", dir=task["scratch"]) as folder:
        tool = tools.make(task["tool"], task["threshold"], Path(folder))
        first = 0
        for n in task["sizes"]:
            for portion in _portions(first, n, collection):
                tool.add(portion)
            first = n
            tool.ready()
            for kind, texts in _growth_queries(n, task["single"], collection).items():
                asked = _timed_each(tool, texts)
                rows.append(
                    {
                        "n": n,
                        "query": kind,
                        "p50_microseconds": asked["p50_microseconds"],
                        "p99_microseconds": asked["p99_microseconds"],
                        "matches": float(np.mean([len(found) for found in asked["rows"]])),
                    }
                )
        tool.close()
    return rows


def _growth_queries(n: int, count: int, collection: str) -> dict[str, list[str]]:
    new = pages.block(0, NEW).head(count).texts().to_pylist()
    if collection == ORDINARY:
        return {
            NEW_PAGE: new,
            EDITED_PAGE: [each.text for each in _edited_pages(n, count, collection)],
        }
    family = pages.block(1, NEW, TEMPLATES).texts()[:: pages.TEMPLATE_EVERY]
    members = _edited_pages(n, count, collection, only_family=True)
    return {
        NEW_PAGE: new,
        TEMPLATE_PAGE: family[:count].to_pylist(),
        EDITED_TEMPLATE: [each.text for each in members],
    }


def fill(task: Json) -> Json:
    """Make a folder with the first n pages, for checks."""
    import neardup as nd

    with nd.Index(task["folder"], threshold=task["threshold"]) as index:
        for portion in _portions(0, task["n"], ORDINARY):
            ids = [tools.page_id(row) for row in portion.rows]
            index.add_many(pa.table({"id": ids, "text": portion.texts}))
    return {}


def check(task: Json) -> Json:
    """Check pages of which half are stored ones with edits, by one caller, several, or in bulk.

    With `wait`, begins when a line comes in, so that several processes begin together.
    """
    import neardup as nd

    given = _checked_pages(task)
    with nd.Index(task["folder"], sync=task["sync"]) as index:
        if task["wait"]:
            print("ready", flush=True)
            sys.stdin.readline()
        cpu, started = time.process_time(), time.perf_counter()
        deadline = started + task["most_seconds"]
        if task["batch"]:
            done, spent = _check_batches(index, given, task["batch"], deadline)
        else:
            done, spent = _check_threads(index, given, task["threads"], deadline)
        ended, used = time.perf_counter(), time.process_time() - cpu
    edited = [is_new for (_, _, near), is_new in done if near]
    new = [is_new for (_, _, near), is_new in done if near is None]
    return {
        "started": started,
        "ended": ended,
        "checks": len(done),
        "checks_per_second": len(done) / (ended - started),
        "cpu_microseconds": used / len(done) * 1e6,
        **(_percentiles(spent) if spent else {}),
        "edited_seen": 1 - float(np.mean(edited)),
        "new_new": float(np.mean(new)),
    }


# The id of a page, its text, and whether it is near a stored page; None for new ones.
Checked = tuple[str, str, bool | None]


def _checked_pages(task: Json) -> list[Checked]:
    """A new page, an edited one, and so on; another `turn` has other pages."""
    half, turn = task["checks"] // 2, task["turn"]
    whole_blocks = max(1, task["n"] // BLOCK)
    stored = pages.block(turn % whole_blocks).head(min(BLOCK, task["n"]))
    state = np.random.RandomState([pages.SEED, turn])
    rows = state.randint(0, len(stored), half).tolist()
    edited = stored.edited(rows, NEAR, state)
    new = pages.block(turn, NEW).head(half).texts().to_pylist()
    given: list[Checked] = []
    for place, (text, each) in enumerate(zip(new, edited, strict=True)):
        near = each.jaccard >= task["threshold"]
        given.append((f"new-{turn}-{place}", text, None))
        given.append((f"edited-{turn}-{place}", each.text, near))
    return given


Done = list[tuple[Checked, bool]]


def _check_batches(
    index: Any, given: list[Checked], size: int, deadline: float
) -> tuple[Done, list[float]]:
    done: Done = []
    waiting = iter(given)
    while time.perf_counter() < deadline and (batch := list(islice(waiting, size))):
        verdicts = index.check_many([(id, text) for id, text, _ in batch])
        done += [(page, verdict.is_new) for page, verdict in zip(batch, verdicts, strict=True)]
    return done, []


def _check_threads(
    index: Any, given: list[Checked], threads: int, deadline: float
) -> tuple[Done, list[float]]:
    """Each caller takes the next page when it is done with one."""
    waiting = iter(given)
    done: list[Done] = [[] for _ in range(threads)]
    spent: list[list[float]] = [[] for _ in range(threads)]
    errors: list[BaseException] = []

    def call(number: int) -> None:
        try:
            for page in waiting:
                started = time.perf_counter()
                if started >= deadline:
                    break
                verdict = index.check(page[0], page[1])
                spent[number].append(time.perf_counter() - started)
                done[number].append((page, verdict.is_new))
        except BaseException as error:
            errors.append(error)

    if threads == 1:
        call(0)
    else:
        callers = [threading.Thread(target=call, args=(number,)) for number in range(threads)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    if errors:
        raise errors[0]
    return [each for part in done for each in part], [each for part in spent for each in part]


def _release() -> None:
    """Give memory that nobody uses back to the system, so that it is not counted."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)


TASKS: dict[str, Callable[[Json], Any]] = {
    "recall": recall,
    "speed": speed,
    "growth": growth,
    "fill": fill,
    "check": check,
}


def main() -> None:
    """Argument: the task as JSON."""
    one_thread_each()
    task = json.loads(sys.argv[1])
    print(json.dumps(TASKS[task["task"]](task)))


if __name__ == "__main__":
    main()
