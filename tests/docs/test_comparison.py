"""docs/comparison.md: every cell has a source, and ours is a page of this documentation."""

import re

import pytest
from tests.docs.steps import ROOT

PAGE = (ROOT / "docs" / "comparison.md").read_text("utf-8")
PEERS = (
    *("text-dedup", "datatrove", "NeMo Curator", "data-juicer", "dolma", "datasketch", "rensa"),
    *("gaoya", "semhash", "splink", "dedupe"),
)
_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


def tables():
    """The cells of each table, row by row, without the line below the head."""
    for found in re.findall(r"(?:^\|.*\n)+", PAGE, re.M):
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")] for line in found.splitlines()
        ]
        yield [rows[0], *rows[2:]]


ABOUT, *FEATURES = tables()
CELLS = [
    pytest.param(peer, cell, id=f"{row[0]}-{peer}")
    for head, *rows in FEATURES
    for row in rows
    for peer, cell in zip(head[1:], row[1:], strict=True)
]


def test_every_peer_is_compared_in_a_version_with_a_licence():
    rows = {re.sub(r"\[(.*)\].*", r"\1", row[0]): row for row in ABOUT[1:]}
    assert set(rows) == set(PEERS)
    for peer, (name, version, licence, _) in rows.items():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert f"/{version}/" in name, f"the link of {peer} is to another version"
        assert licence
    compared = {peer for head, *_ in FEATURES for peer in head[1:]}
    assert compared == {*PEERS, "neardup"}


@pytest.mark.parametrize(("peer", "cell"), CELLS)
def test_every_cell_has_a_source(peer, cell):
    links = _LINK.findall(cell)
    if cell == "not documented":
        assert peer != "neardup"
    elif peer == "neardup":
        assert links
        assert all((ROOT / "docs" / link.partition("#")[0]).is_file() for link in links)
    else:
        assert links
        assert all(link.startswith("https://") for link in links)


def test_there_are_rows_in_which_a_peer_has_what_neardup_lacks():
    lacking = [
        row
        for head, *rows in FEATURES
        for row in rows
        if row[1].startswith("no: ") and any(cell != "not documented" for cell in row[2:])
    ]
    assert len(lacking) >= 5
