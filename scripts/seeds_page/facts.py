"""What docs/seeds.md says in numbers, each by the name it has in the template."""

from __future__ import annotations

from typing import Any

from scripts.scheme_quality import results as scheme_results
from scripts.scheme_quality.distances import Distances
from scripts.scheme_quality.page import percent
from scripts.seeds_page import tables
from scripts.seeds_page.pictures import SCHEMES, rare_share
from scripts.seeds_page.results import Json
from scripts.seeds_page.tables import share

from neardup.pairs.by_fingerprints.plan import pairs_of

_EDITED = 0.9


def every(parts: dict[str, Json]) -> dict[str, str]:
    """All facts."""
    return {
        **_labs(parts),
        **_slides(parts),
        **_blog(parts),
        **_articles(parts),
        "provenance": _provenance(parts["s0"]),
    }


def _labs(parts: dict[str, Json]) -> dict[str, str]:
    s0, s3, measured = parts["s0"], parts["s3"], parts["recall"]
    recalls = [row["recall"] for row in s0["tables"][0]["rows"]]
    documents = s0["documents"]
    return {
        "documents": f"{documents:,}",
        "true_09": f"{s0['numbers']['true_pairs']:,}",
        "true_08": f"{s3['numbers']['true_pairs']:,}",
        "s0_low": share(min(recalls)),
        "s0_high": share(max(recalls)),
        "s0_table": tables.beside(s0, 0),
        "s3_table": tables.beside(s3, 0),
        "s0_differences": _listed(s0),
        "s0_provenance": f"in {s0['seconds']:.0f} seconds for the ten settings and the exact truth",
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
    return sum(row["pairs"] * row[plan]["recall"] for row in rows) / pairs


def _slides(parts: dict[str, Json]) -> dict[str, str]:
    measured = parts["rotation"]
    licences = rotation_row(measured, "licenses", 64)
    return {
        "s1_table": tables.merged(parts["s1"]),
        "s1_differences": _listed(parts["s1"]),
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
    s2 = parts["s2"]
    numbers = s2["numbers"]
    schemes = scheme_results.load()
    django, poems = (
        true_distances(schemes, corpus, "the blog's recipe") for corpus in _BLOG_CORPORA
    )
    return {
        "s2_search_table": tables.beside(s2, 0),
        "s2_limit_table": tables.beside(s2, 2),
        "s2_length_table": tables.beside(s2, 3),
        "s2_differences": _listed(s2),
        "s2_known": f"{numbers['known_pairs']:,}",
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
    s4, borders, dimensions = parts["s4"], parts["borders"], parts["dimensions"]
    random = _random(scheme_results.load(), "arxiv", SCHEMES["the homework's recipe"])
    every_pair = pairs_of(parts["s0"]["documents"])
    lost = [row["lost"][1] / row["pairs"][1] for row in borders["rows"]]
    cost = [row["similar_lengths"] / row["in_windows"] for row in borders["rows"]]
    return {
        "s4_documents": f"{s4['documents']:,}",
        "s4_comparison_table": tables.beside(s4, 0),
        "s4_within_table": tables.beside(s4, 1),
        "s4_sizes_table": tables.beside(s4, 2),
        "s4_recall_table": tables.beside(s4, 4),
        "s4_differences": _listed(s4),
        "least_comparisons": f"{s4['numbers']['least_comparisons'] / 1e6:,.0f}",
        "lost_low": share(min(lost)),
        "lost_high": share(max(lost)),
        "sliding_cost": f"{min(cost):.1f} to {max(cost):.1f}",
        "borders_table": tables.borders_table(borders),
        **{f"random_{limit}": percent(random.within(limit)) for limit in (5, 10, 15)},
        "random_15_pairs": f"{float(random.within(15)) * every_pair / 1e6:,.0f}",
        "most_windows": str(s4["numbers"]["most_windows"]),
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


def _listed(reproduced: Json) -> str:
    return "\n".join(f"- {sentence}" for sentence in reproduced["differences"])


def _provenance(part: dict[str, Any]) -> str:
    machine = part["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in part["versions"].items())
    return f"{machine['cpu']}, {machine['cores']} cores; {versions}; {part['date']}"
