"""Every page of a run, by a name for people."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote, urlencode

from neardup.runs import ClusterQuery, open_run

LABORATORY = {
    "lab": "/lab",
    "lab-texts": "/lab/texts",
    "lab-curve": "/lab/curve",
    "lab-hashes": "/lab/hashes",
    "lab-sphere": "/lab/sphere?step=20",
}


def pages_of(out: Path) -> dict[str, str]:
    """The addresses of the pages of a run, its largest cluster and two of its documents."""
    run = open_run(out)
    pages = {
        "overview": "/",
        "clusters": "/clusters",
        "clusters-none": "/clusters?search=nothinghasthisword&size_least=2",
        "threshold": "/threshold",
        "review": "/review",
        "decisions": "/decisions",
        "compare-form": "/compare",
        "missing-page": "/nowhere",
        "missing-document": "/documents/nobody",
    }
    if run.columns:
        pages["overview-by"] = "/?" + urlencode({"by": run.columns[-1]})
    found = run.clusters(ClusterQuery(sort="size")).rows
    if found:
        number = found[0].number
        members = run.members(number, 1, 10)
        kept, removed = members[0].id, members[-1].id
        pages["cluster"] = f"/clusters/{number}"
        pages["cluster-inline"] = f"/clusters/{number}?view=inline"
        pages["document-kept"] = f"/documents/{quote(str(kept), safe='')}"
        pages["document-removed"] = f"/documents/{quote(str(removed), safe='')}"
        pages["compare"] = "/compare?" + urlencode({"a": kept, "b": removed})
    return pages
