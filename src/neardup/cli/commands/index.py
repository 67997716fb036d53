"""`neardup index`: add, check, query and delete documents of an index, and look after it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options, stopping
from neardup.cli.answers import (
    print_checked,
    print_lines,
    print_queried,
    print_stats,
    print_table,
)
from neardup.cli.command import Group
from neardup.cli.failures import failing_with_2
from neardup.cli.files import STANDARD_INPUT, read_text
from neardup.cli.terminal import count, say, say_files, say_json, say_rejected, size
from neardup.errors import InputError, NeardupError, SettingError
from neardup.settings import CONTAINMENTS

if TYPE_CHECKING:
    from neardup.index import Index, Match
    from neardup.index.entries import Id
    from neardup.index.lines import Checked

_FINGERPRINTS = "Search by fingerprints"

_place: options.Decorator = options.path_argument("path", "PATH", "Folder of the index.")
_many: options.Decorator = options.option(
    "--input",
    "-i",
    "inputs",
    metavar="INPUT",
    multiple=True,
    help="Many documents: a file, folder, glob or URL, or - for standard input. Repeatable.",
)
_metadata: options.Decorator = options.option(
    "--metadata",
    metavar="COL",
    multiple=True,
    help="Column to store with the documents; `all` stores all columns. Repeatable.",
)
_sync: options.Decorator = options.option(
    "--sync/--no-sync",
    default=True,
    help="Wait for the disk at each commit. With --no-sync, a power failure can damage the index.",
)
_distance: options.Decorator = options.option(
    "--max-distance",
    type=int,
    note="that of the index",
    help="Maximum number of differing bits; for an index created with --max-distance.",
)
_threshold: options.Decorator = options.option(
    "--threshold",
    type=float,
    note="that of the index",
    help="Minimum similarity. An index created with --max-distance must store texts or features.",
)
_limit: options.Decorator = options.option(
    "--limit", type=int, default=10, help="Maximum number of matches for each document."
)
_json_lines: options.Decorator = options.flag(
    "--json", help="Print one JSON object per line, with all matches up to --limit."
)


def _ttl(note: str, help: str) -> options.Decorator:
    return options.option("--ttl", metavar="TIME", note=note, help=help)


@click.group(cls=Group)
def index() -> None:
    """Store documents in an index and find those near a new one."""


@index.command()
@_place
@options.option(
    "--similarity",
    metavar="NAME",
    shell_complete=options.one_of(CONTAINMENTS),
    note="jaccard for sets, cosine for given terms, else weighted-jaccard",
    help="Similarity measure: containment (the shared part of the smaller document), inclusion "
    "(the part of a query that a stored document has), or the one that fits the weights.",
)
@options.option(
    "--threshold",
    type=float,
    note="0.8, unless --max-distance or --plan is given",
    help="Find documents of at least this similarity, such as edited copies of a text.",
)
@options.flag(
    "--complete",
    help="Miss nothing. Without it, 99.9 % of the near-duplicates at the threshold are expected to "
    "be found, and practically all above; the tables take a third of the space.",
)
@_ttl("never", "Time until a document expires and matches nothing, for example 12h or 30d.")
@options.flag("--store-text", help="Store the texts, to be exported.")
@options.option(
    "--max-distance",
    type=int,
    section=_FINGERPRINTS,
    help="Find documents by fingerprints with at most this number of differing bits. Google's "
    "crawler used 3 of 64, for pages that differ in a counter or a date; edited texts differ in "
    "more.",
)
@options.option(
    "--plan",
    metavar="PLAN",
    section=_FINGERPRINTS,
    note="blocks:K, where K is --max-distance",
    help="How to search fingerprints: blocks:K, bands:MxK or prefix:D.",
)
@options.option(
    "--store-features",
    is_flag=True,
    section=_FINGERPRINTS,
    help="With --max-distance: store the features, so that queries give true similarities. An "
    "index by similarity always stores them.",
)
@options.setting(
    "text", note="none", help="Fields of records, with optional weights: name*2+street+city."
)
@options.settings("features", "weights")
@options.path(
    "--idf",
    section=options.FINGERPRINTS,
    help="Document frequencies for weights by rarity, a table written by `neardup idf`.",
)
@options.settings("bits", "hash", "tie", "projection")
def create(
    path: Path,
    similarity: str | None,
    threshold: float | None,
    complete: bool,
    ttl: str | None,
    store_text: bool,
    max_distance: int | None,
    plan: str | None,
    store_features: bool,
    text: str | None,
    idf: Path | None,
    **recipe: Any,
) -> None:
    """Create an index; its settings cannot be changed later.

    By default, it finds near-duplicates as `neardup dedup` does: by the similarity of their
    features, from 0.8 on. With --max-distance it finds fingerprints that differ in a few bits.

    Example: neardup index create seen.index --threshold 0.8 --ttl 30d
    """
    from neardup.index import Index
    from neardup.index.disk.opening import is_made

    stopping.if_stopped(lambda: f"run the command again to be sure that {path} is complete")
    if is_made(path):
        raise NeardupError(f"{path} is an index already; add to it, or name another folder")
    with Index(
        path,
        text=text,
        idf=idf,
        similarity=similarity,
        threshold=threshold,
        complete=complete or None,
        ttl=ttl,
        plan=plan,
        max_distance=max_distance,
        store_text=store_text or None,
        store_features=store_features or None,
        **recipe,
    ) as made:
        say(f"finds {made.settings.finds}")
        say(f"{made.scheme} → {path}")


@index.command()
@_place
@options.inputs
@_metadata
@_ttl("that of the index", "Time until the documents expire, for example 12h or 30d.")
@options.flag(
    "--replace",
    help="Replace documents that have the same ids and other content; without it they are an "
    "error.",
)
@_sync
@options.as_json
@options.settings("text", "id", "read_as", "suffix", "max_document", "threads")
def add(
    path: Path,
    inputs: tuple[str, ...],
    metadata: tuple[str, ...],
    ttl: str | None,
    replace: bool,
    sync: bool,
    json: bool,
    text: str | None,
    id: str | None,
    read_as: str | None,
    suffix: str | None,
    max_document: str,
    threads: int | None,
) -> None:
    """Add documents, near-duplicates too; `neardup index check` adds only new ones.

    If a document has the id of another one in the index, the command stops before anything of
    that batch is stored, unless --replace is given. Documents without ids are named after file and
    row, for example a.jsonl:17, and replace nothing: if another document has that name, a hash of
    the content is appended.

    An interrupted run can be repeated: documents that are already stored stay as they are.

    Example: neardup index add seen.index corpus.jsonl.gz
    """
    from neardup.cli.progress import ByteProgress
    from neardup.index import Index
    from neardup.index.files import add_files
    from neardup.settings import bytes_of

    with (
        Index(path, create=False, sync=sync, threads=threads) as opened,
        ByteProgress("index") as progress,
    ):
        summary = add_files(
            list(inputs),
            opened,
            text=text,
            id=id,
            metadata=_columns(metadata),
            ttl=ttl,
            replace=replace,
            read_as=read_as,
            suffix=suffix,
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
    say_files(summary.files)
    say_rejected(summary.rejected, summary.left_out, summary.rejected_file)


@index.command()
@_place
@options.argument(
    "document",
    "Text to check; - reads standard input line by line.",
    metavar="[TEXT]",
    required=False,
)
@_many
@options.option(
    "--add",
    metavar="WHICH",
    default="new",
    shell_complete=options.one_of(("new", "always", "never")),
    help="Which documents to add to the index: new, always (all of them) or never.",
)
@options.option(
    "--keep-per-group",
    type=int,
    default=1,
    help="A document is new if fewer than this many documents match it.",
)
@_ttl("that of the index", "Time until the added documents expire, for example 12h or 30d.")
@_distance
@_threshold
@_limit
@_metadata
@_sync
@_json_lines
@options.setting("text")
@options.setting(
    "id",
    help="Id of TEXT; for other documents, the column or key with their ids.",
    note="the column or key id if present, else made",
)
@options.settings("read_as", "suffix", "max_document", "threads")
@click.pass_context
def check(
    context: click.Context,
    /,
    path: Path,
    document: str | None,
    inputs: tuple[str, ...],
    metadata: tuple[str, ...],
    sync: bool,
    json: bool,
    text: str | None,
    id: str | None,
    read_as: str | None,
    suffix: str | None,
    max_document: str,
    threads: int | None,
    **rules: Any,
) -> None:
    """Say whether documents are new or were seen before, and add the new ones.

    A document was seen if the index has a near-duplicate of it under another id. Each document is
    answered by one line with tabs between the columns: new or seen, its id, and the id and
    similarity of the most similar document, or - and -.

    TEXT is one document, --input names many. Otherwise, or if TEXT is -, each line of standard
    input is a document and is answered at once, so that another program can run this command as a
    co-process. A line is a text, or a JSON object with the keys text, id and metadata, of which
    only text is required. A bad line is answered by error, its id or -, and the reason. What was
    answered is stored.

    Documents of files without ids are named after file and row. TEXT and lines without ids get ids
    that are new in every run, and replace nothing; with ids of your own, a check can be repeated.

    The exit code is 0 if all documents are new, 1 if one was seen, and 2 after any error.

    Example: neardup index check seen.index "To be, or not to be" --id hamlet
    """
    from neardup.index import Index
    from neardup.index.files import check_files
    from neardup.index.lines import LineFormat, check_lines, check_text
    from neardup.read.source import standard_input
    from neardup.settings import bytes_of

    by_line = not inputs and document in (None, STANDARD_INPUT)
    if document is not None and inputs:
        raise SettingError("give a text or --input, not both")
    if not inputs and not by_line and (text is not None or metadata):
        raise SettingError("--text and --metadata are for --input and standard input; omit them")
    _require_files(inputs, read_as, suffix)
    most, columns = bytes_of(max_document, "max_document"), _columns(metadata)
    answers: Iterable[list[Checked]]
    with (
        failing_with_2(),
        Index(
            path, create=False, readonly=rules["add"] == "never", sync=sync, threads=threads
        ) as opened,
    ):
        if inputs:
            answers = check_files(
                inputs,
                opened,
                text=text,
                id=id,
                metadata=columns,
                read_as=read_as,
                suffix=suffix,
                max_document=most,
                **rules,
            )
        elif document is not None and not by_line:
            known = None if id is None else _id_of(opened, id)
            answers = [[check_text(document, opened, known, **rules)]]
        else:
            form = LineFormat(opened.scheme, text, id, columns, most)
            answers = check_lines(standard_input(), opened, form, **rules)
        code = print_checked(answers, path, json)
    context.exit(code)


@index.command()
@_place
@options.argument(
    "document",
    "Text to query; - reads standard input line by line.",
    metavar="[TEXT]",
    required=False,
)
@_many
@_distance
@_threshold
@_limit
@_json_lines
@options.settings("text", "id", "read_as", "suffix", "max_document", "threads")
@click.pass_context
def query(
    context: click.Context,
    /,
    path: Path,
    document: str | None,
    inputs: tuple[str, ...],
    json: bool,
    text: str | None,
    id: str | None,
    read_as: str | None,
    suffix: str | None,
    max_document: str,
    threads: int | None,
    **asking: Any,
) -> None:
    """Find the documents near a text, or near each of many; nothing is changed.

    The most similar or nearest come first. One line is printed for each match: its id, the number
    of differing bits, its similarity if known, and its metadata; with many documents, the id of the
    document comes first.

    Without TEXT and --input, one text is read from standard input. If TEXT is -, each line of
    standard input is a document, as for `neardup index check`, and is answered at once by one line:
    its id or line number, and the best match or, with --json, all matches.

    The exit code is 0 whether there are matches or not.

    Example: neardup index query seen.index "To be, or not to be"
    """
    from neardup.index import Index
    from neardup.index.files import query_files
    from neardup.index.lines import LineFormat, query_lines
    from neardup.read.source import standard_input
    from neardup.settings import bytes_of

    by_line = not inputs and document == STANDARD_INPUT
    if document is not None and inputs:
        raise SettingError("give a text or --input, not both")
    if not inputs and not by_line and (text is not None or id is not None):
        raise SettingError(
            "--text and --id name columns of --input or keys of lines; give --input or -, or omit "
            "them"
        )
    _require_files(inputs, read_as, suffix)
    most = bytes_of(max_document, "max_document")
    with Index(path, readonly=True, create=False, threads=threads) as opened:
        found: Iterable[tuple[Any, list[Match]]]
        if by_line:
            form = LineFormat(opened.scheme, text, id, max_document=most)
            failed = print_queried(query_lines(standard_input(), opened, form, **asking), json)
            context.exit(1 if failed else 0)
        if inputs:
            found = query_files(
                inputs,
                opened,
                text=text,
                id=id,
                read_as=read_as,
                suffix=suffix,
                max_document=most,
                **asking,
            )
        else:
            asked = read_text(STANDARD_INPUT) if document is None else document
            found = [(None, opened.query(asked, **asking))]
        if json:
            print_lines(found)
        else:
            print_table(found)


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
        found = [_id_of(opened, id) for id in ids]
        for id, known in zip(ids, found, strict=True):
            if known not in opened:
                raise InputError(f"{path} has no document {quoted(id)}; nothing was removed")
        removed = opened.delete_many(found)
        say(f"{count(removed, 'document')} removed; the index has {len(opened):,}")


@index.command()
@_place
def expire(path: Path) -> None:
    """Remove the documents whose time is over, and free their space.

    They match nothing from that time on, removed or not; see --ttl of `neardup index create`.

    Example: neardup index expire seen.index
    """
    from neardup.index import Index

    stopping.changes(path)
    with Index(path, create=False) as opened:
        removed = opened.expire()
        say(f"{count(removed, 'expired document')} removed; the index has {len(opened):,}")


@index.command()
@_place
@options.option(
    "--buckets",
    type=int,
    default=5,
    help="Number of the largest buckets to show, of an index created with --max-distance, 0 to "
    "1,000; 0 is fastest.",
)
@options.as_json
def stats(path: Path, buckets: int, json: bool) -> None:
    """Show what an index finds, how large it is, and how it grows.

    Example: neardup index stats seen.index
    """
    from neardup.index import Index

    with Index(path, readonly=True, create=False) as opened:
        found = opened.stats(buckets)
    each = found.bytes["file"] / found.documents if found.documents else None
    if json:
        say_json({**found.to_dict(), "bytes_per_document": each})
    else:
        print_stats(found, each)


@index.command()
@_place
@options.path_argument("destination", "DEST", "Folder to create.")
def backup(path: Path, destination: Path) -> None:
    """Write a verified copy of an index to a new folder.

    The copy has the state of one moment; other programs may write meanwhile. It is an index of its
    own: to restore it, copy the folder back while no program has the index open.

    Example: neardup index backup seen.index seen-monday.index
    """
    from neardup.index import Index
    from neardup.index.disk.environment import DATA

    stopping.writes(destination)
    with Index(path, readonly=True, create=False) as opened:
        if destination.exists() and not (destination.is_dir() and not any(destination.iterdir())):
            raise NeardupError(
                f"{destination} is there already, and a backup replaces nothing; name a new folder"
            )
        documents = opened.backup(destination)
    taken = (destination / DATA).stat().st_size
    say(f"{count(documents, 'document')}, {size(taken)} → {destination}")


@index.command()
@_place
def upgrade(path: Path) -> None:
    """Convert an index of an earlier version, in place and at once or not at all.

    Such an index can be queried, but not changed. What it finds stays the same.

    Example: neardup index upgrade seen.index
    """
    from neardup.index import Index
    from neardup.index.disk.opening import FORMAT, upgrade as convert

    stopping.changes(path)
    with Index(path, readonly=True, create=False) as opened:
        documents = len(opened)
    converted = "" if convert(path) else "already "
    say(f"{path} is {converted}{FORMAT}, with {count(documents, 'document')}")


@index.command()
@_place
@options.path(
    "--output",
    "-o",
    required=True,
    help="File to write: .parquet for fingerprints, .jsonl for ids, fingerprints, times, metadata "
    "and texts.",
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


def _require_files(inputs: tuple[str, ...], read_as: str | None, suffix: str | None) -> None:
    """Refuse options about files where there are none."""
    from neardup.errors import SettingError

    if not inputs and (read_as is not None or suffix is not None):
        raise SettingError(
            "--as and --suffix are about the files of --input; give it, or omit them"
        )


def _columns(metadata: tuple[str, ...]) -> Any:
    return "all" if metadata == ("all",) else metadata


def _id_of(index: Index, id: str) -> Id:
    """The id as the index has it: an id that is no known string may be a number."""
    if id not in index and id.isascii() and id.lstrip("-").isdecimal() and len(id) < 20:
        return int(id) if int(id) in index else id
    return id
