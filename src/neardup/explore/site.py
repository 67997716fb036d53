"""What every page is made from: the run, where the pages are mounted, and who decides."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from neardup.explore import rendering
from neardup.explore.http import RefusedError, Request, Response
from neardup.explore.static_files import StaticFiles
from neardup.frozen import dataclass

if TYPE_CHECKING:
    from neardup.runs import Run

_PAGES = (
    ("Overview", "/"),
    ("Clusters", "/clusters"),
    ("Review", "/review"),
    ("Threshold", "/threshold"),
    ("Decisions", "/decisions"),
)
_PAGES_TO_LABEL = (("Review", "/review"), ("Decisions", "/decisions"))
_LABORATORY = ("Laboratory", "/lab")
# A browser takes these for steps in a path, however they are spelt.
_STEPS = ("", ".", "..")


@dataclass(frozen=True)
class Site:
    """The pages of one run, below `base`; without a run, only the laboratory.

    `token` is in every form, so that no other site can send one. `home` is the address of the page
    that lists several runs. If `is_signed`, the reviewer is known, and cannot take another name.
    """

    opened: Run | None
    base: str
    read_only: bool
    reviewer: str
    token: str
    title: str
    static_files: StaticFiles
    home: str = ""
    is_signed: bool = False

    @property
    def run(self) -> Run:
        """The run; a page that needs one is missing if there is none."""
        if self.opened is None:
            raise RefusedError(404, "There is no run here; open one with: neardup explore OUT")
        return self.opened

    @property
    def navigation(self) -> tuple[tuple[str, str], ...]:
        """The pages in the header, with their paths."""
        if self.opened is None:
            return (_LABORATORY,)
        return (*(_PAGES if self.opened.to_label is None else _PAGES_TO_LABEL), _LABORATORY)

    def url(self, path: str, **query: Any) -> str:
        """The address of a page; parameters that are None, False or empty are left out.

        Lists are repeated parameters, True is 1.
        """
        given = {
            name: "1" if value is True else value
            for name, value in query.items()
            if value is not None and value is not False and value not in ("", [], ())
        }
        asked = urlencode(given, doseq=True, errors="replace")
        return f"{self.base}{quote(path)}{'?' + asked if asked else ''}"

    def document(self, id: int | str, *, is_other: bool = False) -> str:
        """The address of a document, whatever is in its id."""
        folder, name = ("others" if is_other else "documents"), str(id)
        if name in _STEPS:
            return self.url(f"/{folder}/", id=name) if name else f"{self.base}/{folder}/?id="
        return f"{self.base}/{folder}/{quote(name, safe='', errors='replace')}"

    def static(self, name: str) -> str:
        """The address of a file under /static, which changes when any of them does."""
        return f"{self.base}/static/{self.static_files.version}/{name}"

    def page(
        self, request: Request, template: str, *, status: int = 200, **context: Any
    ) -> Response:
        """A page made from a template, which also sees `site` and `request`."""
        html = rendering.rendered(template, site=self, request=request, **context)
        return Response.of(html, status=status)

    def holds_token(self, request: Request) -> bool:
        """Whether a form holds the token of this site."""
        given = next(iter(request.form.get("token", ())), "")
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())
