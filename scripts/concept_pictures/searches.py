"""Finding pairs without comparing all of them."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
from scripts.concept_pictures.features import A, B
from scripts.concept_pictures.fingerprints import bits_of
from scripts.concept_pictures.svg import FIFTHS, Picture, Plot

import neardup as nd
from neardup.pairs.recall import band_recall, cosine_of

SAMPLE = Path(__file__).parents[2] / "examples" / "notices.jsonl"


def draw_matrix() -> Picture:
    """All pairs of a small collection: those that bands compare, and those that are similar."""
    texts = [json.loads(line)["text"] for line in SAMPLE.read_text("utf-8").splitlines()]
    fingerprints = nd.fingerprint(texts)
    count = len(texts)
    everything = count * (count - 1) // 2
    candidates = _places(nd.find_pairs(fingerprints, candidates="bands:8x8"))
    pairs = _places(nd.exact_pairs(texts, threshold=0.5))
    found = pairs & candidates
    picture = Picture(
        760,
        430,
        f"{count} documents have {everything} pairs; bands compare {len(candidates)} of them, and "
        f"find {len(found)} of the {len(pairs)} pairs that are similar",
    )
    size = 12
    for b in range(count):
        for a in range(b):
            colour = "line"
            if (a, b) in candidates:
                colour = "blue"
            if (a, b) in pairs:
                colour = "green" if (a, b) in candidates else "red"
            picture.box(24 + size * a, 24 + size * b, size - 2, size - 2, colour, round_by=1)
    told = (
        ("line", f"{everything - len(candidates | pairs)} pairs: never compared"),
        ("blue", f"{len(candidates - pairs)} compared, and not similar"),
        ("green", f"{len(found)} compared and similar: found"),
        ("red", f"{len(pairs - candidates)} similar, and never compared: missed"),
    )
    for row, (colour, words) in enumerate(told):
        picture.box(300, 36 + 28 * row, 16, 16, colour)
        picture.text(326, 49 + 28 * row, words)
    picture.text(420, 176, "A row and a column for each document;", "faint", size=13)
    picture.text(420, 196, "similar: Jaccard ≥ 0.5; bands:8x8", "faint", size=13)
    return picture


def _places(pairs: pa.Table) -> set[tuple[int, int]]:
    a, b = (pairs[name].to_pylist() for name in "ab")
    return set(zip(a, b, strict=True))


def draw_bands() -> Picture:
    """Two fingerprints in bands: one equal band makes them candidates."""
    array = nd.fingerprint([A, B]).array
    first, second = (bits_of(int(array[row, 0]), 64) for row in (0, 1))
    bands, width = 16, 4
    equal = [
        first[band * width : (band + 1) * width] == second[band * width : (band + 1) * width]
        for band in range(bands)
    ]
    picture = Picture(
        760,
        190,
        f"Two fingerprints cut into {bands} bands of {width} bits; {sum(equal)} bands are equal, "
        "so the two are looked up in the same buckets and compared",
    )
    for band in range(bands):
        x = 44 + 44 * band
        picture.box(
            x - 4, 34, 42, 98, "softgreen" if equal[band] else "ground", border="line", round_by=4
        )
        for row, bits in enumerate((first, second)):
            text = "".join(str(bit) for bit in bits[band * width : (band + 1) * width])
            picture.text(x + 17, 68 + 40 * row, text, size=13.5, mono=True, anchor="middle")
    picture.text(24, 68, "A", "blue", bold=True, anchor="middle")
    picture.text(24, 108, "B", "red", bold=True, anchor="middle")
    picture.text(
        40,
        164,
        f"{sum(equal)} of {bands} bands are equal (green): one is enough to be compared",
        "ink",
        bold=True,
    )
    return picture


def draw_recall() -> Picture:
    """The chance that a pair is found, by bands and by the exact join."""
    picture = Picture(
        760,
        420,
        "The chance of being found over the Jaccard similarity: bands rise in an S-curve, the "
        "exact join is a step at the threshold",
    )
    plot = Plot(picture, (64, 48, 500, 304), (0, 1), (0, 1))
    plot.axes("Jaccard similarity", "chance that a pair is found", FIFTHS, FIFTHS)
    plot.curve([(0, 0), (0.8, 0), (0.8, 1), (1, 1)], "green")
    plot.label(1.03, 1, "exact join at 0.8", "green")
    values = np.linspace(0, 1, 101)
    for bands, width, colour, dashed in ((40, 16, "blue", False), (4, 16, "red", False)):
        found = [band_recall(bands, cosine_of(float(x), "jaccard"), width) for x in values]
        plot.curve(zip(values, found, strict=True), colour, dashed=dashed)
    plot.label(1.03, 0.9, "bands:40x16", "blue")
    plot.label(1.03, 0.84, "(640 bits)", "blue")
    plot.label(1.03, 0.72, "bands:4x16", "red")
    plot.label(1.03, 0.66, "(64 bits)", "red")
    return picture
