"""`/clusters`."""

from __future__ import annotations

from neardup.explore.http import Request, Response
from neardup.explore.site import Site


def show(site: Site, request: Request) -> Response:
    """The page."""
    return site.page(request, "error.html", status_name="clusters", sentence="clusters")
