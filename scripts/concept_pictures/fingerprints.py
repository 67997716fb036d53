"""From features to bits, and what the distance of two fingerprints tells."""

from math import sqrt

import numpy as np
from scripts.concept_pictures.features import A, B
from scripts.concept_pictures.svg import FIFTHS, Picture, Plot

import neardup as nd
from neardup.kernels.reference import text as reference
from neardup.pairs.recall import bit_agreement, cosine_of

SHOWN = 16


def bits_of(value: int, count: int) -> list[int]:
    """The leading bits of a hash, or of a word of a fingerprint."""
    return [value >> 63 - place & 1 for place in range(count)]


def draw_votes() -> Picture:
    """Every feature votes on every bit; the majority decides."""
    shingles = [*reference.shingles(reference.words(A), 3)]
    rows = [bits_of(reference.feature_hash(shingle), SHOWN) for shingle in shingles]
    sums = [sum(2 * row[place] - 1 for row in rows) for place in range(SHOWN)]
    made = bits_of(int(nd.fingerprint([A]).array[0, 0]), SHOWN)
    assert made == [int(one > 0) for one in sums]
    picture = Picture(
        760,
        400,
        "The hash of each shingle votes plus or minus on each bit; the sign of the sum is the bit "
        "of the fingerprint",
    )
    left, step = 268, 29
    picture.text(24, 32, "feature", "faint", size=13)
    picture.text(left, 32, f"the first {SHOWN} of 64 bits of its hash, as votes", "faint", size=13)
    for row, (shingle, bits) in enumerate(zip(shingles, rows, strict=True)):
        y = 60 + 29 * row
        picture.text(24, y, " ".join(shingle), size=13, mono=True)
        for place, bit in enumerate(bits):
            x = left + step * place
            picture.box(x, y - 17, step - 4, 24, "softblue" if bit else "softred")
            picture.text(x + 12.5, y, "+" if bit else "−", size=14, anchor="middle", mono=True)
    y = 60 + 29 * len(shingles) + 12
    picture.line([(24, y - 24), (left + step * SHOWN, y - 24)], "line")
    picture.text(24, y, "sum", "ink", bold=True)
    picture.text(24, y + 34, "fingerprint", "ink", bold=True)
    for place, (total, bit) in enumerate(zip(sums, made, strict=True)):
        x = left + step * place
        picture.text(
            x + 12.5, y, f"{total:+d}".replace("-", "−"), size=13, anchor="middle", mono=True
        )
        picture.box(x, y + 16, step - 4, 26, "softblue" if bit else "softred", border="line")
        picture.text(x + 12.5, y + 34, str(bit), size=15, anchor="middle", mono=True, bold=True)
    return picture


def draw_bits() -> Picture:
    """The fingerprints of two similar sentences and an unrelated one."""
    other = "a clay pot needs no soap and likes warm water after every use"
    texts = {"A": A, "B, one word changed": B, "C, unrelated": other}
    array = nd.fingerprint(list(texts.values())).array
    picture = Picture(
        760,
        260,
        "The 64 bits of three fingerprints: those of similar sentences differ in few bits, those "
        "of unrelated ones in about half",
    )
    first = bits_of(int(array[0, 0]), 64)
    for row, name in enumerate(texts):
        bits = bits_of(int(array[row, 0]), 64)
        differ = sum(a != b for a, b in zip(first, bits, strict=True))
        y = 40 + 78 * row
        told = "" if row == 0 else f": {differ} of 64 bits differ from A"
        picture.text(24, y - 8, f"{name}{told}", "ink", bold=True)
        for place, bit in enumerate(bits):
            x = 24 + 11.2 * place
            differs = bit != first[place]
            colour = (
                ("red" if differs else "blue") if bit else ("softred" if differs else "softblue")
            )
            picture.box(x, y + 2, 9.4, 30, colour, round_by=1.5)
    picture.text(
        24,
        250,
        "strong colours are 1, pale ones 0; red where the bit differs from that of A",
        "faint",
        size=12.5,
    )
    return picture


def draw_distances() -> Picture:
    """Which distance to expect at which similarity."""
    at = 1 - bit_agreement(cosine_of(0.8, "jaccard"))
    least, most = (round(64 * at + sign * 1.96 * 8 * sqrt(at * (1 - at))) for sign in (-1, 1))
    picture = Picture(
        760,
        420,
        "The expected Hamming distance of 64-bit fingerprints over the Jaccard similarity, with "
        f"the range of nineteen pairs in twenty: at 0.8 from {least} to {most} bits",
    )
    plot = Plot(picture, (64, 48, 640, 304), (0, 1), (0, 40))
    values = np.linspace(0, 1, 101)
    differ = np.array([1 - bit_agreement(cosine_of(float(value), "jaccard")) for value in values])
    mean, spread = 64 * differ, 1.96 * 8 * np.sqrt(differ * (1 - differ))
    band = [plot.at(x, min(40.0, y)) for x, y in zip(values, mean + spread, strict=True)]
    band += [plot.at(x, max(0.0, y)) for x, y in zip(values, mean - spread, strict=True)][::-1]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in band)
    picture.shapes.append(f'<polygon class="softblue" points="{points}"/>')
    plot.axes("Jaccard similarity", "bits that differ, of 64", FIFTHS, range(0, 41, 10))
    plot.curve(zip(values, mean, strict=True), "blue")
    plot.curve([(0, 3), (1, 3)], "red", dashed=True)
    plot.label(0.01, 4, "3 bits, a usual limit", "red")
    plot.label(0.34, 31.4, "19 pairs of 20 lie in the band", "blue")
    return picture
