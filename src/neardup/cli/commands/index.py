"""`neardup index`: add, delete and query documents of an index."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options, stopping
from neardup.cli.command import Group
from neardup.cli.files import STANDARD_INPUT, read_text
from neardup.cli.terminal import count, say, say_columns, say_json, say_rejected, size
from neardup.errors import InputError, NeardupError, SettingError

if TYPE_CHECKING:
    from neardup.index import Match

_SHOWN = 40

_place: options.Decorator = options.path_argument("path", "PATH", "Folder of the index.")


@click.group(cls=Group)
def index() -> None:
    """Store documents in an index and find those near a new one."""


@index.command()
@_place
@options.setting(
    "text", note="none", help="Fields of records, with optional weights: name*2+street+city."
)
@options.option(
    "--plan",
    metavar="PLAN",
    note="blocks:3, or what --max-distance needs",
    help="How to search: blocks:K, bands:MxK or prefix:D.",
)
@options.option(
    "--max-distance",
    type=int,
    note="the largest for which the plan is complete",
    help="Maximum number of differing bits; a query can override it.",
)
@options.flag("--store-text", help="Store the texts, so that queries give true similarities.")
@options.flag(
    "--store-features", help="Store the features, so that queries give true similarities."
)
@options.settings("features", "weights")
@options.path(
    "--idf",
    section=options.FINGERPRINTS,
    help="Document frequencies for tf-idf weights, a table written by `neardup idf`.",
)
@options.settings("bits", "hash", "tie", "projection")
def create(
    path: Path,
    text: str | None,
    plan: str | None,
    max_distance: int | None,
    store_text: bool,
    store_features: bool,
    idf: Path | None,
    **recipe: Any,
) -> None:
    """Create an index; its settings cannot be changed later.

    Example: neardup index create seen.index --store-text
    """
    from neardup.index import Index
    from neardup.index.disk.store import is_made

    stopping.if_stopped(lambda: f"run the command again to be sure that {path} is complete")
    if is_made(path):
        raise NeardupError(f"{path} is an index already; add to it, or name another folder")
    with Index(
        path,
        text=text,
        idf=idf,
        plan=plan,
        max_distance=max_distance,
        store_text=store_text,
        store_features=store_features,
        **recipe,
    ) as made:
        say(f"{made.scheme}, {made.settings.plan} → {path}")


@index.command()
@_place
@options.inputs
@options.option(
    "--metadata",
    metavar="COL",
    multiple=True,
    help="Column to store with the documents; `all` stores all columns. Repeatable.",
)
@options.option(
    "--sync/--no-sync",
    default=True,
    help="Wait for the disk at each commit. With --no-sync, a power failure can damage the index.",
)
@options.as_json
@options.settings("text", "id", "max_document", "threads")
def add(
    path: Path,
    inputs: tuple[str, ...],
    metadata: tuple[str, ...],
    sync: bool,
    json: bool,
    text: str | None,
    id: str | None,
    max_document: str,
    threads: int | None,
) -> None:
    """Add documents; one with a known id replaces the old one.

    Documents without ids are named after file and row, for example a.jsonl:17, and replace
    nothing: if another document has that name, a hash of the content is appended.

    An interrupted run can be repeated: documents that are already stored stay as they are.

    Example: neardup index add seen.index corpus.jsonl.gz
    """
    from neardup.cli.progress import ByteProgress
    from neardup.index import Index
    from neardup.index.files import add_files
    from neardup.settings import bytes_of

    columns = "all" if metadata == ("all",) else metadata
    with (
        Index(path, create=False, sync=sync, threads=threads) as opened,
        ByteProgress("index") as progress,
    ):
        summary = add_files(
            list(inputs),
            opened,
            text=text,
            id=id,
            metadata=columns,
            max_document=bytes_of(max_document, "max_document"),
            progress=progress,
            committed=stopping.adds_to(path),
        )
    if json:
        say_json(summary.to_dict())
        return
    say(
        f"{count(summary.documents, 'document')}, {summary.changed:,} of them new or changed, in "
        f"{summary.seconds:.2f} s; the index has {summary.total:,}"
    )
    if summary.replaced:
        say(f"{summary.replaced:,} replaced: their ids were there with other content")
    if summary.renamed:
        say(
            f"{count(summary.renamed, 'document')} without id renamed: other documents have "
            "the names made of file and row"
        )
    say(f"{summary.scheme} → {path}")
    say_rejected(summary.rejected, summary.left_out, summary.rejected_file)


@index.command()
@_place
@options.argument("document", "Text to query.", metavar="[TEXT]", required=False)
@options.option(
    "--input",
    "-i",
    "inputs",
    metavar="INPUT",
    multiple=True,
    help="Query many documents: a file, folder, glob or URL, or - for standard input. Repeatable.",
)
@options.option(
    "--max-distance",
    type=int,
    note="that of the index",
    help="Maximum number of differing bits.",
)
@options.option(
    "--threshold",
    type=float,
    help="Minimum true similarity; the index must store texts or features.",
)
@options.option("--limit", type=int, default=10, help="Maximum number of matches per query.")
@options.flag("--json", help="Print one JSON object per line for each query.")
@options.settings("text", "id", "max_document", "threads")
def query(
    path: Path,
    document: str | None,
    inputs: tuple[str, ...],
    max_distance: int | None,
    threshold: float | None,
    limit: int,
    json: bool,
    text: str | None,
    id: str | None,
    max_document: str,
    threads: int | None,
) -> None:
    """Find the documents near a text, or near each of many.

    The nearest come first. Without TEXT and --input, one text is read from standard input.

    Example: neardup index query seen.index "To be, or not to be"
    """
    from neardup.index import Index
    from neardup.index.files import query_files
    from neardup.settings import bytes_of

    if document is not None and inputs:
        raise SettingError("give a text or --input, not both")
    if not inputs and (text is not None or id is not None):
        raise SettingError("--text and --id name columns of --input; give --input, or omit them")
    with Index(path, readonly=True, create=False, threads=threads) as opened:
        found: Iterable[tuple[Any, list[Match]]]
        if inputs:
            found = query_files(
                list(inputs),
                opened,
                text=text,
                id=id,
                max_distance=max_distance,
                threshold=threshold,
                limit=limit,
                max_document=bytes_of(max_document, "max_document"),
            )
        else:
            asked = read_text(STANDARD_INPUT) if document is None else document
            found = [(None, opened.query(asked, max_distance, threshold, limit))]
        if json:
            _print_lines(found)
        else:
            _print_table(found)


@index.command()
@_place
@options.argument(
    "ids",
    "Ids of the documents; an id that is no known string is tried as a number.",
    metavar="ID...",
    nargs=-1,
    required=True,
)
def delete(path: Path, ids: tuple[str, ...]) -> None:
    """Delete documents by their ids, all of them or none.

    Example: neardup index delete seen.index doc-17 doc-18
    """
    from neardup.index import Index
    from neardup.read.limits import quoted

    stopping.changes(path)
    with Index(path, create=False) as opened:
        found: list[int | str] = []
        for id in ids:
            number = int(id) if id.lstrip("-").isdecimal() and id.isascii() else None
            if id in opened:
                found.append(id)
            elif number is not None and number in opened:
                found.append(number)
            else:
                raise InputError(f"{path} has no document {quoted(id)}; nothing was removed")
        removed = opened.delete_many(found)
        say(f"{count(removed, 'document')} removed; the index has {len(opened):,}")


@index.command()
@_place
@options.option(
    "--buckets",
    type=int,
    default=5,
    help="Number of the largest buckets to show, 0 to 1,000; 0 is fastest.",
)
@options.as_json
def stats(path: Path, buckets: int, json: bool) -> None:
    """Show what an index holds and how large it is.

    Example: neardup index stats seen.index
    """
    from neardup.index import Index

    with Index(path, readonly=True, create=False) as opened:
        found = opened.stats(buckets)
    if json:
        say_json(found.to_dict())
        return
    say(f"{count(found.documents, 'document')} of {found.scheme}")
    say(f"{found.plan}: {count(found.tables, 'table')}")
    say(", ".join(f"{part} {size(taken)}" for part, taken in found.bytes.items()))
    if found.largest_buckets:
        sizes = ", ".join(f"{bucket:,}" for bucket in found.largest_buckets)
        say(f"largest buckets of different fingerprints: {sizes}")


@index.command()
@_place
@options.path(
    "--output",
    "-o",
    required=True,
    help="File to write: .parquet for fingerprints, .jsonl for everything that is stored.",
)
def export(path: Path, output: Path) -> None:
    """Write all documents of an index to a file.

    Example: neardup index export seen.index -o fps.parquet
    """
    from neardup.index import Index
    from neardup.index.files import export_index

    stopping.writes(output)
    with Index(path, readonly=True, create=False) as opened:
        done = export_index(opened, output)
    say(f"{count(done, 'document')} → {output}")


@index.command()
@_place
def compact(path: Path) -> None:
    """Reuse the space of deleted documents.

    Example: neardup index compact seen.index
    """
    from neardup.index import Index

    stopping.changes(path)
    with Index(path, create=False) as opened:
        opened.compact()
        say(f"{count(len(opened), 'document')} in {path}")


def _print_lines(found: Iterable[tuple[Any, list[Match]]]) -> None:
    for asked, matches in found:
        line = {"query": asked, "matches": [match._asdict() for match in matches]}
        say_json(line, indent=None)


def _print_table(found: Iterable[tuple[Any, list[Match]]]) -> None:
    """Print columns separated by tabs; with several queries, the query is the first column."""
    for asked, matches in found:
        front = [] if asked is None else [str(asked)]
        if not matches:
            say_columns([*front, "no match"])
        for match in matches:
            similarity = "-" if match.similarity is None else f"{match.similarity:.4f}"
            parts = [*front, str(match.id), str(match.distance), similarity]
            if match.metadata is not None:
                parts.append(str(match.metadata)[:_SHOWN])
            say_columns(parts)
