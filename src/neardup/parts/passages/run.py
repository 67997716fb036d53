"""The search for passages: read, group copies, find near ones, count documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from neardup.collection.budget import Budget
from neardup.collection.rejected import RejectedRows
from neardup.collection.source import (
    Progress,
    ReadSource,
    Source,
    by_documents,
    fingerprinter_of,
)
from neardup.collection.timing import Timer
from neardup.deduplication.rows import keep_order, require_keep_column
from neardup.deduplication.sources import texts_in
from neardup.kernels import thread_count
from neardup.parts.passages.copies import Copies, KeyedPassages, Places
from neardup.parts.passages.families import find_families
from neardup.parts.passages.near import (
    NONE_NEAR,
    NearSearch,
    distinct_of,
    documents_at,
)
from neardup.parts.passages.reading import Read, Scopes, cut_batches, scopes_of
from neardup.parts.passages.result import PassagesResult
from neardup.parts.passages.settings import (
    ALL,
    DEFAULT_MIN_WORDS,
    DEFAULT_THRESHOLD,
    DEFAULT_UNIT,
    PassageSettings,
)
from neardup.settings import suggests_settings

Stage = Callable[[str], Progress | None]


@suggests_settings
def passages(
    source: Any,
    *,
    unit: str = DEFAULT_UNIT,
    threshold: float = DEFAULT_THRESHOLD,
    scope: str = ALL,
    remove: str | None = None,
    min_words: int = DEFAULT_MIN_WORDS,
    keep: str = "first",
    text: str | None = None,
    id: str | None = None,
    memory: str | int = "2GB",
    read_as: str | None = None,
    suffix: str | None = None,
    max_document: str | int = "64MB",
    threads: int | None = None,
) -> PassagesResult:
    r"""Find passages that occur in several documents, exactly or nearly.

    Args:
        source: Files, folders or globs by name, or texts, a table or a data frame.
        unit: What a passage is: paragraph, sentence, line, or window:N (whole sentences of about N
            words).
        threshold: Minimum similarity (Jaccard, of runs of three words) of passages that are nearly
            the same. With 1, only passages of the same words are found.
        scope: Compare `all` documents, or those with the same value of a column.
        remove: Passages to remove: all-but-first (from every document but one), all, or
            boilerplate:N (from all, if they occur in N or more documents).
        min_words: Passages of fewer words are not looked at.
        keep: Which document keeps a passage: first, longest, shortest, max:COL or min:COL.
        text: Column with the text. Default: text.
        id: Column with the ids. Default: id if present, else the row number.
        memory: Memory to use, for example "8GB"; what does not fit goes to temporary files.
        read_as: Read all files in this format, whatever their suffix: text, lines, html, pdf, warc,
            json, jsonl, csv, tsv, parquet or arrow. Default: by suffix.
        suffix: Of folders and globs, read the files with one of these suffixes, for example
            ".py,.html,.md". Default: all that can be read.
        max_document: Reject documents larger than this, for example "200MB".
        threads: Number of threads. Default: one per core.

    Returns:
        A `PassagesResult` with the tables `families`, `passages` and `kept`, the numbers in
        `summary`, and `save`.

    >>> import neardup as nd
    >>> notice = "You may use this text for any purpose you like."
    >>> result = nd.passages([f"First.\n\n{notice}", f"Second.\n\n{notice}"], remove="all")
    >>> result.families["documents"].to_pylist()
    [2]
    >>> result.kept["text"].to_pylist()
    ['First.\n\n', 'Second.\n\n']
    """
    settings = PassageSettings.of(
        unit=unit,
        threshold=threshold,
        scope=scope,
        remove=remove,
        min_words=min_words,
        keep=keep,
        text=text,
        id=id,
        memory=memory,
        read_as=read_as,
        suffix=suffix,
        max_document=max_document,
        threads=threads,
    )
    return find_passages(texts_in(source, settings.reading), settings)


def find_passages(
    source: ReadSource, settings: PassageSettings, stage: Stage = lambda _: None
) -> PassagesResult:
    """Find the families; `stage` is told each step, and may follow its progress."""
    timer = Timer()
    require_keep_column(source, settings.reading.keep)
    threads = thread_count(settings.reading.threads)
    scopes = None
    if settings.scope is not None:
        with timer.stage("scope"):
            scopes = scopes_of(source, settings.scope, stage("scope"))
    near = None
    if not settings.is_exact:
        fingerprinter = fingerprinter_of(settings.reading.scheme, settings.reading.threads)
        near = NearSearch(settings, fingerprinter, source.size)
    with timer.stage("read"):
        keyed = KeyedPassages(settings.reading.memory // 8)
        read = _read(source, settings, keyed, near, scopes, stage("read"))
    ranks = None
    if str(settings.reading.keep) != "first":
        with timer.stage("keep order"):
            order = keep_order(source, settings.reading.keep, read.words, stage("keep order"))
            ranks = np.empty(len(order), np.int64)
            ranks[order] = np.arange(len(order))
    with timer.stage("copies"):
        stage("copies")
        copies = keyed.copies(read.passages, _preferred(ranks, read.first_passages), threads)
        del keyed
    found = NONE_NEAR
    if near is not None:
        with timer.stage("features"):
            _take(source, settings, near, copies, scopes, stage("features"))
        with timer.stage("near"):
            progress = stage("near")
            found = near.found(ranks, read.first_passages, by_documents(progress))
            del near
    with timer.stage("families"):
        stage("families")
        families, members = find_families(
            copies, found, read.first_passages, read.passages, settings.reading.memory // 8
        )
    return PassagesResult(source, settings, read, families, members, timer.seconds, timer.started)


def _read(
    source: Source,
    settings: PassageSettings,
    keyed: KeyedPassages,
    near: NearSearch | None,
    scopes: Scopes | None,
    progress: Progress | None,
) -> Read:
    """The first pass: the keys of all passages, and what is known of the documents."""
    ids: list[pa.Array] = []
    words: list[NDArray[np.uint32]] = []
    counts: list[Places] = []
    rejected, text_bytes, held = RejectedRows(), 0, 0
    budget = Budget(settings.reading.memory)
    for batch in cut_batches(source.batches(progress), settings, with_keys=True):
        passages = batch.passages
        rejected.add(batch.batch.rejected)
        given = batch.batch.ids
        if given is None or not len(given):
            continue
        ids.append(given)
        counts.append(np.diff(passages.documents))
        totals = np.append(0, np.cumsum(batch.words, dtype=np.int64))
        words.append(np.diff(totals[passages.documents]).astype(np.uint32))
        sizes = passages.sizes
        text_bytes += int(sizes.sum())
        wanted = batch.words >= settings.min_words
        places = np.flatnonzero(wanted)
        keys = batch.keys[places]
        by_passage = None
        if scopes is not None:
            by_passage = scopes[batch.documents]
            keys = keys ^ by_passage[places][:, None]
        keyed.add(batch.first_passage + places, keys, sizes[places])
        if near is not None:
            near.see(batch, wanted, by_passage)
        held += given.nbytes + 20 * len(given)
        budget.require_bookkeeping(batch.first_document + len(given), held)
    number = np.concatenate([np.zeros(0, np.int64), *counts])
    return Read(
        pa.concat_arrays(ids) if ids else pa.nulls(0, pa.int64()),
        np.concatenate([np.zeros(0, np.uint32), *words]),
        np.append(0, np.cumsum(number))[:-1],
        int(number.sum()),
        text_bytes,
        rejected,
    )


def _preferred(
    ranks: Places | None, first_passages: Places
) -> Callable[[Places, Places], Places] | None:
    if ranks is None:
        return None

    def preferred(group_of: Places, passages: Places) -> Places:
        order = np.lexsort((passages, ranks[documents_at(passages, first_passages)], group_of))
        groups = group_of[order]
        is_first = np.ones(len(groups), np.bool_)
        is_first[1:] = groups[1:] != groups[:-1]
        return np.asarray(passages[order[is_first]])

    return preferred


def _take(
    source: Source,
    settings: PassageSettings,
    near: NearSearch,
    copies: Copies,
    scopes: Scopes | None,
    progress: Progress | None,
) -> None:
    """The second pass: the features of one passage of each kind, if it can be in a pair."""
    for batch in cut_batches(source.batches(progress), settings, with_keys=False):
        wanted = distinct_of(batch, copies.distinct)
        near.take(batch, wanted, None if scopes is None else scopes[batch.documents])
