"""Build the documentation site in build/site/html.

    python -m scripts.site [--serve PORT]

Everything it needs is on this machine: the pages load no font, script or picture from elsewhere.
Warnings of the builder are errors, and so are broken links and anchors, and pictures without a
description. With --serve, the site is served at http://127.0.0.1:PORT after that; its search needs
a server, and works there.
"""

import argparse
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from scripts.site.build import BUILT, build
from scripts.site.check import faults
from scripts.site.pages import ROOT, SiteError


def main() -> None:
    """Build, check, and serve if asked to."""
    parser = argparse.ArgumentParser(prog="python -m scripts.site")
    parser.add_argument("--serve", type=int, metavar="PORT")
    port = parser.parse_args().serve
    try:
        build()
    except SiteError as error:
        raise SystemExit(str(error)) from None
    found = faults(BUILT)
    for fault in found:
        print(fault, file=sys.stderr)
    if found:
        raise SystemExit(f"{len(found)} faults in the site; the pages are in {BUILT}")
    print(f"The site is in {BUILT.relative_to(ROOT)}.")
    if port is not None:
        handler = partial(SimpleHTTPRequestHandler, directory=str(BUILT))
        with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
            print(f"http://127.0.0.1:{port}/ (Ctrl-C ends it)")
            server.serve_forever()


if __name__ == "__main__":
    main()
