"""The twin itself, checked against Python's Unicode tables and against fixed decisions."""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tests.kernels.hostile_texts import EVERY_POOL

from neardup.kernels.reference import text as reference

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "src/neardup/kernels/unicode_ranges.inc"


def load_ranges_script():
    spec = importlib.util.spec_from_file_location("ranges", ROOT / "scripts/unicode_ranges.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ranges = load_ranges_script()
RUNNING = tuple(map(int, unicodedata.unidata_version.split(".")))
PINNED = tuple(map(int, ranges.PINNED_VERSION.split(".")))


@cache
def known_to_both():
    """Code points that are certainly assigned both in the pinned Unicode and in Python's.

    An older Python has fewer characters, all of which are in the pinned version. A newer one does
    not say which are new; the characters with a kind in our table are old, and so are those of
    Unicode 3.2, which every Python includes.
    """
    return [
        code
        for code in range(0x110000)
        if unicodedata.category(chr(code)) != "Cn"
        and (
            RUNNING <= PINNED
            or code in reference.kinds()
            or unicodedata.ucd_3_2_0.category(chr(code)) != "Cn"
        )
    ]


def test_ranges_are_those_of_unicode():
    """No code point changed its kind or lower case between the pinned and Python's version."""
    kinds, lowered = reference.kinds(), reference.lower_map()
    wrong = [
        f"U+{code:04X}"
        for code in known_to_both()
        if (kinds.get(code, "other"), lowered.get(code, code) - code)
        != (ranges.kind(code), ranges.lower_delta(code))
    ]
    assert wrong == []


@pytest.mark.skipif(RUNNING != PINNED, reason=f"needs Unicode {ranges.PINNED_VERSION}")
def test_ranges_can_be_written_again(capsys):
    ranges.main()
    assert capsys.readouterr().out == COMMITTED.read_text(encoding="ascii")


@pytest.mark.skipif(RUNNING == PINNED, reason=f"this Python has Unicode {ranges.PINNED_VERSION}")
def test_another_unicode_writes_no_ranges(capsys):
    with pytest.raises(SystemExit, match=re.escape(unicodedata.unidata_version)):
        ranges.main()
    assert capsys.readouterr().out == ""


def test_ranges_name_their_version():
    first_line = COMMITTED.read_text(encoding="ascii").splitlines()[0]
    assert f"Unicode {ranges.PINNED_VERSION}" in first_line


# An oracle independent of the twin: blocks by script name, and `re` for cutting.
SOLO_BLOCKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007), (0x3021, 0x3029), (0x3038, 0x303B),  # Han marks and numerals
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF), (0x16FE3, 0x16FE3),
    (0x3041, 0x3098), (0x309B, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F),  # Kana
    (0x1AFF0, 0x1B16F),
)  # fmt: skip
HAN_NUMERALS = {0x3007, *range(0x3021, 0x302A), *range(0x3038, 0x303B)}


def oracle_kind(code):
    char, category = chr(code), unicodedata.category(chr(code))
    if category[0] not in "LM" and category != "Nd" and char != "_" and code not in HAN_NUMERALS:
        return None
    if any(first <= code <= last for first, last in SOLO_BLOCKS):
        return "solo"
    return "mark" if category[0] == "M" else "letter"


@cache
def oracle_pattern():
    classes = {"solo": "", "letter": "", "mark": "", None: ""}
    for kind, run in groupby(known_to_both(), oracle_kind):
        codes = list(run)
        # Unassigned code points in these ranges are harmless: the texts have none.
        classes[kind] += rf"\U{codes[0]:08x}-\U{codes[-1]:08x}"
    solo, letter, mark = (classes[kind] for kind in ("solo", "letter", "mark"))
    return re.compile(f"[{solo}]|[{letter}][{letter}{mark}]*")


@cache
def oracle_alphabet():
    return "".join(chr(code) for code in known_to_both() if not 0xD800 <= code < 0xE000)


def oracle_words(text):
    lowered = "".join("i" if char == "İ" else char.lower() for char in text)
    return oracle_pattern().findall(lowered)


def test_words_of_all_of_unicode_are_those_of_the_oracle():
    alphabet = oracle_alphabet()
    neighbours = (alphabet[i : i + 20] for i in range(0, len(alphabet), 15))
    for parts in (alphabet, neighbours, (f"a{char}B" for char in alphabet)):
        text = " ".join(parts)
        pairs = zip(reference.words(text), oracle_words(text), strict=True)
        assert next((pair for pair in pairs if pair[0] != pair[1]), None) is None


@given(st.text(st.sampled_from([c for c in EVERY_POOL if unicodedata.category(c) != "Cn"])))
def test_words_are_those_of_the_oracle(text):
    assert reference.words(text) == oracle_words(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The quick_brown fox, 2nd!", ["the", "quick_brown", "fox", "2nd"]),
        ("don't", ["don", "t"]),
        ("İstanbul IĞDIR ılık", ["istanbul", "iğdir", "ılık"]),
        ("ΟΔΟΣ οδος ΣΣ", ["οδοσ", "οδος", "σσ"]),
        ("STRASSE Straße STRAẞE", ["strasse", "straße", "straße"]),
        ("ǅ Ǆ ǆ", ["ǆ", "ǆ", "ǆ"]),
        ("\u212a \u212b \u2126", ["k", "å", "ω"]),
        ("cafe\u0301 café", ["cafe\u0301", "café"]),
        ("\u0301abc .\u0301d", ["abc", "d"]),
        ("❤\ufe0f 👩🏽\u200d💻 ☺", []),
        ("a\ufe0f", ["a\ufe0f"]),
        ("a\u200bb a\u00adb", ["a", "b", "a", "b"]),
        ("東京 Tower、ｱｲ", ["東", "京", "tower", "ｱ", "ｲ"]),
        ("abc中def", ["abc", "中", "def"]),
        ("中\u0301a", ["中", "a"]),
        ("が か\u3099 ー", ["が", "か", "ー"]),
        ("ก็ดี ๑๒", ["ก", "็", "ด", "ี", "๑", "๒"]),
        ("〇〡〸 Ⅷ ½ ²", ["〇", "〡", "〸"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("한국어 텍스트", ["한국어", "텍스트"]),
        ("٣٤ कि", ["٣٤", "कि"]),
        ("", []),
    ],
)
def test_what_a_word_is(text, words):
    assert reference.words(text) == words


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("  A\t\nB\u3000 c\x85", "a b c"),
        ("\u2028\u2029\xa0", ""),
        ("a\x1cb\u200bc\u180ed\ufeff", "a\x1cb\u200bc\u180ed\ufeff"),
        ("İ!", "i!"),
        ("ΣΑΣ", "σασ"),
        ("", ""),
    ],
)
def test_what_folding_does(text, folded):
    assert reference.folded(text) == folded


@given(st.text())
def test_folding_twice_changes_nothing(text):
    once = reference.folded(text)
    assert reference.folded(once) == once
    assert not re.search(r"^ |  | $", once)


WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)


def test_white_space_is_that_of_unicode():
    """The 25 characters of the property White_Space, in PropList.txt of every version since 6.3."""
    spaces = [chr(code) for code, kind in reference.kinds().items() if kind == "space"]
    assert "".join(sorted(spaces)) == WHITE_SPACE


def test_lower_case_is_final():
    """A lower case has no lower case itself, so lowering twice changes nothing."""
    lowered = reference.lower_map()
    assert not set(lowered.values()) & set(lowered)


def test_lower_case_keeps_the_kind():
    kinds = reference.kinds()
    assert [hex(a) for a, b in reference.lower_map().items() if kinds.get(a) != kinds.get(b)] == []


@pytest.mark.parametrize(
    ("parts", "size", "found"),
    [
        ("abcd", 2, ["ab", "bc", "cd"]),
        ("abcd", 4, ["abcd"]),
        ("abc", 4, ["abc"]),
        ("a", 1000, ["a"]),
        ("", 1, []),
    ],
)
def test_shingles(parts, size, found):
    assert ["".join(shingle) for shingle in reference.shingles(parts, size)] == found


def test_one_feature_is_its_own_fingerprint():
    recipe = {"unit": "word", "size": 3, "distinct": True, "ties_up": False}
    (feature,) = reference.features("only three words", "word", 3)
    row = reference.fingerprint("only three words", bits=192, **recipe)
    assert row == [feature, reference.widen(feature, 1), reference.widen(feature, 2)]
    assert reference.fingerprint("only three words", bits=8, **recipe) == [feature >> 56 << 56]


def test_ties_fall_as_asked():
    """The bits in which two features differ have the sum zero."""
    a, b = reference.features("one two", "word", 1)
    recipe = {"unit": "word", "size": 1, "distinct": True, "bits": 64}
    assert reference.fingerprint("one two", ties_up=False, **recipe) == [a & b]
    assert reference.fingerprint("one two", ties_up=True, **recipe) == [a | b]


def test_counts_weigh_and_sets_do_not():
    a, b = reference.features("one two", "word", 1)
    recipe = {"unit": "word", "size": 1, "bits": 64, "ties_up": False}
    assert reference.fingerprint("one two two", distinct=False, **recipe) == [b]
    assert reference.fingerprint("one two two", distinct=True, **recipe) == [a & b]


@pytest.mark.parametrize("unit", ["word", "char"])
@pytest.mark.parametrize("text", ["", " ", "...", "\u0301", "❤\ufe0f"])
def test_without_words_nothing_is_a_feature(text, unit):
    assert reference.features(text, unit, 2) == []
    recipe = {"unit": unit, "size": 2, "distinct": True, "bits": 65}
    assert reference.fingerprint(text, ties_up=True, **recipe) == [0, 0]
