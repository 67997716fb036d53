"""`neardup index`: documents that come and go, and what is near them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from neardup.cli import options
from neardup.cli.index_query import query
from neardup.cli.quantities import count, rejected_line, size
from neardup.cli.terminal import say, say_json

index = typer.Typer(
    name="index",
    help="Keep an index of documents, and ask what is near a new one.",
    no_args_is_help=True,
)
index.command()(query)

Place = Annotated[
    Path,
    typer.Argument(
        parser=options.path, metavar="PATH", help="The folder of the index.", show_default=False
    ),
]


@index.command()
def create(
    path: Place,
    text: Annotated[
        str | None,
        typer.Option(help="The fields of records, with weights: name*2+street+city."),
    ] = None,
    features: options.Features = "word:3",
    weights: options.Weights = None,
    idf: Annotated[
        Path | None,
        typer.Option(
            parser=options.path, metavar="PATH", help="A table of `neardup idf` to weigh by."
        ),
    ] = None,
    bits: options.Bits = 64,
    hash: options.Hash = "nd1",
    tie: options.Tie = ">0",
    projection: options.Projection = None,
    plan: Annotated[
        str | None,
        typer.Option(
            help="How to find what is near: blocks:K, bands:MxK or prefix:D.",
            show_default="blocks:3, or as max-distance needs",
        ),
    ] = None,
    max_distance: Annotated[
        int | None,
        typer.Option(
            help="The most bits that may differ, unless a query says otherwise.",
            show_default="as far as the plan is complete",
        ),
    ] = None,
    store_text: Annotated[
        bool, typer.Option("--store-text", help="Keep the texts, to tell true similarities.")
    ] = False,
    store_features: Annotated[
        bool,
        typer.Option("--store-features", help="Keep the features, to tell true similarities."),
    ] = False,
) -> None:
    """Make an index; what it is made with holds for good.

    Example: neardup index create seen.index --store-text
    """
    from neardup.cli import stopping
    from neardup.errors import NeardupError
    from neardup.index import Index
    from neardup.index.disk.store import is_made

    stopping.if_stopped(lambda: f"run it again to be sure that {path} is made")
    if is_made(path):
        raise NeardupError(f"{path} is an index already; add to it, or name another folder")
    with Index(
        path,
        text=text,
        features=features,
        weights=weights,
        idf=idf,
        bits=bits,
        hash=hash,
        tie=tie,
        projection=projection,
        plan=plan,
        max_distance=max_distance,
        store_text=store_text,
        store_features=store_features,
    ) as made:
        say(f"{made.scheme}, {made.settings.plan} → {path}")


@index.command()
def add(
    path: Place,
    inputs: options.Inputs,
    text: options.Text = None,
    id: options.Id = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A column to keep with the documents; `all` keeps all."),
    ] = None,
    sync: Annotated[
        bool,
        typer.Option(
            "--sync/--no-sync",
            help="Wait for the disk at each commit; without, a power cut may damage the index.",
        ),
    ] = True,
    max_document: options.MaxDocument = "64MB",
    threads: options.Threads = None,
    json: options.Json = False,
) -> None:
    """Add documents; one with the id of another replaces it.

    Documents without ids are named after file and row, as a.jsonl:17, and replace nothing: where
    another document has the name, a hash of the content is put behind it.
    A run that was stopped can be run again: what is there already stays as it is.

    Example: neardup index add seen.index corpus.jsonl.gz
    """
    from neardup.cli import stopping
    from neardup.cli.progress import ByteProgress
    from neardup.index import Index
    from neardup.index.files import add_files
    from neardup.pairs.memory import bytes_of

    columns = "all" if metadata == ["all"] else metadata or ()
    with (
        Index(path, create=False, sync=sync, threads=threads) as opened,
        ByteProgress("index") as progress,
    ):
        summary = add_files(
            inputs,
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
    if summary.rejected:
        say(rejected_line(summary.rejected, summary.rejected_file), err=True)
    if summary.left_out:
        say(f"{count(summary.left_out, 'file')} left out → {summary.rejected_file}", err=True)


@index.command()
def delete(
    path: Place,
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...",
            help="Ids; numbers too, where no string is the same.",
            show_default=False,
        ),
    ],
) -> None:
    """Remove documents by their ids, all of them or none.

    Example: neardup index delete seen.index doc-17 doc-18
    """
    from neardup.cli import stopping
    from neardup.errors import InputError
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
def stats(
    path: Place,
    buckets: Annotated[
        int,
        typer.Option(help="How many of the largest buckets to show, 0 to 1,000; 0 is quickest."),
    ] = 5,
    json: options.Json = False,
) -> None:
    """Say what an index holds, and how large it is.

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
def export(
    path: Place,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            parser=options.path,
            metavar="PATH",
            help="A .parquet file of fingerprints, or .jsonl with all that is stored.",
            show_default=False,
        ),
    ],
) -> None:
    """Write all documents of an index to a file.

    Example: neardup index export seen.index -o fps.parquet
    """
    from neardup.cli import stopping
    from neardup.index import Index
    from neardup.index.files import export_index

    stopping.writes(output)
    with Index(path, readonly=True, create=False) as opened:
        done = export_index(opened, output)
    say(f"{count(done, 'document')} → {output}")


@index.command()
def compact(path: Place) -> None:
    """Pack an index anew: what was removed is forgotten, and its room used for what comes.

    Example: neardup index compact seen.index
    """
    from neardup.cli import stopping
    from neardup.index import Index

    stopping.changes(path)
    with Index(path, create=False) as opened:
        opened.compact()
        say(f"{count(len(opened), 'document')} in {path}")
