"""The files under /static: a fixed table, so that no path can lead anywhere else."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from neardup.explore.http import RefusedError, Response
from neardup.frozen import dataclass

_KINDS = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
_FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True)
class StaticFiles:
    """Contents by name; `version` is a hash of all of them and a part of their addresses.

    One version for all, because a module names the ones it imports relative to itself.
    """

    contents: dict[str, bytes]
    version: str

    def respond(self, path: str) -> Response:
        """The file of `VERSION/NAME`, which a browser may keep; NAME alone is not kept."""
        version, _, name = path.rpartition("/")
        found = self.contents.get(name)
        if found is None or (version and "/" in version):
            raise RefusedError(404, "There is no such file.")
        kept = _FOREVER if version == self.version else "no-cache"
        kind = _KINDS[name.rpartition(".")[2]]
        return Response(200, (("Content-Type", kind), ("Cache-Control", kept)), found)


@cache
def static_files() -> StaticFiles:
    """The stylesheets, modules and icons of the package."""
    folders = files("neardup.report") / "look", files("neardup.explore") / "static"
    contents = {
        file.name: file.read_bytes()
        for folder in folders
        if folder.is_dir()
        for file in folder.iterdir()
        if file.name.rpartition(".")[2] in _KINDS
    }
    whole = hashlib.sha256()
    for name in sorted(contents):
        whole.update(name.encode() + b"\0" + hashlib.sha256(contents[name]).digest())
    return StaticFiles(contents, whole.hexdigest()[:16])
