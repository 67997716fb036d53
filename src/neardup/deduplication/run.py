"""`dedup`: the whole run, top to bottom."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from neardup.collection.budget import Budget
from neardup.collection.collected import collect
from neardup.collection.feature_store import FeatureStore
from neardup.collection.inputs import Progress, fingerprinter_of
from neardup.collection.settings import EXACT, DedupSettings
from neardup.collection.source import FileSource, MemorySource, Source
from neardup.deduplication.against import AgainstResult
from neardup.deduplication.result import Result
from neardup.deduplication.rows import require_keep_column
from neardup.fingerprints.fingerprinter import Fingerprinter, fitted
from neardup.pairs.choose import plan_for
from neardup.pairs.search import FoundPairs, SearchSide, find_by_features, find_by_plan

StageProgress = Callable[[str], Progress | None]


def dedup(source: Any, *, against: Any = None, **settings: Any) -> Result:
    """Find the near-duplicates of a collection, and which documents to keep.

    `source` is a path (a file, a folder, a glob, a URL) or several, a list of texts, a column, or
    a table; so is `against`, another collection: then what is near anything in that goes, and
    nothing else. Settings are those of the command line: `features`, `weights`, `bits`, `hash`,
    `similarity`, `threshold`, `candidates`, `recall`, `keep`, `cluster`, `text`, `id`, `memory`,
    `threads`; a `preset` fills in those of a known system.

    >>> import neardup as nd
    >>> texts = ["one two three four five", "One, two, three, four, five!", "something else"]
    >>> result = nd.dedup(texts)
    >>> result
    <Result of 3 documents: 1 removed, 1 clusters>
    >>> result.kept["text"].to_pylist()
    ['one two three four five', 'something else']
    """
    checked = DedupSettings.of(**settings)
    old = None if against is None else source_of(against, checked)
    return deduplicate(source_of(source, checked), checked, old)


def deduplicate(
    source: Source,
    settings: DedupSettings,
    old: Source | None = None,
    stage: StageProgress = lambda _: None,
) -> Result:
    """Read, find candidates, verify, cluster; `stage` is told each, and may follow its progress."""
    settings.require_plan()
    require_keep_column(source, settings.keep)
    timer = _Timer()
    sources = [source] if old is None else [source, old]
    fingerprinter = fingerprinter_of(settings.scheme, settings.threads)
    if settings.scheme.needs_idf:
        with timer.stage("idf"):
            batches = (batch for one in sources for batch in one.batches(stage("idf")))
            fingerprinter = fitted(fingerprinter, (batch.columns for batch in batches), None)
    with timer.stage("features"):
        budget = Budget(settings.memory)
        sides = [
            _read(one, fingerprinter, budget, len(sources), settings, stage) for one in sources
        ]
    with timer.stage("pairs"):
        stage("pairs")
        found = _found(sides, fingerprinter, settings)
    for side in sides:
        side.release_features()
    parts = (source, settings, fingerprinter.scheme, sides[0].collected, found, timer.seconds)
    result = Result(*parts) if old is None else AgainstResult(*parts, old, sides[1].collected)
    with timer.stage("clusters"):
        stage("clusters")
        _ = result.groups
    return result


def _read(
    source: Source,
    fingerprinter: Fingerprinter,
    budget: Budget,
    sources: int,
    settings: DedupSettings,
    stage: StageProgress,
) -> SearchSide:
    """The first pass over one of the collections."""
    by_features = settings.similarity != "hamming"
    known = None if by_features else source.fingerprinted()
    if known is not None:
        return SearchSide(known)
    found = collect(
        source,
        fingerprinter,
        features=FeatureStore(budget.features(sources)) if by_features else None,
        # A join on features needs no fingerprints, and those of the pairs can be made of features.
        with_rows=not (_wants_exact(settings) and fingerprinter.scheme.is_hashed),
        budget=budget,
        progress=stage("features"),
    )
    return SearchSide(found)


def _wants_exact(settings: DedupSettings) -> bool:
    return settings.similarity != "hamming" and settings.candidates in ("auto", EXACT)


def _found(
    sides: Sequence[SearchSide], fingerprinter: Fingerprinter, settings: DedupSettings
) -> FoundPairs:
    left, right = sides[0], sides[1] if len(sides) > 1 else None
    if _wants_exact(settings):
        return find_by_features(left, right, fingerprinter, settings)
    n = sum(len(side.collected.copies.firsts) for side in sides)
    plan, reason = plan_for(n, settings)
    return find_by_plan(left, right, fingerprinter, plan, reason, settings)


def source_of(source: Any, settings: DedupSettings) -> Source:
    """Files by their names, or documents that are held in memory."""
    if isinstance(source, str | os.PathLike):
        return stored_source([source], settings)
    if isinstance(source, Sequence) and source and all(isinstance(s, os.PathLike) for s in source):
        return FileSource(source, settings)
    return MemorySource(source, settings)


def stored_source(names: Sequence[str | os.PathLike[str]], settings: DedupSettings) -> Source:
    """An index by its folder, or files."""
    if len(names) == 1 and os.path.isdir(names[0]):
        from neardup.index.disk.store import is_index
        from neardup.index.source import IndexSource

        if is_index(names[0]):
            return IndexSource.of(Path(names[0]), settings)
    return FileSource(names, settings)


class _Timer:
    """Seconds of each stage, in the order they ran."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what is done inside."""
        started = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started
