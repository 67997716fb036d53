"""docs/how-it-works/clusters.md: what it says about its example holds."""

import re
from pathlib import Path

import pytest
from scripts import cluster_quality, clusters_picture

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "how-it-works" / "clusters.md").read_text(encoding="utf-8")
DATA = ROOT.parent / "shared" / "data"
RESULTS = {way: clusters_picture.clustered(way) for way in clusters_picture.WAYS}


def table_after(heading):
    """The cells of a table of the page, whose first cell is `heading`."""
    lines = PAGE[PAGE.index(f"\n| {heading} |") + 1 :].splitlines()
    rows = []
    for line in lines:
        if not line.startswith("|"):
            return rows
        rows.append([cell.strip(" *`") for cell in line.strip("|").split("|")])
    return rows


def test_what_each_record_is_a_duplicate_of():
    header, _, *rows, below = table_after("record")
    ways = header[2:]
    assert ways == list(clusters_picture.WAYS)
    for way, said in zip(ways, list(zip(*rows, strict=True))[2:], strict=True):
        found = {
            row["id"]: "kept" if row["kept"] else row["duplicate_of"]
            for row in RESULTS[way].clusters.to_pylist()
        }
        assert dict(zip([row[0] for row in rows], said, strict=True)) == found
    assert [int(cell) for cell in below[2:]] == [
        RESULTS[way].summary["unproven"] for way in clusters_picture.WAYS
    ]
    texts = {row["id"]: row["text"] for row in RESULTS["star"].kept.to_pylist()}
    texts |= {row["id"]: row["text"] for row in RESULTS["star"].removed.to_pylist()}
    assert {row[0]: row[1] for row in rows} == texts


def test_the_cross_pairs_of_the_picture():
    pairs = {(row["a"], row["b"]): row["similarity"] for row in RESULTS["dense"].pairs.to_pylist()}
    between = [pair for pair in pairs if pair[0][0] != pair[1][0]]
    assert between == [("a4", "b1")]
    assert "1 of the\n4 × 3 = 12 cross pairs is at the threshold: 0.08" in PAGE
    assert f"{1 / 12:.2f}" == "0.08"
    inside = [similarity for pair, similarity in pairs.items() if pair not in between]
    assert f"from {max(inside):.2f} down to {min(inside):.2f}" in PAGE
    assert min(inside) > pairs["a4", "b1"]
    assert ("a1", "a4") not in pairs
    assert {("a2", "a4"), ("a3", "a4")} <= set(pairs)


def test_the_picture_has_every_record():
    rows = RESULTS["dense"].clusters.to_pylist()
    assert {row["id"] for row in rows} == set(clusters_picture.PLACES)


def test_the_command_of_the_page_runs_with_the_settings_of_the_picture():
    (command,) = re.findall(r"^    neardup dedup (.*)$", PAGE, re.M)
    assert "--features word:1" in command
    assert f"--threshold {clusters_picture.THRESHOLD} " in command
    assert (ROOT / command.split()[0]) == clusters_picture.RECORDS


@pytest.mark.parametrize("name", cluster_quality.COLLECTIONS)
def test_the_measured_table(name):
    if not (DATA / name).exists():
        pytest.skip("the labelled collections are not part of the repository")
    header, _, *rows = table_after("collection")
    begin = next(number for number, row in enumerate(rows) if row[0] == name)
    labelled = cluster_quality.Labelled(DATA / name)
    for row in rows[begin : begin + 3]:
        for way, said in zip(header[2:], row[2:], strict=True):
            clusters, _ = cluster_quality.clusters_of(labelled.documents, way, float(row[1]))
            assert f"{labelled.rates(clusters).f1:.3f}" == said, (row[1], way)
