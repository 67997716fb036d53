"""`neardup review`: decide on doubtful pairs, one after the other."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli import options, stopping
from neardup.cli.command import Command
from neardup.cli.terminal import count, plain_console, say
from neardup.visible import shown_similarity

if TYPE_CHECKING:
    from neardup.decisions import Decision
    from neardup.runs import DocumentRow, QueueItem, Run

_KEYS = "s same, d different, k keep one of them, n skip, u undo, q quit"
_KEYS_TO_LABEL = "s same, d different, n skip, u undo, q quit"
_SAYS = {"s": "same", "d": "different", "n": "skip"}
_KEPT = {"1": 0, "a": 0, "2": 1, "b": 1}
_QUIT = ("q", "\x03", "\x04")


@click.command(cls=Command)
@options.path_argument(
    "out", "OUT", "Folder that `neardup dedup` wrote, or a file of pairs to label."
)
@options.option(
    "--by", metavar="NAME", note="your user name", help="Who decides: the name in decisions.jsonl."
)
@options.context
def review(out: Path, by: str | None, context: int) -> None:
    """Decide on the doubtful pairs of a run in the terminal.

    Pairs nearest to the threshold come first, one for each cluster. A key decides: s same, d
    different, k keep one of them (then a or b), n skip, u undo the last one, q quit. Decisions are
    stored in OUT/decisions.jsonl, which `neardup dedup --decisions` obeys. Without a terminal, keys
    are read from standard input, one per line.

    A file of pairs to label, as `neardup tune` writes it, is asked about in its order, without k.
    The answers are stored beside it, in FILE.decisions.jsonl; they are labels.

    Example: neardup review out --by ann
    """
    from neardup.cli.stored_run import opened, user_name
    from neardup.runs.rerun import rerun_command

    run = opened(out)
    made: list[Decision] = []
    stopping.if_stopped(lambda: f"{count(len(made), 'decision')} stored in {run.decisions.path}")
    _Review(run, by or user_name(), context, made).run()
    say(f"{count(len(made), 'decision')} stored in {run.decisions.path}")
    if made or run.to_label is not None:
        say(f"Next: {rerun_command(run)}")


class _Review:
    def __init__(self, run: Run, by: str, context: int, made: list[Decision]) -> None:
        self._run, self._by, self._context, self._made = run, by, context, made

    def run(self) -> None:
        while True:
            items = self._run.queue(0, 1, self._by)
            if not items:
                say("Nothing is left to decide.")
                return
            self._show(items[0])
            if not self._act(items[0]):
                return

    def _show(self, item: QueueItem) -> None:
        from neardup.comparison.compare import compare
        from neardup.comparison.diff_text import DiffCounts, DiffStyle, diff_text

        run = self._run
        done, total = run.queue_progress(self._by)
        documents, texts = run.documents_at([item.a, item.b]), run.texts([item.a, item.b])
        similarity = shown_similarity(item.similarity)
        say(f"[{done + 1:,} of {total:,}] similarity {similarity}. {item.reason}")
        for letter, place in (("a", item.a), ("b", item.b)):
            document = documents[place]
            say(f"  {letter}  {document.id}{_told(document) if run.to_label is None else ''}")
        names = str(documents[item.a].id), str(documents[item.b].id)
        if self._show_fields(item, names):
            return
        comparison = compare(texts[item.a], texts[item.b])
        console = plain_console()
        colour = console.color_system is not None and not console.no_color
        style = DiffStyle(colour=colour, context=self._context)
        say(f"  {DiffCounts.of(comparison.diff)}")
        console.print(diff_text(comparison.diff, style))

    def _show_fields(self, item: QueueItem, names: tuple[str, str]) -> bool:
        """Print what the similarity is made of; whether that shows the documents."""
        from neardup.comparison.record_view import RecordView
        from neardup.runs.compared import compared_parts

        found = compared_parts(self._run, item.a, item.b)
        if found is None:
            return False
        plain_console().print(RecordView(found, names, self._context, limit=self._run.limit))
        return found.has_fields

    def _act(self, item: QueueItem) -> bool:
        """Do what the next key says; False to end."""
        keys = _KEYS if self._run.to_label is None else _KEYS_TO_LABEL
        while True:
            key = _key(keys)
            if key is None or key in _QUIT:
                return False
            if key in _SAYS:
                self._add(_SAYS[key], (item.a, item.b), item.similarity)
                return True
            if key == "k" and self._run.to_label is None:
                which = _key("keep a or b")
                if which in _KEPT:
                    kept = (item.a, item.b)[_KEPT[which]]
                    self._add("keep", (kept, item.a + item.b - kept), item.similarity)
                    return True
                say("nothing decided: answer a or b")
            elif key == "u":
                if self._undo():
                    return True
            else:
                say(f"unknown key {key!r}: {keys}")

    def _add(self, says: str, places: tuple[int, int], similarity: float | None) -> None:
        documents = [self._run.named(place) for place in places]
        made = self._run.decisions.add(says, documents, by=self._by, similarity=similarity)
        self._made.append(made)
        say(f"{says}: {documents[0]}, {documents[1]}")

    def _undo(self) -> bool:
        if not self._made:
            say("nothing to undo: this session has decided nothing")
            return False
        last = self._made.pop()
        self._run.decisions.undo(last.key, by=self._by)
        say(f"undone: {last.says} {', '.join(map(str, last.documents))}")
        return True


def _told(document: DocumentRow) -> str:
    """What happened to a document of a run, and where it is from."""
    role = "other collection" if document.is_other else "kept" if document.kept else "removed"
    source = f", from {document.source}" if document.source else ""
    return f" ({role}{source})"


def _key(asked: str) -> str | None:
    """The next key, in lower case; without a terminal, that of the next line. None at the end."""
    if sys.stdin.isatty():
        say(f"{asked}: ")
        try:
            return click.getchar().lower()
        except (KeyboardInterrupt, EOFError):
            return None
    while line := sys.stdin.readline():
        if line.strip():
            return line.strip()[:1].lower()
    return None
