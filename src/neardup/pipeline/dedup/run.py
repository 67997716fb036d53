"""`dedup`: the whole run, top to bottom."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from neardup.errors import SettingError
from neardup.fingerprints.maker import Maker
from neardup.index.durable_store import is_index
from neardup.pipeline.dedup.against import AgainstResult
from neardup.pipeline.dedup.collected import collect
from neardup.pipeline.dedup.from_index import IndexSource
from neardup.pipeline.dedup.result import Result
from neardup.pipeline.dedup.search import (
    EXACT,
    FoundPairs,
    Side,
    cheapest_bands,
    find_by_plan,
    find_exactly,
    plan_for,
)
from neardup.pipeline.dedup.settings import DedupSettings
from neardup.pipeline.dedup.source import FileSource, MemorySource, Source
from neardup.pipeline.inputs import Progress, maker_of

# A feature takes eight bytes, and a word with the space behind it six.
_FEATURE_BYTES_OF_TEXT = 1.5
_USUAL_TEXT = 1000  # bytes of a document, to guess how many there are
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
    timer = _Timer()
    sources = [source] if old is None else [source, old]
    maker = maker_of(settings.scheme, settings.threads)
    if settings.scheme.needs_idf:
        with timer.stage("idf"):
            maker = _weighted(maker, sources, stage)
    sides, maker, settings = _read(sources, maker, settings, timer, stage)
    with timer.stage("pairs"):
        stage("pairs")
        found = _found(sides, maker, settings)
    parts = (source, settings, maker.scheme, sides[0].collected, found, timer.seconds)
    result = Result(*parts) if old is None else AgainstResult(*parts, old, sides[1].collected)
    with timer.stage("clusters"):
        stage("clusters")
        _ = result.groups
    return result


def _weighted(maker: Maker, sources: Sequence[Source], stage: StageProgress) -> Maker:
    """The maker with weights over all that is read."""
    counter = maker.counter()
    for source in sources:
        for batch in source.batches(stage("idf")):
            maker.count(batch.columns, counter)
    return maker.weighted_by(counter.table())


def _read(
    sources: Sequence[Source],
    maker: Maker,
    settings: DedupSettings,
    timer: _Timer,
    stage: StageProgress,
) -> tuple[list[Side], Maker, DedupSettings]:
    """The first pass; where features do not fit the memory, with fingerprints for bands."""
    wants_exact = _wants_exact(settings)
    sizes = [source.text_bytes for source in sources]
    text = sum(size or 0 for size in sizes)
    if not wants_exact or settings.candidates == EXACT or _fits(text, settings):
        with timer.stage("features"):
            room = settings.memory // len(sources)
            sides = [
                _collected(source, maker, room, settings, stage("features")) for source in sources
            ]
        if not wants_exact or all(side.fits for side in sides):
            return sides, maker, settings
    if settings.candidates == EXACT:
        raise SettingError(
            f"candidates=exact keeps all features in memory, and {settings.memory / 1e6:,.0f} MB "
            "do not suffice; give more with memory, or take candidates=auto"
        )
    settings, maker = _widened(text, maker, settings)
    with timer.stage("fingerprints"):
        sides = [
            _collected(source, maker, 0, settings, stage("fingerprints")) for source in sources
        ]
    return sides, maker, settings


def _fits(text_bytes: int, settings: DedupSettings) -> bool:
    return text_bytes * _FEATURE_BYTES_OF_TEXT <= settings.memory


def _collected(
    source: Source, maker: Maker, room: int, settings: DedupSettings, progress: Progress | None
) -> Side:
    if isinstance(source, IndexSource) and settings.similarity == "hamming":
        return Side(source.collected(), source)
    found = collect(
        source,
        maker,
        feature_memory=room,
        by_features=settings.similarity != "hamming",
        # A join on features needs no fingerprints, and those of the pairs can be made of features.
        with_rows=not (room and _wants_exact(settings) and maker.scheme.is_hashed),
        progress=progress,
    )
    return Side(found, source)


def _wants_exact(settings: DedupSettings) -> bool:
    return settings.similarity != "hamming" and settings.candidates in ("auto", EXACT)


def _widened(text_bytes: int, maker: Maker, settings: DedupSettings) -> tuple[DedupSettings, Maker]:
    """Fingerprints of as many bits as the cheapest bands need for about so many documents."""
    bands, width = cheapest_bands(max(1000, text_bytes // _USUAL_TEXT), settings)
    scheme = replace(maker.scheme, bits=bands * width)
    return (
        replace(settings, scheme=scheme, candidates=f"bands:{bands}x{width}"),
        replace(maker, scheme=scheme),
    )


def _found(sides: Sequence[Side], maker: Maker, settings: DedupSettings) -> FoundPairs:
    left, right = sides[0], sides[1] if len(sides) > 1 else None
    if all(side.fits for side in sides) and settings.candidates in ("auto", EXACT):
        return find_exactly(left, right, maker, settings)
    n = sum(len(side.collected.copies.firsts) for side in sides)
    plan, reason = plan_for(n, settings)
    return find_by_plan(left, right, maker, plan, reason, settings)


def source_of(source: Any, settings: DedupSettings) -> Source:
    """Files by their names, or documents that are held in memory."""
    if isinstance(source, str | os.PathLike):
        return stored_source([source], settings)
    if isinstance(source, Sequence) and source and all(isinstance(s, os.PathLike) for s in source):
        return FileSource(source, settings)
    return MemorySource(source, settings)


def stored_source(names: Sequence[str | os.PathLike[str]], settings: DedupSettings) -> Source:
    """An index by its folder, or files."""
    if len(names) == 1 and is_index(names[0]):
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
