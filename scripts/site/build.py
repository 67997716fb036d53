"""The build: pages and navigation into a folder, and Zensical over it."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from scripts.site.navigation import navigation
from scripts.site.pages import ROOT, Site, SiteError

FOLDER = ROOT / "build" / "site"
BUILT = FOLDER / "html"


def build(folder: Path = FOLDER) -> Path:
    """Build the site under a folder, and return where its pages are."""
    if find_spec("zensical") is None:
        raise SiteError("the site needs Zensical and Python >= 3.11: pip install 'neardup[docs]'")
    import yaml

    built = folder / "html"
    Site(folder / "pages").write()
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    settings |= {"docs_dir": "pages", "site_dir": "html", "nav": navigation()}
    (folder / "mkdocs.yml").write_text(
        yaml.safe_dump(settings, allow_unicode=True, sort_keys=False), encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or not (built / "index.html").exists():
        raise SiteError(f"The site was not built:\n{done.stdout}{done.stderr}")
    return built
