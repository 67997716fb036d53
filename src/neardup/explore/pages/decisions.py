"""`/decisions`: what was decided, by whom; and the forms that decide and undo."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from neardup.decisions.model import MOST_WHY
from neardup.decisions.tables import export
from neardup.errors import InputError
from neardup.explore.http import RefusedError, Request, Response
from neardup.explore.reviewer import local_next, reviewer_of
from neardup.explore.site import Site
from neardup.explore.views.decided import decision_views
from neardup.explore.views.documents import pair_similarity
from neardup.runs import DocumentRow, Run
from neardup.runs.rerun import rerun_command

MOST_DOCUMENTS = 1000
_PER_PAGE = 50
_SAYS = ("same", "different", "keep", "skip")
_KINDS = {".csv": "text/csv; charset=utf-8", ".parquet": "application/vnd.apache.parquet"}


def show(site: Site, request: Request) -> Response:
    """The history, the newest first."""
    file = site.run.decisions
    history, current = file.history(), file.current()
    undone = [one.undoes for one in history if one.says == "undo"]
    page, pages = request.whole("page") or 1, max(1, -(-len(history) // _PER_PAGE))
    if page > pages:
        raise RefusedError(404, f"There are only {pages:,} pages of decisions.")
    newest = history[::-1][(page - 1) * _PER_PAGE : page * _PER_PAGE]
    return site.page(
        request,
        "decisions.html",
        decisions=decision_views(site, newest, current, undone),
        total=len(history),
        holding=len(current.decisions),
        disagreements=[str(one) for one in current.disagreements[:10]],
        all_disagreements=len(current.disagreements),
        page=page,
        pages=pages,
        here=lambda page=None: site.url("/decisions", page=page),
        reviewer=reviewer_of(site, request),
        command=rerun_command(site.run),
    )


def download_csv(site: Site, request: Request) -> Response:
    """`/decisions.csv`: what holds now, a row for each pair."""
    return _download(site, ".csv")


def download_parquet(site: Site, request: Request) -> Response:
    """`/decisions.parquet`: the same in Parquet."""
    return _download(site, ".parquet")


def _download(site: Site, suffix: str) -> Response:
    with TemporaryDirectory(prefix="neardup-") as folder:
        path = Path(folder) / f"decisions{suffix}"
        export(site.run.decisions.current().decisions, path)
        content = path.read_bytes()
    name = ("Content-Disposition", f'attachment; filename="decisions{suffix}"')
    return Response(200, (("Content-Type", _KINDS[suffix]), name), content)


def decide(site: Site, request: Request) -> Response:
    """`POST /decisions`: store what a reviewer says of some documents, or of a cluster.

    The fields are `says`, `documents` (places), or `cluster` instead of them, `keep` (the place of
    the one to keep), `why`, and `next`, the page to go on with.
    """
    run, form = site.run, request.form
    after = local_next(site, request, "/decisions")
    kept = _places(form.get("keep", ()))
    says = "keep" if kept else next(iter(form.get("says", ())), "")
    if says == "keep" and run.to_label is not None:
        raise RefusedError(400, "Pairs to label are the same or different; nothing is kept here.")
    if says not in _SAYS:
        raise RefusedError(400, f"says must be one of {', '.join(_SAYS)}, not {says[:40]!r}.")
    why = next(iter(form.get("why", ())), "").strip()
    if len(why) > MOST_WHY:
        raise RefusedError(400, f"A reason has at most {MOST_WHY:,} characters.")
    documents = (
        _cluster_rows(run, form["cluster"])
        if "cluster" in form
        else _given_rows(run, form.get("documents", ()))
    )
    if kept:
        first = [row for row in documents if row.place == kept[0]]
        if not first:
            raise RefusedError(400, "The document to keep is not among the documents.")
        documents = [*first, *(row for row in documents if row.place != kept[0])]
    least = 1 if says in ("keep", "skip") else 2
    if len(documents) < least:
        raise RefusedError(400, f"{says!r} needs at least two documents.")
    pair = pair_similarity(run, *documents) if len(documents) == 2 else None
    run.decisions.add(
        says,
        [run.named(row.place) for row in documents],
        by=reviewer_of(site, request),
        why=why,
        similarity=pair,
    )
    return Response.redirect(after)


def undo(site: Site, request: Request) -> Response:
    """`POST /decisions/undo`: take back the decision with this `key`, whoever made it."""
    after = local_next(site, request, "/decisions")
    key = next(iter(request.form.get("key", ())), "")
    site.run.decisions.undo(key, by=reviewer_of(site, request))
    return Response.redirect(after)


def _given_rows(run: Run, given: Sequence[str]) -> list[DocumentRow]:
    places = _places(given)
    if len(set(places)) < len(places) or len(places) > MOST_DOCUMENTS:
        raise RefusedError(
            400, f"A decision names at most {MOST_DOCUMENTS:,} documents, each of them once."
        )
    try:
        return [run.document(place) for place in places]
    except InputError as error:
        raise RefusedError(400, str(error)) from None


def _cluster_rows(run: Run, numbers: Sequence[str]) -> list[DocumentRow]:
    cluster = run.cluster(_places(numbers)[0])
    if cluster.size > MOST_DOCUMENTS:
        raise RefusedError(
            400,
            f"The cluster has {cluster.size:,} documents; one decision is about at most "
            f"{MOST_DOCUMENTS:,}, so decide on pairs.",
        )
    members = run.members(cluster.number, 1, MOST_DOCUMENTS)
    return list({row.place: row for row in chain([cluster.around], members)}.values())


def _places(values: Iterable[str]) -> list[int]:
    texts = list(values)
    for text in texts:
        if not (text.isascii() and text.isdigit() and len(text) <= 15):
            raise RefusedError(400, f"A place is a whole number, not {text[:40]!r}.")
    return [int(text) for text in texts]
