"""The run of `neardup pairs`: fingerprint files in, pairs of near documents out."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup import __version__
from neardup.atomic import replacing
from neardup.collection.source import require_output
from neardup.fingerprints import Fingerprints
from neardup.fingerprints.files import FORMAT_KEY, SCHEME_KEY, SETTINGS_KEY
from neardup.pairs.by_fingerprints import Search
from neardup.pairs.by_fingerprints.passes import Progress
from neardup.pairs.by_fingerprints.search import group_batch

FORMAT = "neardup pairs 1"
GROUPS_FORMAT = "neardup groups 1"


@dataclass(frozen=True)
class PairsSummary:
    """What a run of `neardup pairs` did."""

    scheme: str
    plan: str
    reason: str
    max_distance: int | None
    output: str
    groups_files: tuple[str, ...]
    documents: int
    empty: int
    identical: int
    pairs: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return asdict(self)


def find_pairs_in_files(
    left: str | os.PathLike[str],
    right: str | os.PathLike[str] | None,
    output: str | os.PathLike[str],
    *,
    max_distance: int | None = None,
    candidates: str = "auto",
    group: bool = False,
    memory: str | None = None,
    threads: int | None = None,
    announce: Callable[[str], None] | None = None,
    progress: Progress | None = None,
) -> PairsSummary:
    """Find the near pairs of one fingerprint file, or between two, and store `a, b, distance`.

    `a` and `b` are the documents' ids. With `group`, pairs are between the first documents of
    each kind, and those identical to them are stored beside, as `member, representative`. All
    files appear complete or not at all. `announce` is told the plan before the search starts.
    """
    started = time.perf_counter()
    names = [left] if right is None else [left, right]
    groups_files = _groups_files(output, len(names)) if group else ()
    require_output(names, output, *groups_files)
    first = Fingerprints.load(left)
    second = None if right is None else Fingerprints.load(right)
    search = Search.of(first, second, max_distance, candidates, threads=threads, memory=memory)
    if announce:
        announce(search.explanation)
    sides = [first] if second is None else [first, second]
    repeated = [group_batch(side) for side in (search.left, search.right) if side is not None]
    about = {
        "left": os.fspath(left),
        "right": None if right is None else os.fspath(right),
        "candidates": str(search.plan),
        "max_distance": max_distance,
        "group": group,
        "version": __version__,
    }
    with ExitStack() as outputs:
        for path, side, members in zip(groups_files, sides, repeated, strict=False):
            writer = _Writer(path, GROUPS_FORMAT, ("member", "representative"), (side, side), about)
            outputs.enter_context(writer).write(members.columns)
        pairs = outputs.enter_context(
            _Writer(output, FORMAT, ("a", "b", "distance"), (first, sides[-1]), about)
        )
        searched = search.of_representatives() if group else search
        for batch in searched.portions(progress):
            pairs.write(batch.columns)
    return PairsSummary(
        scheme=str(first.scheme),
        plan=str(search.plan),
        reason=search.explanation,
        max_distance=max_distance,
        output=os.fspath(output),
        groups_files=tuple(map(os.fspath, groups_files)),
        documents=sum(map(len, sides)),
        empty=sum(int(side.empty.sum()) for side in sides),
        identical=sum(map(len, repeated)),
        pairs=pairs.rows,
        seconds=time.perf_counter() - started,
    )


class _Writer:
    """Writes a Parquet file of ids by places, batch by batch, atomically."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        format: str,
        names: tuple[str, ...],
        sides: tuple[Fingerprints, Fingerprints],
        about: dict[str, Any],
    ) -> None:
        self._path = path
        self._ids: list[pa.Array] = [side.ids for side in sides]
        types = [ids.type for ids in self._ids] + [pa.uint16()]
        self._schema = pa.schema(
            list(zip(names, types[: len(names)], strict=True)),
            metadata={
                FORMAT_KEY: format,
                SCHEME_KEY: str(sides[0].scheme),
                SETTINGS_KEY: json.dumps(about, ensure_ascii=False),
            },
        )
        self._stack = ExitStack()
        self.rows = 0

    def __enter__(self) -> _Writer:
        unfinished = self._stack.enter_context(replacing(self._path))
        # By a file of Python's: Arrow takes no name that is not UTF-8.
        file = self._stack.enter_context(unfinished.open("wb"))
        self._writer = self._stack.enter_context(
            pq.ParquetWriter(file, self._schema, compression="zstd", write_page_checksum=True)
        )
        return self

    def write(self, columns: list[pa.Array]) -> None:
        """Add rows: two columns of places, which become ids, and what follows as it is."""
        ids = [ids.take(places) for ids, places in zip(self._ids, columns[:2], strict=True)]
        batch = pa.RecordBatch.from_arrays([*ids, *columns[2:]], schema=self._schema)
        self._writer.write_batch(batch)
        self.rows += len(batch)

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)


def _groups_files(output: str | os.PathLike[str], sides: int) -> tuple[Path, ...]:
    """Names beside the output: pairs.groups.parquet, or one for each of two collections."""
    path = Path(output)
    kinds = ("groups",) if sides == 1 else ("left-groups", "right-groups")
    return tuple(path.with_name(f"{path.stem}.{kind}.parquet") for kind in kinds)
