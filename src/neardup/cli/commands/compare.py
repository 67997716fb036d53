"""`neardup compare`: explain one pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neardup.cli import options
from neardup.cli.command import Command
from neardup.cli.files import STANDARD_INPUT, read_text
from neardup.cli.terminal import plain_console, say, say_json
from neardup.errors import SettingError
from neardup.frozen import dataclass
from neardup.settings import RECIPE
from neardup.visible import shown_similarity

_OF_RUN = 3  # a folder and two ids


@click.command(cls=Command)
@options.argument(
    "documents",
    "Two plain text files in UTF-8, one document each; - is standard input. Or the folder of a "
    "run and two ids.",
    metavar="A B | OUT ID ID",
    nargs=-1,
)
@options.option(
    "--text",
    multiple=True,
    help="Text to compare, instead of a file; give this option twice.",
)
@options.context
@options.full
@options.as_json
@options.settings("features", "weights")
@options.idf
@options.settings("bits", "hash", "tie", "projection")
@click.pass_context
def compare(
    asked: click.Context,
    /,
    documents: tuple[str, ...],
    text: tuple[str, ...],
    context: int,
    full: bool,
    json: bool,
    idf: Path | None,
    **recipe: Any,
) -> None:
    """Explain one pair: features, distance, similarity and diff.

    With the folder of a run, the two documents are compared by the settings of the run, unless
    options say otherwise.

    Example: neardup compare draft.txt final.txt --features word:2
    """
    from neardup.comparison.compare import compare as compare_texts

    listed: dict[str, Any] = {}
    if len(documents) == _OF_RUN and Path(documents[0]).is_dir() and not text:
        pair = _of_run(documents)
        names, texts, listed = pair.names, pair.texts, pair.listed
        recipe |= {**pair.recipe, **options.given_settings(asked)}
    else:
        names, texts = _two_texts(documents, text)
    comparison = compare_texts(*texts, idf=idf, **recipe)
    if json:
        say_json({**comparison.to_dict(), **listed})
        return
    from neardup.comparison.view import ComparisonView

    if listed.get("listed"):
        # With tf-idf it is another one: weights are counted from the whole input there.
        say(f"listed by the run: similarity {shown_similarity(listed['listed']['similarity'])}")
        say()
    plain_console().print(ComparisonView(comparison, names, context, full))


@dataclass(frozen=True)
class _Pair:
    """Two documents of a run: ids, texts, the recipe of its scheme, and what it lists of them."""

    names: tuple[str, str]
    texts: tuple[str, str]
    recipe: dict[str, Any]
    listed: dict[str, Any]


def _of_run(documents: tuple[str, ...]) -> _Pair:
    from neardup.cli.stored_run import opened, place_of

    run = opened(Path(documents[0]))
    a, b = (place_of(run, id) for id in documents[1:])
    found = run.documents_at([a, b])
    texts = run.texts([a, b])
    settings = run.summary["settings"]
    recipe = {name: settings[name] for name in RECIPE if name in settings}
    if str(recipe["features"]).startswith("terms"):
        # The terms are compared as words of a text.
        recipe |= {"features": "word:1", "weights": None}
    links = run.links([a, b])
    pair = {"similarity": links[0].similarity, "distance": links[0].distance} if links else None
    listed = {"ids": [found[a].id, found[b].id], "listed": pair}
    return _Pair((str(found[a].id), str(found[b].id)), (texts[a], texts[b]), recipe, listed)


def _two_texts(
    files: tuple[str, ...], texts: tuple[str, ...]
) -> tuple[tuple[str, str], tuple[str, str]]:
    if not files and len(texts) == 2:
        return ("", ""), (texts[0], texts[1])
    if texts or len(files) != 2:
        raise SettingError(
            f"compare needs two files or two --text, not {len(files)} and {len(texts)}; "
            "for example: neardup compare a.txt b.txt, or neardup compare OUT ID ID"
        )
    if files == (STANDARD_INPUT, STANDARD_INPUT):
        raise SettingError("only one of the two documents can come from standard input (-)")
    return (files[0], files[1]), (read_text(files[0]), read_text(files[1]))
