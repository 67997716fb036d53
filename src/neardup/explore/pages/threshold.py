"""`/threshold`: what other thresholds would keep and remove, and the command that applies one."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING

from neardup.explore.http import RefusedError, Request, Response
from neardup.explore.site import Site
from neardup.report.plots.curves import threshold_plot

if TYPE_CHECKING:
    from neardup.runs import Run, ThresholdTable

# Of the rows, with what the page calls them; without all pairs, only the first two are known.
_FIGURES = (
    ("kept", "kept"),
    ("removed", "removed"),
    ("clusters", "clusters"),
    ("split", "clusters split"),
    ("joined", "clusters joined"),
)


def show(site: Site, request: Request) -> Response:
    """The thresholds, with the one that `at` names or that of the run."""
    run = site.run
    table = run.threshold_table()
    own = _own_threshold(run, table)
    asked = request.first("at").strip()
    chosen = own
    if asked:
        try:
            chosen = float(asked)
        except ValueError:
            chosen = math.nan
        if not math.isfinite(chosen):
            raise RefusedError(400, "at must be a threshold.")
    thresholds = [row.threshold for row in table.rows]
    place = _nearest(thresholds, chosen)
    base = _nearest(thresholds, own)
    command = _command(run, table)
    plot = threshold_plot(
        thresholds,
        [row.kept for row in table.rows],
        [row.removed for row in table.rows],
        thresholds[place] if thresholds else own,
    )
    return site.page(
        request,
        "threshold.html",
        table=table,
        place=place,
        base=base,
        own=own,
        figures=_FIGURES if table.exact else _FIGURES[:2],
        plot=plot,
        command=command,
    )


def _own_threshold(run: Run, table: ThresholdTable) -> float:
    """The threshold of the run, as the table counts: a similarity, or a number of bits."""
    return float(run.summary["settings"]["threshold"]) if table.by_distance else run.threshold


def _nearest(thresholds: list[float], wanted: float) -> int:
    if not thresholds:
        return 0
    return min(range(len(thresholds)), key=lambda place: abs(thresholds[place] - wanted))


def _command(run: Run, table: ThresholdTable) -> tuple[str, ...]:
    """The command that applies a threshold, in parts: the threshold stands between them.

    Without the pairs it needs, dedup has to run again.
    """
    out = shlex.quote(str(run.path))
    if table.exact:
        return f"neardup rethreshold {out} ", f" -o {out}-", ""
    again, inputs = _without_threshold(run.summary.get("command") or "neardup dedup INPUT")
    return f"{again} --threshold ", f" -o {out}-", inputs


def _without_threshold(command: str) -> tuple[str, str]:
    """The command of a run, for another threshold and output, and the inputs behind a `--`.

    >>> _without_threshold("neardup dedup a.jsonl -o out --threshold 0.8 -q")
    ('neardup dedup a.jsonl -q', '')
    >>> _without_threshold("neardup dedup --output=out -- a.jsonl")
    ('neardup dedup', ' -- a.jsonl')
    """
    words: list[str] = []
    given = iter(shlex.split(command))
    for word in given:
        if word == "--":
            return shlex.join(words), f" -- {shlex.join(given)}"
        if word in ("-o", "--output", "--threshold"):
            next(given, None)
        elif not word.startswith(("--output=", "--threshold=")):
            words.append(word)
    return shlex.join(words), ""
