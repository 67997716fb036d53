"""The five reproduced systems, by preset name, on the collections available."""

from __future__ import annotations

from pathlib import Path

from scripts.reproductions_page.results import Json

from neardup.lab.reproduce.bands import reproduce_bands
from neardup.lab.reproduce.blog import reproduce_blog
from neardup.lab.reproduce.published import CAIM, IRRS
from neardup.lab.reproduce.slides import reproduce_slides
from neardup.lab.reproduce.sphere import reproduce_articles


def caim(data: Path) -> Json:
    """The CAIM lab on arXiv."""
    return reproduce_bands(CAIM, [str(data / "arxiv" / "features.parquet")]).as_dict()


def slides(data: Path) -> Json:
    """The slides on their own examples."""
    return reproduce_slides().as_dict()


def blog(data: Path) -> Json:
    """The blog on Tang poems."""
    poems = data / "tang_poems"
    truth = str(poems / "pairs.parquet")
    return reproduce_blog([str(poems / "docs.parquet")], truth=truth).as_dict()


def irrs(data: Path) -> Json:
    """The IRRS lab on arXiv."""
    return reproduce_bands(IRRS, [str(data / "arxiv" / "features.parquet")]).as_dict()


def sphere(data: Path) -> Json:
    """The homework on pages of the Django documentation."""
    pages = data / "django_docs"
    truth = str(pages / "pairs.parquet")
    return reproduce_articles([str(pages / "docs.parquet")], truth=truth).as_dict()
