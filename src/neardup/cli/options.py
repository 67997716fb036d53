"""The options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def path(name: str) -> Path:
    """A file or folder to write, or one of ours to read, by a name that can be written down."""
    if not name:
        raise typer.BadParameter("the name is empty; give the name of a file or folder")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise typer.BadParameter(f"the name {name!r} is not UTF-8; choose another") from None
    return Path(name)


OutputFile = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        parser=path,
        metavar="PATH",
        help="The Parquet file to write.",
        show_default=False,
    ),
]
Features = Annotated[
    str,
    typer.Option(
        help="What a document is made of: word:N, char:N, sentences:N, edges, keywords:N, a union "
        "such as word:1+word:3, or the terms it brings."
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        help="Features once each (set), by number (count), by tfidf or tfidf:lab over the "
        "collection, or as terms are weighted (given).",
        show_default="set; given for terms; tfidf for keywords",
    ),
]
Idf = Annotated[
    Path | None,
    typer.Option(
        parser=path,
        metavar="PATH",
        help="A table of `neardup idf` to weigh by.",
        show_default="counted from the input",
    ),
]
Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="Files, folders, globs, URLs, or - for standard input.",
        show_default=False,
    ),
]
Text = Annotated[
    str | None,
    typer.Option(
        help="The column with the text, or the terms; several as fields, with weights: "
        "name*2+street+city.",
        show_default="text, or terms",
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        help="The column with the ids; `row` numbers the rows instead.",
        show_default="id, else the row's number",
    ),
]
MaxDocument = Annotated[
    str,
    typer.Option(
        metavar="SIZE", help="Reject documents that are longer than this, for example 200MB."
    ),
]
Bits = Annotated[int, typer.Option(help="Bits of a fingerprint, 1 to 4096.")]
Hash = Annotated[
    str,
    typer.Option(
        help="The hash family; `neardup hashes` lists them. nd1:NAME is nd1 with a secret key, "
        "which is read from the environment variable NEARDUP_KEY_NAME."
    ),
]
Projection = Annotated[
    str | None,
    typer.Option(help="Bits by way of a sphere, for example sphere:42x64.", show_default="none"),
]
Tie = Annotated[
    str, typer.Option(help="Whether a sum of zero leaves a bit clear (>0) or sets it (>=0).")
]
Threads = Annotated[
    int | None, typer.Option(help="Threads to use, 1 to 1024.", show_default="one for each core")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead.")]
