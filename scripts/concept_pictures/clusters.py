"""Which documents go, and why."""

from scripts.concept_pictures.svg import Picture

import neardup as nd
from neardup.settings import Clustering

VERSIONS = (
    "the ferry leaves at nine from the old harbour every day in summer",
    "the ferry leaves at nine from the new pier every day in spring",
    "the bus departs at ten from the new pier every day in spring",
)
THRESHOLD = 0.5
WAYS: tuple[Clustering, ...] = ("star", "components")


def draw_chain() -> Picture:
    """Three versions, each similar to the next only: what stars and components do."""
    similar = {
        (a, b): nd.jaccard({*VERSIONS[a].split()}, {*VERSIONS[b].split()})
        for a, b in ((0, 1), (1, 2), (0, 2))
    }
    assert similar[0, 1] >= THRESHOLD <= similar[1, 2]
    assert similar[0, 2] < THRESHOLD
    picture = Picture(
        760,
        330,
        "Three versions of a sentence: the first is similar to the second, the second to the "
        "third, the first not to the third; stars keep two of them, components keep one",
    )
    for row, text in enumerate(VERSIONS):
        picture.text(24, 34 + 24 * row, "ABC"[row], "blue", size=15, bold=True)
        picture.text(48, 34 + 24 * row, text, size=14, mono=True)
    for column, way in enumerate(WAYS):
        result = nd.dedup(list(VERSIONS), threshold=THRESHOLD, features="word:1", cluster=way)
        gone = {row["id"]: row for row in result.clusters.to_pylist() if not row["kept"]}
        left = 24 + 372 * column
        picture.text(left, 126, f"--cluster {way}", "ink", bold=True, mono=True, size=13.5)
        places = [(left + 40, 220), (left + 170, 172), (left + 300, 220)]
        for (a, b), value in similar.items():
            strong = value >= THRESHOLD
            picture.line([places[a], places[b]], "green" if strong else "line", dashed=not strong)
            (x0, y0), (x1, y1) = places[a], places[b]
            picture.text(
                (x0 + x1) / 2,
                (y0 + y1) / 2 + (20 if not strong else -12),
                f"{value:.2f}",
                "green" if strong else "red",
                size=13,
                anchor="middle",
            )
        for place, (x, y) in enumerate(places):
            away = place in gone
            picture.circle(x, y, 19, "softred" if away else "blue", "red" if away else "blue")
            picture.text(
                x, y + 5, "ABC"[place], "ink" if away else "ground", anchor="middle", bold=True
            )
        weakest = min(row["similarity"] for row in gone.values())
        kept = " and ".join("ABC"[place] for place in range(3) if place not in gone)
        picture.text(left, 276, f"kept: {kept}")
        picture.text(
            left,
            300,
            f"weakest removal: {weakest:.2f}" + (", below the threshold" * (weakest < THRESHOLD)),
            "ink" if weakest >= THRESHOLD else "red",
        )
    return picture


def draw_proof() -> Picture:
    """One removed document and what is known of it."""
    result = nd.dedup(list(VERSIONS), threshold=THRESHOLD, features="word:1")
    (row,) = (row for row in result.clusters.to_pylist() if not row["kept"])
    picture = Picture(
        760,
        190,
        "A removed document names the kept one that it duplicates, with their similarity",
    )
    for x, heading, colour, place in (
        (24, "removed", "red", int(row["id"])),
        (484, "kept", "blue", int(row["duplicate_of"])),
    ):
        picture.box(x, 40, 252, 96, f"soft{colour}", border=colour, round_by=8)
        picture.text(x + 14, 62, heading, colour, bold=True)
        words = VERSIONS[place].split()
        for line in range(3):
            picture.text(x + 14, 84 + 20 * line, " ".join(words[line * 5 : line * 5 + 5]), size=13)
    picture.line([(276, 88), (470, 88)], "green", width=2)
    picture.shapes.append('<polygon class="green" points="470,81 484,88 470,95"/>')
    picture.text(380, 76, "duplicate_of", "green", mono=True, size=13, anchor="middle")
    picture.text(380, 110, f"similarity {row['similarity']:.2f}", "green", size=13, anchor="middle")
    picture.text(380, 128, f"≥ threshold {THRESHOLD:g}", "faint", size=13, anchor="middle")
    picture.text(24, 170, "Both rows, and their similarity, are in the output.", "faint", size=13)
    return picture
