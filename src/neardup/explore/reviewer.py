"""Who decides: the name in the reviewer's cookie, or the one that the program was started with."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, unquote

from neardup.decisions.model import MOST_NAME
from neardup.explore.http import RefusedError, Request, Response
from neardup.explore.site import Site

_COOKIE = "neardup_reviewer"
_YEAR = 365 * 24 * 3600


def reviewer_of(site: Site, request: Request) -> str:
    """The name that signs the decisions of this browser."""
    if site.is_signed:
        return site.reviewer
    try:
        cookies = SimpleCookie(request.headers.get("cookie", ""))
    except CookieError:
        return site.reviewer
    found = cookies.get(_COOKIE)
    name = unquote(found.value, errors="replace").strip() if found is not None else ""
    return name[:MOST_NAME] or site.reviewer


def name_reviewer(site: Site, request: Request) -> Response:
    """`POST /reviewer`: sign the decisions of this browser with a name; none is the default."""
    if site.is_signed:
        raise RefusedError(403, "Decisions are signed with the name of the key.")
    name = next(iter(request.form.get("name", ())), "").strip()
    if len(name) > MOST_NAME:
        raise RefusedError(400, f"A name has at most {MOST_NAME} characters.")
    response = Response.redirect(local_next(site, request, "/review"))
    life = _YEAR if name else 0
    cookie = (
        f"{_COOKIE}={quote(name, safe='', errors='replace')}; Path={site.base or '/'}; "
        f"Max-Age={life}; SameSite=Strict; HttpOnly"
    )
    return Response(response.status, (*response.headers, ("Set-Cookie", cookie)), b"")


def local_next(site: Site, request: Request, default: str) -> str:
    """Where a form leads to afterwards: a path of these pages, never another site."""
    wanted = next(iter(request.form.get("next", ())), "")
    if not wanted:
        return site.url(default)
    # Browsers take backslashes for slashes, and drop control characters.
    is_plain = wanted.isascii() and wanted.isprintable() and not set(wanted) & set(" \\")
    if not is_plain or not wanted.startswith(f"{site.base}/") or wanted.startswith("//"):
        raise RefusedError(400, "next must be a path of these pages.")
    return wanted
