"""The numbers of docs/how-it-works/reproductions.md, by their names in the template."""

from __future__ import annotations

import re
from typing import Any

from scripts.reproductions_page import tables
from scripts.reproductions_page.pictures import SCHEMES, rare_share
from scripts.reproductions_page.results import Json
from scripts.reproductions_page.tables import share
from scripts.scheme_quality import results as scheme_results
from scripts.scheme_quality.distances import Distances
from scripts.scheme_quality.page import percent

from neardup.pairs.by_fingerprints.plan import pairs_of

_EDITED = 0.9


def every(parts: dict[str, Json]) -> dict[str, str]:
    """All facts."""
    return {
        **_labs(parts),
        **_slides(parts),
        **_blog(parts),
        **_articles(parts),
        "provenance": _provenance(parts["caim"]),
    }


def _labs(parts: dict[str, Json]) -> dict[str, str]:
    caim, irrs, measured = parts["caim"], parts["irrs"], parts["recall"]
    recalls = [row["recall"] for row in caim["tables"][0]["rows"]]
    documents = caim["documents"]
    return {
        "documents": f"{documents:,}",
        "true_09": f"{caim['numbers']['true_pairs']:,}",
        "true_08": f"{irrs['numbers']['true_pairs']:,}",
        "caim_low": share(min(recalls)),
        "caim_high": share(max(recalls)),
        "caim_table": tables.beside(caim, 0),
        "irrs_table": tables.beside(irrs, 0),
        "caim_differences": _listed(caim),
        "caim_seconds": f"{caim['seconds']:.0f}",
        "identical": f"{measured['rows'][-1]['pairs']:,}",
        "pairs_07": f"{measured['pairs']:,}",
        **{
            f"edited_{name.removeprefix('bands:')}": share(edited_recall(measured, name))
            for name in measured["plans"]
        },
        "bucket_12": f"{documents / 2**12:.1f}",
        "bucket_22": f"{documents / 2**22:.3f}",
    }


def edited_recall(measured: Json, plan: str) -> float:
    """The share found of the pairs from cosine 0.9 that are not the same."""
    rows = [row for row in measured["rows"][:-1] if row["low"] >= _EDITED]
    pairs = sum(row["pairs"] for row in rows)
    return float(sum(row["pairs"] * row[plan]["recall"] for row in rows) / pairs)


def _slides(parts: dict[str, Json]) -> dict[str, str]:
    measured = parts["rotation"]
    licences = rotation_row(measured, "licenses", 64)
    return {
        "slides_table": tables.merged(parts["slides"]),
        "slides_differences": _listed(parts["slides"]),
        "rotation_table": tables.rotation_table(measured),
        "alone_arxiv": share(rotation_row(measured, "arxiv", 64)["recall"][0][0]),
        "alone_licenses": share(licences["recall"][0][0]),
        "crowd_licenses": share(licences["recall"][0][3]),
        "crowd_licenses_32": share(licences["recall"][-1][3]),
        "all_licenses": share(licences["recall"][0][4]),
        "alone_arxiv_32": share(rotation_row(measured, "arxiv", 32)["recall"][0][0]),
        "alone_licenses_32": share(rotation_row(measured, "licenses", 32)["recall"][0][0]),
        "slides_arxiv": share(rotation_row(measured, "arxiv", 32)["recall"][0][4]),
    }


def rotation_row(measured: Json, corpus: str, bits: int) -> Json:
    """What was measured of sort and rotate on one corpus, with so many bits."""
    (row,) = (r for r in measured["rows"] if r["corpus"] == corpus and r["bits"] == bits)
    return dict(row)


def _blog(parts: dict[str, Json]) -> dict[str, str]:
    blog = parts["blog"]
    numbers = blog["numbers"]
    schemes = scheme_results.load()
    django, poems = (
        true_distances(schemes, corpus, "the blog's recipe") for corpus in _BLOG_CORPORA
    )
    return {
        "blog_search_table": tables.beside(blog, 0),
        "blog_limit_table": tables.beside(blog, 2),
        "blog_length_table": tables.beside(blog, 3),
        "blog_differences": _listed(blog),
        "blog_known": f"{numbers['known_pairs']:,}",
        "blog_django_3": share(float(django.within(3))),
        "blog_django_10": share(float(django.within(10))),
        "blog_tang_3": share(float(poems.within(3))),
        "blog_tang_10": share(float(poems.within(10))),
        "depth": str(numbers["depth"]),
        "crowding": f"{numbers['shared'] - 1:.1f} others",
        "crowding_fair": f"{numbers['fair'] - 1:.1f}",
        "crowding_max": f"{numbers['fullest']:,}",
        "crowding_words": f"{numbers['distinct']:,}",
        "edits_table": tables.edits_table(parts["edits"]),
        "lean_string": f"{_random(schemes, 'django_docs', 'keywords:50 string64').mean:.1f}",
        "lean_nd1": f"{_random(schemes, 'django_docs', 'keywords:50').mean:.1f}",
    }


_BLOG_CORPORA = ("django_docs", "tang_poems")


def true_distances(schemes: dict[str, Json], corpus: str, recipe: str) -> Distances:
    """Those of the changed true pairs, as the page on schemes measured them."""
    (row,) = (row for row in schemes[corpus]["rows"] if row["name"] == SCHEMES[recipe])
    return Distances(tuple(row["true"]))


def _random(schemes: dict[str, Json], corpus: str, name: str) -> Distances:
    (row,) = (row for row in schemes[corpus]["rows"] if row["name"] == name)
    return Distances(tuple(row["random"]))


def _articles(parts: dict[str, Json]) -> dict[str, str]:
    sphere, borders, dimensions = parts["sphere"], parts["borders"], parts["dimensions"]
    random = _random(scheme_results.load(), "arxiv", SCHEMES["the homework's recipe"])
    every_pair = pairs_of(parts["caim"]["documents"])
    lost = [row["lost"][1] / row["pairs"][1] for row in borders["rows"]]
    cost = [row["similar_lengths"] / row["in_windows"] for row in borders["rows"]]
    return {
        "sphere_documents": f"{sphere['documents']:,}",
        "sphere_comparison_table": tables.beside(sphere, 0),
        "sphere_within_table": tables.beside(sphere, 1),
        "sphere_sizes_table": tables.beside(sphere, 2),
        "sphere_recall_table": tables.beside(sphere, 4),
        "sphere_differences": _listed(sphere),
        "least_comparisons": f"{sphere['numbers']['least_comparisons'] / 1e6:,.0f}",
        "lost_low": share(min(lost)),
        "lost_high": share(max(lost)),
        "sliding_cost": f"{min(cost):.1f} to {max(cost):.1f}",
        "borders_table": tables.borders_table(borders),
        **{f"random_{limit}": percent(random.within(limit)) for limit in (5, 10, 15)},
        "random_15_pairs": f"{float(random.within(15)) * every_pair / 1e6:,.0f}",
        "most_windows": str(sphere["numbers"]["most_windows"]),
        "sphere_random_mean": f"{random.mean:.1f}",
        "dimensions_table": tables.dimensions_table(dimensions),
        "sphere_42_arxiv": share(found_rarely(dimensions, "arxiv", "sphere:42x64")),
        "plain_arxiv": share(found_rarely(dimensions, "arxiv", None)),
    }


def found_rarely(measured: Json, corpus: str, projection: str | None) -> float:
    """What is found within the distance that 1 random pair in 10,000 keeps."""
    (row,) = (
        row
        for row in measured["rows"]
        if row["corpus"] == corpus and row["projection"] == projection
    )
    return float(rare_share(row))


_POINTER = re.compile(r" [^.]* is in docs/how-it-works/reproductions\.md\.")


def _listed(reproduced: Json) -> str:
    """The differences as a list, without the pointer of the terminal output to this page."""
    return "\n".join(f"- {_POINTER.sub('', sentence)}" for sentence in reproduced["differences"])


def _provenance(part: dict[str, Any]) -> str:
    machine = part["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in part["versions"].items())
    return f"{machine['cpu']}, {machine['cores']} cores; {versions}; {part['date']}"
