"""What a document is made of: shingles, the Jaccard similarity, and what an edit changes."""

import numpy as np
from scripts.concept_pictures.svg import FIFTHS, Picture, Plot

import neardup as nd
from neardup.kernels.reference import text as reference

A = "the ferry will not run on Saturday because of strong winds"
B = "the ferry will not run on Sunday because of strong winds"
SIZE = 3


def draw_shingles() -> Picture:
    """Two sentences, their shingles, and the similarity."""
    first, second = ([*reference.shingles(reference.words(one), SIZE)] for one in (A, B))
    shared = [one for one in first if one in second]
    similarity = len(shared) / len({*first, *second})
    assert similarity == nd.compare(A, B).jaccard
    picture = Picture(
        760,
        376,
        f"Two sentences that differ in one word have {len(shared)} of {len({*first, *second})} "
        f"shingles in common: a Jaccard similarity of {similarity:.2f}",
    )
    for row, (name, text, colour) in enumerate((("A", A, "blue"), ("B", B, "red"))):
        y = 38 + 30 * row
        picture.text(24, y, name, colour, size=16, bold=True)
        x = 52.0
        for word, other in zip(A.split(), B.split(), strict=True):
            mine = word if name == "A" else other
            width = 8.43 * len(mine)
            if word != other:
                picture.box(x - 3, y - 15, width + 6, 20, f"soft{colour}")
            picture.text(x, y, mine, size=14, mono=True)
            x += width + 8.43
        assert " ".join(text.split()) == text
    columns = (
        ("only in A", [one for one in first if one not in second], "red", 24),
        ("in both", shared, "green", 272),
        ("only in B", [one for one in second if one not in first], "red", 520),
    )
    for heading, those, colour, x in columns:
        picture.text(x, 112, f"{heading}: {len(those)}", "ink", bold=True)
        for row, shingle in enumerate(those):
            picture.box(x, 124 + 31 * row, 216, 25, f"soft{colour}")
            picture.text(x + 10, 141 + 31 * row, " ".join(shingle), size=13, mono=True)
    picture.text(
        24,
        350,
        f"Jaccard similarity = in both / all = {len(shared)} / {len({*first, *second})} "
        f"= {similarity:.2f}",
        "ink",
        size=15,
        bold=True,
    )
    return picture


def draw_edits() -> Picture:
    """The similarity of texts of some lengths, over the share of their words that changed."""
    picture = Picture(
        760,
        420,
        "Curves of the Jaccard similarity of word:3 over the number of changed words: a text of 10 "
        "words falls below 0.8 with the first change, one of 1,000 words after more than thirty",
    )
    plot = Plot(picture, (64, 48, 560, 304), (0, 40), (0, 1))
    plot.axes("words changed", "Jaccard similarity (word:3)", range(0, 41, 10), FIFTHS)
    plot.curve([(0, 0.8), (40, 0.8)], "faint", dashed=True)
    plot.label(31, 0.74, "default threshold", "faint")
    for words, colour in ((10, "red"), (50, "red"), (200, "blue"), (1000, "blue")):
        points = [(k, _after(words, k)) for k in range(min(40, words) + 1)]
        plot.curve(points, colour)
        last = points[-1]
        if words == 10:
            plot.label(4.6, 0.14, "10 words", colour)
        else:
            plot.label(40.6, last[1] - 0.02, f"{words:,} words", colour)
    return picture


def _after(words: int, changed: int) -> float:
    """The true similarity of a text of so many words to one with some of them changed."""
    before = [f"w{place}" for place in range(words)]
    order = np.random.default_rng(7).permutation(words)
    after = list(before)
    for place in order[:changed]:
        after[place] = f"x{place}"
    return nd.jaccard({*reference.shingles(before, SIZE)}, {*reference.shingles(after, SIZE)})
