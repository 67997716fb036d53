"""The whole distributed run, top to bottom, as the driver sees it.

The driver holds one line of numbers for each split, and the few documents that the report shows.
Everything else stays in tasks and in the work folder.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import __version__
from neardup.atomic import replacing_folder
from neardup.collection.rejected import RejectedRows
from neardup.collection.settings import DedupSettings
from neardup.collection.source import FileSource
from neardup.deduplication.cautions import Facts, many_are_removed, misfits
from neardup.deduplication.inputs import files_of, inputs_of
from neardup.deduplication.rows import require_keep_column, widened
from neardup.deduplication.save import FOLDER
from neardup.deduplication.summary import peak_megabytes, versions
from neardup.distributed.candidates import link_candidates
from neardup.distributed.components import MOST_NODES, BinSizes, fill_bins
from neardup.distributed.copies import SplitCounts, find_copies, require_ids, with_lines
from neardup.distributed.cut import coarse_groups, cut
from neardup.distributed.decide import decide
from neardup.distributed.figures import Figures
from neardup.distributed.output import Output, write_output
from neardup.distributed.page import Shown, page_of
from neardup.distributed.rarity import with_rarity
from neardup.distributed.splits import (
    Footers,
    Layout,
    placed,
    read_footers,
    shared_by_all,
    splits_of,
    text_bytes,
)
from neardup.distributed.stages import RememberingEngine
from neardup.distributed.work import Work, is_url
from neardup.engines.exchange import Engine, Message, Tasks, in_order, packed, unpacked
from neardup.errors import InputError, NeardupError, SettingError
from neardup.frozen import dataclass
from neardup.pairs.choose import joins_features

_SPLIT_BYTES = 512 << 20
_LEAST_SPLIT_BYTES = 4 << 20
# A core has several splits, so that none waits long for the last one.
_SPLITS_A_CORE = 4
_BIN_FEATURES, _GIANT_FEATURES = 1 << 23, 1 << 26
PLAN = "plan.json"
REASON = (
    "exact: documents are linked by their rarest features, and compared with all that they are "
    "linked to; none is missed"
)


@dataclass(frozen=True)
class Sizes:
    """How the work is divided; by default by the size of the input and the cores of the engine.

    A split has about `split_bytes` of text, a bin up to `bin_features` features. A component of
    more than `giant_features`, which one task decides on in about ten seconds, is divided.
    """

    split_bytes: int | None = None
    bin_features: int = _BIN_FEATURES
    giant_features: int = _GIANT_FEATURES
    most_nodes: int = MOST_NODES


_BY_DEFAULT = Sizes()


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run has written, and what it tells of it."""

    output: str
    summary: dict[str, Any]
    shown: Shown
    texts: Mapping[int, str]


def require_distributed(settings: DedupSettings) -> None:
    """Refuse settings whose search is not one on features."""
    if settings.is_containment:
        raise SettingError(
            f"the engine spark brings documents of about the same size together, and "
            f"similarity={settings.similarity!r} compares documents of any size; use the local "
            "engine"
        )
    if not joins_features(settings):
        raise SettingError(
            f"the engine spark compares features, by jaccard, weighted-jaccard or cosine, and "
            f"finds every pair; similarity={settings.similarity!r} with "
            f"candidates={settings.candidates!r} needs the local engine"
        )


def require_runnable(
    source: FileSource, settings: DedupSettings, old: FileSource | None, *, within: bool
) -> None:
    """Refuse what can be known to fail before an engine is started."""
    require_distributed(settings)
    for file in (*source.files, *(old.files if old is not None else ())):
        shared_by_all(file)
    if settings.keep.most != 1 and old is not None and not within:
        raise SettingError(
            f"keep={settings.keep} needs within, or no other collection: it is about clusters of "
            "the input"
        )
    require_keep_column(source, settings.keep)


def deduplicate(
    source: FileSource,
    settings: DedupSettings,
    engine: Engine,
    output: str,
    work: Work,
    old: FileSource | None = None,
    *,
    within: bool = False,
    resume: bool = False,
    overwrite: bool = False,
    format: str = "parquet",
    copies: bool = False,
    strict: bool = False,
    command: str | None = None,
    begin: Callable[[str], object] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
    sizes: Sizes = _BY_DEFAULT,
) -> Outcome:
    """Deduplicate files by the tasks of an engine; the same result as that of one process.

    What stages have found is left in `work`, from which a later run goes on with `resume`.
    """
    require_runnable(source, settings, old, within=within)
    started, began = datetime.now().astimezone().isoformat(timespec="seconds"), time.perf_counter()
    within = within or old is None
    named = sides = [source] if old is None else [source, old]
    files = [[shared_by_all(file) for file in side.files] for side in sides]
    sides = [side.part(some, 0) for side, some in zip(sides, files, strict=True)]
    footers = read_footers(file for some in files for file in some)
    most = _planned(
        work, settings, files, footers, sizes, engine.cores, within=within, resume=resume
    )
    remembering = RememberingEngine(engine, work, begin, say)
    layout = _layout(sides, settings, remembering, work, footers, most, within)
    layout = with_rarity(layout, remembering)
    counts = find_copies(layout, remembering)
    layout = with_lines(_placed(layout, counts), counts, remembering)
    require_ids(layout, counts)
    own = counts[: layout.left]
    _require_documents(layout, own, strict)
    layout = _with_keep_type(layout, remembering)
    links = link_candidates(layout, remembering)
    bin_sizes = BinSizes(engine.cores, sizes.bin_features, sizes.giant_features, sizes.most_nodes)
    boxes = fill_bins(layout, remembering, links["nodes"], bin_sizes)
    figures = Figures(decide(layout, remembering, boxes, sizes.bin_features))
    shown = Shown(figures)
    documents = [one.documents for one in counts]
    clusters = [int(part.get("clusters", 0)) for part in figures.parts]
    with _folder(output, overwrite=overwrite) as folder:
        plan = Output(folder, format, copies, _before(documents), _before(clusters), shown.places())
        written = write_output(layout, remembering, plan, documents)
        rejected = _write_rejected(layout, folder)
        summary = {
            **_summary(layout, own, figures, named),
            "left_out_files": [
                {"file": one.file, "reason": one.reason} for one in rejected.first_left_out
            ],
            **files_of(named[0], rejected.why),
            "command": command,
            "started": started,
            "seconds": {name: round(spent, 3) for name, spent in remembering.seconds.items()},
            "wall_seconds": round(time.perf_counter() - began, 3),
            "resumed": remembering.taken,
            "peak_megabytes": round(peak_megabytes(), 1),
            "versions": versions(),
            "format": format,
            "columns": written.columns,
            "engine": {
                "splits": len(layout.splits),
                "shards": layout.shards,
                "features": layout.features,
                **vars(boxes),
                **links,
            },
        }
        # `explore` opens folders of this machine only.
        page = page_of(
            shown, figures, settings, written.texts, summary, "" if is_url(output) else output
        )
        folder.write_plain("report.html", page.encode())
        text = json.dumps(summary, indent=2, ensure_ascii=False)
        folder.write_plain("summary.json", f"{text}\n".encode())
    return Outcome(output, summary, shown, written.texts)


def _planned(
    work: Work,
    settings: DedupSettings,
    files: Sequence[Sequence[Any]],
    footers: Footers,
    sizes: Sizes,
    cores: int,
    *,
    within: bool,
    resume: bool,
) -> int:
    """The bytes of a split; those of the run that is resumed.

    The work folder is emptied unless it is resumed, and refused if something else is in it.
    """
    about = {
        "version": __version__,
        "settings": settings.as_dict(),
        "within": within,
        "inputs": sha256(repr([list(map(_state, some)) for some in files]).encode()).hexdigest(),
    }
    names = work.names()
    if PLAN in names:
        known = json.loads(bytes(work.read(PLAN)))
        if resume:
            differs = [name for name in about if known["about"].get(name) != _plain(about[name])]
            if differs:
                raise NeardupError(
                    f"{work.url} has stages of a run with other {', '.join(differs)}; resume that "
                    "run with its own options, or run without --resume to begin again"
                )
            return int(known["split_bytes"])
        for name in names:
            work.remove(name)
    elif names:
        raise NeardupError(
            f"{work.url} is not a work folder of neardup, and not empty; name another with --work"
        )
    most = sizes.split_bytes
    if most is None:
        total = sum(text_bytes(file, footers) for some in files for file in some)
        share = total // max(1, _SPLITS_A_CORE * cores)
        most = max(_LEAST_SPLIT_BYTES, min(_SPLIT_BYTES, share))
    plan = {"about": _plain(about), "split_bytes": most}
    work.write(PLAN, json.dumps(plan).encode())
    return most


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def _state(file: Any) -> tuple[Any, ...]:
    """What tells that a file has changed."""
    if file.filesystem is not None:
        about = file.filesystem.info(file.path)
        known = [about.get(name) for name in ("ETag", "etag", "mtime", "LastModified", "size")]
        return (file.path, *map(str, known))
    try:
        status = os.stat(file.path)
    except OSError:
        return (file.path, "unreadable")
    return (file.path, status.st_size, status.st_mtime_ns)


def _layout(
    sides: Sequence[FileSource],
    settings: DedupSettings,
    engine: Engine,
    work: Work,
    footers: Footers,
    most: int,
    within: bool,
) -> Layout:
    files = {file.name: file for side in sides for file in side.files}
    coarse = [
        one for name, footer in footers.items() for one in coarse_groups(files[name], footer, most)
    ]
    pieces = cut(coarse, engine, work, most)
    splits = [
        splits_of(side, settings, most, footers, pieces, other=bool(number))
        for number, side in enumerate(sides)
    ]
    every = tuple(split for some in splits for split in some)
    # Tasks get the files of their splits only.
    bare = [side.part((), 0) for side in sides]
    return Layout(
        settings,
        work,
        bare[0],
        bare[1] if len(bare) > 1 else None,
        every,
        len(splits[0]),
        # A shard gets as much as one split or two: fewer shards, fewer messages.
        1 << (len(every).bit_length() - 1),
        within,
    )


def _placed(layout: Layout, counts: Sequence[SplitCounts]) -> Layout:
    """The layout with what the first pass has counted: rows before each split, types of ids."""
    kinds: list[pa.DataType] = []
    for other in (False, True):
        found = [
            one.ids
            for split, one in zip(layout.splits, counts, strict=True)
            if split.other == other and one.ids is not None
        ]
        kinds.append(pa.string() if found and found[0] == "string" else pa.int64())
    splits = placed(layout.splits, [one.rows for one in counts])
    features = sum(one.features for one in counts)
    return replace(layout, splits=tuple(splits), id_types=(kinds[0], kinds[1]), features=features)


def _require_documents(layout: Layout, counts: Sequence[SplitCounts], strict: bool) -> None:
    unread = [one.rejected + one.left_out for one in counts]
    if not any(unread) or (any(one.documents for one in counts) and not strict):
        return
    number = [count > 0 for count in unread].index(True)
    for batch in layout.opened(number).batches():
        if batch.rejected:
            row = batch.rejected[0]
            raise InputError(
                f"{sum(unread):,} rows cannot be read, the first in {row.place}: {row.reason}; "
                "nothing was written"
            )


def _with_keep_type(layout: Layout, engine: Engine) -> Layout:
    """The layout with the type of the keep column in all splits."""
    if layout.settings.keep.column is None:
        return layout
    sent = engine.run("keep column", [Tasks(partial(_tell_keep_type, layout), layout.left)])
    found = pa.schema([pa.field("", pa.null())])
    for message in in_order(sent):
        schema = unpacked(message.blob)["schema"].tobytes()
        found = widened(found, pa.ipc.read_schema(pa.py_buffer(schema)))
    return replace(layout, keep_type=found.field(0).type)


def _tell_keep_type(layout: Layout, number: int, _: Iterator[Message]) -> Iterator[Message]:
    """The type of the keep column in a split; in JSON, values may show it late."""
    name = layout.settings.keep.column
    found = pa.schema([pa.field("", pa.null())])
    for batch in layout.opened(number).rows():
        if name in batch.rows.schema.names:
            found = widened(found, pa.schema([pa.field("", batch.rows.schema.field(name).type)]))
    yield Message(0, number, packed(schema=np.frombuffer(found.serialize(), np.uint8)))


def _median_words(counts: Sequence[SplitCounts]) -> int:
    """About the median number of words of a document, by some documents of each split."""
    words = np.concatenate([np.zeros(0, np.int64), *(np.array(one.words) for one in counts)])
    weights = np.concatenate(
        [np.zeros(0), *(np.full(len(one.words), one.documents - one.empty) for one in counts)]
    )
    order = np.argsort(words)
    ends = np.cumsum(weights[order])
    return int(words[order][np.searchsorted(ends, ends[-1] / 2)]) if len(words) else 0


def _before(counts: Sequence[int]) -> Any:
    return np.concatenate(([0], np.cumsum(counts)[:-1])).astype(np.int64)


@contextmanager
def _folder(output: str, *, overwrite: bool) -> Iterator[Work]:
    """The folder to write to: complete at the end, or not there.

    In an object store, which cannot rename, a folder is complete when it has a summary.json.
    """
    if not is_url(output):
        with replacing_folder(output, FOLDER, overwrite=overwrite) as unfinished:
            yield Work(os.fspath(unfinished))
        return
    folder = Work(output.rstrip("/"))
    names = folder.names()
    if names and not overwrite:
        raise NeardupError(f"{output} is there already; name another folder or give --overwrite")
    if names and FOLDER.marker not in names:
        raise NeardupError(
            f"{output} has no {FOLDER.marker} of this command, so --overwrite does not replace it"
        )
    for name in sorted(names, key=lambda one: one != FOLDER.marker):
        folder.remove(name)
    yield folder


def _write_rejected(layout: Layout, folder: Work) -> RejectedRows:
    """Write the rows that cannot be read."""
    rejected = RejectedRows()
    for number in range(layout.left):
        rejected.add_lines(layout.work.read_plain(f"rejected/{number}").decode().splitlines())
    with (
        folder.file("rejected.jsonl") as path,
        path.open("w", encoding="utf-8", newline="\n") as file,
    ):
        file.writelines(rejected.lines())
    return rejected


def _summary(
    layout: Layout,
    counts: Sequence[SplitCounts],
    figures: Figures,
    named: Sequence[FileSource],
) -> dict[str, Any]:
    """The summary of the local engine, as far as it does not depend on how the work was done."""
    documents = sum(one.documents for one in counts)
    removed, exact = figures.total("removed"), figures.total("exact")
    settings = layout.settings
    near, empty = figures.near_similarities(), sum(one.empty for one in counts)
    facts = Facts(settings, near, documents - empty - exact, _median_words(counts), layout.within)
    return {
        "documents": documents,
        "empty": empty,
        "rejected": sum(one.rejected for one in counts),
        "left_out": sum(one.left_out for one in counts),
        "exact_copies": exact,
        "near_copies": removed - exact,
        "clusters": figures.total("clusters"),
        "removed": removed,
        "kept": documents - removed,
        "unproven": figures.total("unproven"),
        "candidates": figures.total("compared"),
        "pairs": figures.total("pairs"),
        "false": None,
        "warnings": [*many_are_removed(facts), *misfits(facts)],
        "scheme": str(layout.fingerprinter().scheme),
        "plan": "exact",
        "reason": REASON,
        "settings": settings.as_dict(),
        "levels": {},
        "inputs": inputs_of(named[0]),
        "against": inputs_of(named[1]) if len(named) > 1 else [],
        "within": layout.within,
    }
