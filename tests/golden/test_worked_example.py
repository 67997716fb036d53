"""The numbers in docs/reference/scheme.md are right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import neardup as nd
from neardup.fingerprints import Scheme
from neardup.kernels.reference import text as reference

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "scheme.md").read_text(encoding="utf-8")
EXAMPLE = PAGE.partition("## A worked example")[2]
TEXT = re.search(r"`(.+?)`", EXAMPLE)[1]


def rows(columns):
    """Every row, without the header, of the tables with this number of columns."""
    found = [
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in EXAMPLE.splitlines()
        if line.startswith("|")
    ]
    return [row for row in found if len(row) == columns and set(row[0]) != {"-"}][1:]


def test_units():
    units = rows(3)
    assert [unit for unit, _, _ in units] == reference.words(TEXT)
    for unit, utf8, value in units:
        assert bytes.fromhex(utf8) == unit.encode()
        assert int(value, 16) == reference.unit_value(unit)


def test_shingles():
    shingles = rows(4)
    words = reference.words(TEXT)
    assert [tuple(row[0].split()) for row in shingles] == reference.shingles(words, 3)
    for shingle, total, feature, wide in shingles:
        a, b, c = map(reference.unit_value, shingle.split())
        base = reference.SHINGLE_BASE
        assert int(total, 16) == (a * base * base + b * base + c) & reference.MASK
        assert int(feature, 16) == reference.feature_hash(shingle.split())
        assert int(wide, 16) == reference.widen(int(feature, 16), 1)


def test_first_bits():
    leads = [f"{int(row[2], 16) >> 60:04b}" for row in rows(4)]
    sums = [sum(1 if bit == "1" else -1 for bit in bits) for bits in zip(*leads, strict=True)]
    told = re.search(r"begin with the bits (.+?)\. The sums .+? are (.+?), so", EXAMPLE, re.S)
    assert re.findall("[01]+", told[1]) == leads
    assert [int(number) for number in re.findall("-?[0-9]+", told[2])] == sums


def fingerprint_rows():
    return [row for row in rows(2) if row[0].startswith("nd1/")]


@pytest.mark.parametrize(("name", "digits"), fingerprint_rows())
def test_fingerprints(name, digits):
    scheme = Scheme.parse(name)
    fps = nd.fingerprint([TEXT], str(scheme.features), scheme.weights, scheme.bits)
    assert str(fps.scheme) == name
    assert fps.hex() == [digits.lower()]


def test_there_are_fingerprints_to_check():
    assert len(fingerprint_rows()) == 4


def test_a_long_unit():
    told = (
        r"`(\w+)` has (\d+) bytes: after\s`(\w+)` the value is (\w+), and after `(\w+)`,.+\s(0x\w+)"
    )
    unit, length, lead, first, rest, last = re.search(told, EXAMPLE, re.S).groups()
    assert int(length) == len(unit.encode())
    assert len(lead) == 16
    assert unit == lead + rest
    low, high = (int.from_bytes(lead.encode()[at : at + 8], "little") for at in (0, 8))
    folded = reference.fold_multiply(low ^ reference.LOW_KEY, high ^ reference.HIGH_KEY)
    assert int(first, 16) == folded
    assert int(last, 16) == reference.unit_value(unit)


@pytest.mark.parametrize("name", re.findall(r"([A-Z_]+) += 0x", PAGE))
def test_keys(name):
    assert int(re.search(rf"{name} += (0x\w+)", PAGE)[1], 16) == getattr(reference, name)


def test_words_in_the_text():
    text, words = re.search(r"`(Don't.+?)` has the words (.+?)\.", PAGE, re.S).groups()
    assert reference.words(text) == re.findall("`(.+?)`", words)
    assert nd.fingerprint([text]).words.tolist() == [5]


def test_solo_names_are_those_of_the_table():
    script = (Path(__file__).parents[2] / "scripts" / "unicode_ranges.py").read_text()
    names = re.search(r"SOLO_NAMES = \((.+?)\)", script, re.S)[1]
    told = re.search(r"names of solo characters begin with\s(.+?)\.", PAGE, re.S)[1]
    assert re.split(r",\s|\sor\s", told.replace("\n", " ")) == re.findall('"(.+?)"', names)
