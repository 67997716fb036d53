"""`neardup compare`: explain one pair."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options
from neardup.cli.command import Command
from neardup.cli.files import STANDARD_INPUT, read_text
from neardup.cli.span_lines import say_spans
from neardup.cli.terminal import count, plain_console, say, say_json
from neardup.errors import InputError, SettingError
from neardup.frozen import dataclass
from neardup.settings import RECIPE
from neardup.visible import shown_similarity

if TYPE_CHECKING:
    from neardup.comparison.record_result import RecordComparison
    from neardup.runs import Run

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
@options.option(
    "--fields",
    metavar="SPEC",
    help="Compare records field by field, as `dedup --text SPEC` does: A and B are JSON objects.",
)
@options.flag(
    "--spans", help="Show the runs of words that both texts contain, instead of features and diff."
)
@options.option(
    "--min-words",
    type=click.IntRange(min=1),
    metavar="N",
    default=8,
    help="Shortest run that --spans shows, in words.",
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
    fields: str | None,
    spans: bool,
    min_words: int,
    context: int,
    full: bool,
    json: bool,
    idf: Path | None,
    **recipe: Any,
) -> None:
    """Explain one pair: features, distance, similarity and diff; or what both contain.

    With the folder of a run, the two documents are compared by the settings of the run, unless
    options say otherwise. Records are compared field by field: the similarity of each field, its
    weight, and what it adds. With --spans, case, punctuation and line breaks do not matter.

    Example: neardup compare draft.txt final.txt --features word:2
    """
    shown = _Shown(context, full, json)
    if spans:
        if fields:
            raise SettingError("--spans compares texts, not the fields of records; leave one out")
        _show_spans(*_texts(documents, text), min_words, shown)
        return
    if _are_of_run(documents, text) and not fields:
        _compare_in_run(documents, options.given_settings(asked), idf, shown)
        return
    names, texts = _two_texts(documents, text)
    if fields is None:
        _compare_texts(names, texts, {**recipe, "idf": idf}, {}, shown)
        return
    from neardup.comparison.compare import compare as compare_records

    a, b = map(_record, ("first", "second"), names, texts)
    shown.records(compare_records(a, b, text=fields, idf=idf, **recipe), names, {}, "")


def _are_of_run(documents: tuple[str, ...], text: tuple[str, ...]) -> bool:
    return len(documents) == _OF_RUN and Path(documents[0]).is_dir() and not text


def _texts(
    documents: tuple[str, ...], text: tuple[str, ...]
) -> tuple[tuple[str, str], tuple[str, str]]:
    """The names and the texts of two files, or of two documents of a run."""
    if not _are_of_run(documents, text):
        return _two_texts(documents, text)
    from neardup.cli.stored_run import opened, place_of

    run = opened(Path(documents[0]))
    a, b = (place_of(run, id) for id in documents[1:])
    found = run.texts([a, b])
    return (documents[1], documents[2]), (found[a], found[b])


def _show_spans(
    names: tuple[str, str], texts: tuple[str, str], min_words: int, shown: _Shown
) -> None:
    """Print what both texts contain; the longest runs first."""
    from neardup.comparison.spans import find_spans

    found = find_spans(*texts, min_words)
    if shown.json:
        say_json(found.to_dict())
        return
    if not found.spans:
        say(f"no run of {count(min_words, 'word')} or more is in both")
        return
    say_spans(found, names, full=shown.full)


@dataclass(frozen=True)
class _Shown:
    """How to print a comparison."""

    context: int
    full: bool
    json: bool

    def records(
        self,
        comparison: RecordComparison,
        names: tuple[str, str],
        listed: dict[str, Any],
        limit: str,
    ) -> None:
        if self.json:
            say_json({**comparison.to_dict(), **listed})
            return
        from neardup.comparison.record_view import RecordView

        _say_listed(listed)
        plain_console().print(RecordView(comparison, names, self.context, self.full, limit))

    def diff(self, a: str, b: str) -> None:
        from neardup.comparison.diff_text import DiffCounts, DiffStyle, diff_text
        from neardup.comparison.long_texts import find_text_edits

        edits = find_text_edits(a, b)[0]
        console = plain_console()
        colour = console.color_system is not None and not console.no_color
        say()
        say(str(DiffCounts.of(edits)))
        console.print(diff_text(edits, DiffStyle(colour, self.context, full=self.full)))


def _compare_texts(
    names: tuple[str, str],
    texts: tuple[str, str],
    recipe: dict[str, Any],
    listed: dict[str, Any],
    shown: _Shown,
) -> None:
    from neardup.comparison.compare import compare as compare_texts

    comparison = compare_texts(*texts, **recipe)
    if shown.json:
        say_json({**comparison.to_dict(), **listed})
        return
    from neardup.comparison.view import ComparisonView

    _say_listed(listed)
    plain_console().print(ComparisonView(comparison, names, shown.context, shown.full))


def _say_listed(listed: dict[str, Any]) -> None:
    if listed.get("listed"):
        say(f"listed by the run: similarity {shown_similarity(listed['listed']['similarity'])}")
        say()


def _compare_in_run(
    documents: tuple[str, ...], chosen: dict[str, Any], idf: Path | None, shown: _Shown
) -> None:
    from neardup.cli.stored_run import opened, place_of

    run = opened(Path(documents[0]))
    a, b = (place_of(run, id) for id in documents[1:])
    found = run.documents_at([a, b])
    names = str(found[a].id), str(found[b].id)
    links = run.links([a, b])
    pair = {"similarity": links[0].similarity, "distance": links[0].distance} if links else None
    listed = {"ids": [found[a].id, found[b].id], "listed": pair}
    texts = run.texts([a, b])
    if run.is_scored:
        from neardup.runs.compared import compared_records

        comparison = compared_records(run, a, b, idf=idf, **chosen)
        shown.records(comparison, names, listed, run.limit)
        if not run.fields and not shown.json:
            shown.diff(texts[a], texts[b])
        return
    recipe = _recipe(run, chosen)
    from neardup.fingerprints.scheme import Scheme

    table = idf or run.idf_table(Scheme.of(**recipe))
    _compare_texts(names, (texts[a], texts[b]), {**recipe, "idf": table}, listed, shown)


def _recipe(run: Run, chosen: dict[str, Any]) -> dict[str, Any]:
    settings = run.summary["settings"]
    recipe = {name: settings[name] for name in RECIPE if name in settings}
    if str(recipe["features"]).startswith("terms"):
        # The terms are compared as words of a text.
        recipe |= {"features": "word:1", "weights": None}
    return recipe | chosen


def _record(which: str, name: str, text: str) -> dict[str, Any]:
    """The JSON object of a file or of --text."""
    from json import JSONDecodeError, loads

    where = name or f"the {which} --text"
    try:
        found = loads(text)
    except (JSONDecodeError, RecursionError) as error:
        raise InputError(f"{where} is not JSON ({error}); --fields compares JSON objects") from None
    if not isinstance(found, dict):
        raise InputError(
            f"{where} is a JSON {type(found).__name__}, not an object; --fields compares objects "
            'such as {"name": "Ann", "city": "Oslo"}'
        )
    return found


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
