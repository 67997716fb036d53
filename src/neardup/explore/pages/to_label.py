"""The pages of a file of pairs to label that differ from those of a run."""

from __future__ import annotations

from neardup.explore.http import RefusedError, Request, Response
from neardup.explore.site import Site


def begin(site: Site, request: Request) -> Response:
    """`/`: the first pair, because there is no run to look at."""
    return Response.redirect(site.url("/review"))


def missing(site: Site, request: Request) -> Response:
    """Pages that only a run has."""
    raise RefusedError(
        404,
        "This is a file of pairs to label, and no run: it has no clusters and no threshold. Its "
        "pairs are under Review.",
    )
