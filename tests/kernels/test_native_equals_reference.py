"""The kernels equal their twin bit for bit: any text, recipe and instruction set."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings, strategies as st
from tests.kernels import quick_twin
from tests.kernels.hostile_texts import (
    BORDER_LENGTHS,
    EVERY_POOL,
    LONG_KINDS,
    SIZES,
    TEXTS,
    WIDTHS,
    Recipe,
    long_text,
    recipes,
)

import neardup as nd
from neardup import kernels
from neardup.kernels.reference import text as reference

ISAS = kernels.available_isas()
SURROGATES = range(0xD800, 0xE000)


def native(texts, recipe, isa="auto", threads=1):
    array = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string())
    rows, words = kernels.fingerprint(array, **recipe.arguments(), isa=isa, threads=threads)
    return rows.tolist(), words.tolist()


def reference_fingerprint(text, recipe):
    return reference.fingerprint(text, **recipe.arguments())


def twin(texts, recipe, fingerprint=reference_fingerprint):
    rows = [fingerprint(text, recipe) for text in texts]
    return rows, [len(reference.words(text)) for text in texts]


def assert_equal(texts, recipe, fingerprint=reference_fingerprint):
    expected = twin(texts, recipe, fingerprint)
    for isa in ISAS:
        assert native(texts, recipe, isa) == expected, isa


@settings(max_examples=1500)
@given(st.lists(TEXTS, max_size=4), recipes())
@example([""], Recipe())
@example(["", "\u0301", "...", "❤\ufe0f", " "], Recipe("char", 1))
@example(["İI ıi ẞß ΑΣ ς Ⱥ K"], Recipe("word", 1))
@example(["İI ıi ẞß ΑΣ ς Ⱥ K"], Recipe("char", 2, distinct=False))
@example(["a b", "a b a b"], Recipe("word", 1, ties_up=True))
@example(["a b", "a b a b"], Recipe("word", 1, ties_up=False))
@example([" a ", "\u3000a\n\n b\x85"], Recipe("char", 2))
@example(["a" * (64 - n) + "\u3000 b" for n in range(4)], Recipe("char", 1000))
def test_any_text_and_recipe(texts, recipe):
    assert_equal(texts, recipe)


@settings(max_examples=120)
@given(st.text(EVERY_POOL, max_size=60), st.booleans(), st.booleans(), st.sampled_from((512, 4096)))
def test_wide_fingerprints(text, distinct, ties_up, bits):
    assert_equal([text], Recipe("word", 2, distinct, bits, ties_up))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("unit", ["word", "char"])
def test_every_shingle_size(unit, size):
    texts = ["a b c d e f g h i j", "Каждый охотник желает знать", "東京タワー กขค" * 7, "x"]
    assert_equal(texts, Recipe(unit, size))
    assert_equal(texts, Recipe(unit, size, distinct=False))


@pytest.mark.parametrize("bits", WIDTHS)
def test_bits_behind_the_width_are_zero(bits):
    rows, _ = native(["one two three four five six"], Recipe("word", 1, bits=bits, ties_up=True))
    value = int.from_bytes(np.array(rows[0], ">u8").tobytes(), "big")
    assert value & ((1 << (64 * len(rows[0]) - bits)) - 1) == 0
    assert_equal(["one two three four five six"], Recipe("word", 1, bits=bits, ties_up=True))


@pytest.mark.parametrize("letter", ["a", "Z", "я", "Я", "é", "Ⱥ", "\u0130", "한", "\U00010400"])
def test_words_of_every_border_length(letter):
    texts = [letter * n + tail for n in BORDER_LENGTHS for tail in ("", " b", "\u0301", "中")]
    assert_equal(texts, Recipe("word", 1))
    assert_equal(texts, Recipe("char", 3, distinct=False))


STRADDLERS = "Zя ЖÉ\u0130\u023a\u0301\u0378\u0e01中カ。，”—\u2003\u212a\u1e9e한\U00010400\U0001f600"


@pytest.mark.parametrize(
    "filler", ["a", " ", "Ж", "中", "\u0e01", "é", "\U0001f600", "яa中\U0001f600"]
)
def test_every_place_in_a_block(filler):
    """Special characters are treated alike at any position within 64 bytes."""
    least = 64 // len(filler.encode()) - 6
    texts = [
        filler * n + char + tail
        for char in STRADDLERS
        for n in range(least, least + 8)
        for tail in ("", "b", filler * 70)
    ]
    assert_equal(texts, Recipe("word", 1, distinct=False))
    if filler != " ":
        # One feature, the whole text: the fingerprint is its hash, so no majority hides an error.
        assert_equal(texts, Recipe("char", 1000))


@pytest.mark.parametrize(
    "filler", ["a", "Ж", "中", "é \n", "中\n ", "\U0001f600", "яa中\U0001f600"]
)
def test_every_number_of_characters(filler):
    """Characters are hashed eight at a time, in blocks of 64 bytes and in runs between words."""
    texts = [
        start + filler * n + tail for n in range(80) for start, tail in ((".", ""), ("", "。b"))
    ]
    assert_equal(texts, Recipe("char", 1000))
    assert_equal(texts, Recipe("word", 1000))


@pytest.mark.parametrize("run", range(1, 27))
def test_every_run_of_solo_characters_among_words(run):
    """Words are hashed eight at a time, and a run among them one by one."""
    texts = [
        "word " * before + "東京の"[: run % 3] + "東京の" * (run // 3) + " word" * 9
        for before in range(10)
    ]
    assert_equal(texts, Recipe("word", 1000))


# Features are told apart in vectors of 8 and 32, in tables of up to 2^15 values, and the last eight
# one by one.
SET_SIZES = (
    *range(1, 11),
    *(n + by for n in (16, 32, 40, 64, 96, 4096, 1 << 15) for by in (-1, 0, 1)),
)


@pytest.mark.parametrize("size", SET_SIZES)
@pytest.mark.parametrize("repeated", [0, 1, 3])
def test_sets_of_every_border_size(size, repeated):
    """So many bits that one feature too many or too few shows."""
    words = [f"w{i}" for i in range(size - size * repeated // 4)]
    text = " ".join((words * 4)[:size])
    assert_equal([text], Recipe("word", 1, bits=512), quick_twin.fingerprint)


def test_every_code_point(monkeypatch):
    """Alone, after a letter and between letters; each block of them is a single feature."""
    # The twin cuts a text into words up to three times.
    monkeypatch.setattr(reference, "words", cache(reference.words))
    whole = 2**31 - 1
    blocks = [
        [chr(code) for code in range(first, first + 0x400) if code not in SURROGATES]
        for first in range(0, 0x110000, 0x400)
    ]
    in_words = ["".join(f"{c} a{c} B{c}b." for c in block) for block in blocks]
    in_line = ["".join(f"{c}x" for c in block) for block in blocks]
    for texts, unit in ((in_words, "word"), (in_line, "char")):
        # The fingerprint of a single feature is its hash, so the twin need not count bits.
        hashes = [reference.features(text, unit, whole) or [0] for text in texts]
        words = [len(reference.words(text)) for text in texts]
        for isa in ISAS:
            rows, counts = native(texts, Recipe(unit, whole), isa)
            wrong = [hex(0x400 * i) for i in range(len(texts)) if rows[i] != hashes[i]]
            assert not wrong, f"{isa}, {unit}: look among the 1024 code points from {wrong}"
            assert counts == words, isa


@settings(max_examples=100)
@given(TEXTS, recipes())
def test_the_twin_for_long_documents_is_the_reference(text, recipe):
    assert quick_twin.fingerprint(text, recipe) == reference_fingerprint(text, recipe)


@pytest.mark.parametrize("kind", sorted(LONG_KINDS))
def test_long_documents_of_every_kind(kind):
    text = long_text(kind, 40_000, seed=0)
    assert_equal([text], Recipe("word", 3), quick_twin.fingerprint)
    assert_equal([text], Recipe("char", 1000, distinct=False), quick_twin.fingerprint)


@settings(max_examples=40)
@given(
    kinds=st.lists(st.sampled_from(sorted(LONG_KINDS)), min_size=1, max_size=3),
    size=st.integers(16_000, 30_000),
    seed=st.integers(0, 2**32),
    recipe=recipes(sizes=(1, 2, 3, 4, 5, 50, 300, 1000), widths=(42, 64, 65)),
)
def test_long_documents_of_several_kinds(kinds, size, seed, recipe):
    text = "".join(long_text(kind, size, seed) for kind in kinds)
    assert_equal([text], recipe, quick_twin.fingerprint)


@pytest.mark.parametrize(
    ("kind", "size", "recipe"),
    [
        ("distinct words", 700_000, Recipe("word", 1)),  # more features than one table holds
        ("distinct words", 200_000, Recipe("word", 300, distinct=False)),
        ("repeated words", 200_000, Recipe("word", 3)),
        ("one giant word", 200_000, Recipe("word", 1)),
        ("Han", 200_000, Recipe("word", 2)),
        ("Thai", 100_000, Recipe("word", 2, distinct=False)),
        ("white space", 100_000, Recipe("char", 1)),
        ("lower case grows", 100_000, Recipe("char", 2)),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_huge_documents(kind, size, recipe):
    assert_equal([long_text(kind, size, seed=1)], recipe, quick_twin.fingerprint)


@pytest.mark.parametrize("char", ["a", " ", ".", "\u0301", "中", "Ж", "\u0e01", "\U0001f600", "İ"])
def test_pieces_leave_no_seam(char):
    """A word, a mark or white space exactly where a piece of a long document would end."""
    texts = [
        "a " * 8180 + "b" * lead + char * run + "\u0301c d" + " e" * 9000
        for lead in (17, 22, 23, 24, 25)
        for run in (1, 3)
    ]
    assert_equal(texts, Recipe("word", 2), quick_twin.fingerprint)
    assert_equal(texts, Recipe("char", 100), quick_twin.fingerprint)


@settings(max_examples=80)
@given(
    texts=st.lists(st.one_of(st.none(), TEXTS), max_size=12),
    cuts=st.lists(st.integers(0, 12), max_size=5),
    large=st.booleans(),
    threads=st.integers(1, 5),
    recipe=recipes(sizes=(1, 2, 3), widths=(42, 64, 65)),
)
def test_any_chunks_of_a_column(texts, cuts, large, threads, recipe):
    kind = pa.large_string() if large else pa.string()
    whole = pa.array(["before", *texts, "behind"], kind)[1:-1]
    edges = [0, *sorted(min(cut, len(texts)) for cut in cuts), len(texts)]
    chunks = [whole[a:b] for a, b in pairwise(edges)]
    found = nd.fingerprint(
        pa.chunked_array(chunks, kind),
        features=f"{recipe.unit}:{recipe.size}",
        weights="set" if recipe.distinct else "count",
        bits=recipe.bits,
        tie=">=0" if recipe.ties_up else ">0",
        threads=threads,
    )
    rows, words = twin([text or "" for text in texts], recipe)
    assert found.array.tolist() == rows
    assert found.words.tolist() == words


@settings(max_examples=80)
@given(st.lists(TEXTS, max_size=8), st.integers(0, 8), st.integers(0, 8), st.booleans())
def test_any_slice_of_an_array(texts, start, stop, large):
    recipe = Recipe("word", 2)
    array = pa.array(texts, pa.large_string() if large else pa.string())[start:stop]
    assert native(array, recipe) == twin(texts[start:stop], recipe)


@pytest.mark.parametrize("threads", [1, 2, 3, 8, 64])
def test_any_number_of_threads(threads):
    """Documents larger than a thread's task, tasks without documents, empty documents last."""
    texts = ["", *(f"{i} {i * i} Ж {i % 7} 中{i}" * (i % 90) for i in range(2000))]
    texts[700:700] = [long_text("repeated words", 900_000, seed=2), ""]
    texts += [""] * 5
    recipe = Recipe("word", 2, bits=65)
    assert native(texts, recipe, threads=threads) == tuple(
        [row for text in texts for row in native([text], recipe)[part]] for part in (0, 1)
    )
