"""`neardup explain`: why a document was kept or removed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options
from neardup.cli.command import Command
from neardup.cli.span_lines import say_spans
from neardup.cli.terminal import count, plain_console, say, say_json
from neardup.visible import shown_similarity

if TYPE_CHECKING:
    from neardup.comparison.record_result import RecordComparison
    from neardup.comparison.result import Comparison
    from neardup.comparison.spans import SharedSpans
    from neardup.runs import DocumentRow, Link, Run
    from neardup.runs.why import Why

_NEIGHBOURS = 10
_MEMBERS = 10


@click.command(cls=Command)
@options.path_argument("out", "OUT", "Folder that `neardup dedup` wrote.")
@options.argument("id", "The id of a document.", metavar="ID")
@options.context
@options.full
@options.as_json
def explain(out: Path, id: str, context: int, full: bool, json: bool) -> None:
    """Say why a document of a run was kept or removed.

    Shows the document it duplicates, the chain between them if there is one, decisions, near
    misses if the run lists pairs below the threshold (`dedup --floor`), and a word diff; by
    containment and inclusion, the runs of words that both contain; of records, what each field adds
    to the similarity. The first call builds an index in OUT.

    Example: neardup explain out d44
    """
    from neardup.cli.stored_run import opened, place_of
    from neardup.runs.why import why

    run = opened(out)
    document = run.document(place_of(run, id))
    reason = why(run, document)
    near = [link for link in run.neighbours(document.place, 100) if link.similarity < run.threshold]
    if json:
        say_json(_object(run, document, reason, near[:_NEIGHBOURS]))
        return
    _print(run, document, reason, near[:_NEIGHBOURS])
    if document.duplicate_of is None:
        return
    if run.is_scored:
        _print_fields(run, document, context, full)
    if run.is_containment and not run.fields:
        found = _shared(run, document)
        if found.spans:
            _print_spans(run, document, found, full)
            return
    if not run.fields:
        _print_diff(_compared(run, document), context, full)


def _print(run: Run, document: DocumentRow, reason: Why, near: list[Link]) -> None:
    say(f"{document.id}: {reason.sentence[:1].lower()}{reason.sentence[1:]}")
    if reason.chain:
        names = run.documents_at(step.place for step in reason.chain)
        say("chain:")
        for step in reason.chain:
            known = "" if step.similarity is None else f"  {shown_similarity(step.similarity)}"
            say(f"  → {names[step.place].id}{known}")
    if document.cluster is not None:
        cluster = run.cluster(document.cluster)
        size = count(cluster.size, "document")
        say(f"cluster {cluster.number}: {size} around {cluster.around.id}")
        if document.kept or document.is_other:
            _print_members(run, document)
    if document.source is not None:
        say(f"source: {document.source}")
    if not document.is_other:
        say(f"words: {document.words:,}")
    for line in _decisions(run, document):
        say(f"decision: {line}")
    if near:
        say(f"near misses, below {run.limit}:")
        names = run.documents_at(link.b for link in near)
        for link in near:
            say(f"  {names[link.b].id}  {shown_similarity(link.similarity)}")


def _print_members(run: Run, document: DocumentRow) -> None:
    assert document.cluster is not None
    members = [
        member
        for member in run.members(document.cluster, per_page=_MEMBERS + 1)
        if member.place != document.place
    ]
    for member in members[:_MEMBERS]:
        known = "kept" if member.similarity is None else shown_similarity(member.similarity)
        say(f"  {member.id}  {known}")


def _decisions(run: Run, document: DocumentRow) -> list[str]:
    found = run.decisions.current().of_document(document.id, document.is_other)
    return [
        f"{one.by} said {one.says} of {', '.join(map(str, one.documents))} on {one.at}"
        + (f": {one.why}" if one.why else "")
        for one in found
    ]


def _compared(run: Run, document: DocumentRow) -> Comparison:
    from neardup.comparison.compare import compare

    assert document.duplicate_of is not None
    texts = run.texts([document.duplicate_of, document.place])
    return compare(texts[document.duplicate_of], texts[document.place])


def _shared(run: Run, document: DocumentRow) -> SharedSpans:
    from neardup.comparison.spans import find_spans

    assert document.duplicate_of is not None
    texts = run.texts([document.duplicate_of, document.place])
    return find_spans(texts[document.place], texts[document.duplicate_of])


def _print_spans(run: Run, document: DocumentRow, found: SharedSpans, full: bool) -> None:
    assert document.duplicate_of is not None
    say()
    say_spans(found, (str(document.id), str(run.document(document.duplicate_of).id)), full=full)


def _fields(run: Run, document: DocumentRow) -> RecordComparison:
    from neardup.runs.compared import compared_records

    assert document.duplicate_of is not None
    return compared_records(run, document.duplicate_of, document.place, of_b=True)


def _print_fields(run: Run, document: DocumentRow, context: int, full: bool) -> None:
    from neardup.comparison.record_view import RecordView

    assert document.duplicate_of is not None
    names = str(run.document(document.duplicate_of).id), str(document.id)
    say()
    how = "field by field" if run.fields else "by the model"
    say(f"{how}, A the document it duplicates, B this one:")
    say()
    view = RecordView(_fields(run, document), names, context, full, run.limit)
    plain_console().print(view)


def _print_diff(comparison: Comparison, context: int, full: bool) -> None:
    from neardup.comparison.diff_text import DiffCounts, DiffStyle, diff_text

    console = plain_console()
    colour = console.color_system is not None and not console.no_color
    say()
    say(f"diff, from the document it duplicates to this one: {DiffCounts.of(comparison.diff)}")
    say()
    console.print(diff_text(comparison.diff, DiffStyle(colour=colour, context=context, full=full)))


def _object(run: Run, document: DocumentRow, reason: Why, near: list[Link]) -> dict[str, Any]:
    target = None if document.duplicate_of is None else run.document(document.duplicate_of)
    steps = run.documents_at(step.place for step in reason.chain)
    others = run.documents_at(link.b for link in near)
    return {
        "id": document.id,
        "kept": document.kept,
        "other": document.is_other,
        "why": reason.kind,
        "sentence": reason.sentence,
        "duplicate_of": None if target is None else target.id,
        "duplicate_of_other": None if target is None else target.is_other,
        "similarity": document.similarity,
        "threshold": run.summary["settings"]["threshold"],
        "decided_by": document.decided_by,
        "cluster": document.cluster,
        "source": document.source,
        "words": document.words,
        "chain": [
            {"id": steps[step.place].id, "similarity": step.similarity} for step in reason.chain
        ],
        "near_misses": [
            {"id": others[link.b].id, "similarity": link.similarity, "distance": link.distance}
            for link in near
        ],
        "decisions": _decisions(run, document),
        "spans": _shared(run, document).to_dict()
        if run.is_containment and target and not run.fields
        else None,
        "diff": None if target is None else _compared(run, document).to_dict()["diff"],
        "parts": _fields(run, document).to_dict() if run.is_scored and target else None,
    }
