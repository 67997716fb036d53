import pytest
from hypothesis import given, strategies as st

from neardup.comparison.view import bit_lines


def lines(a, b, bits, width):
    difference = f"{a ^ b:0{bits}b}"
    differing = [place for place, bit in enumerate(difference) if bit == "1"]
    return [line.plain for line in bit_lines(a, b, bits, differing, width)]


@given(st.integers(1, 300), st.integers(30, 300), st.data())
def test_every_bit_is_shown_and_every_difference_has_a_caret_under_it(bits, width, data):
    a = data.draw(st.integers(0, 2**bits - 1))
    b = data.draw(st.integers(0, 2**bits - 1))
    shown = lines(a, b, bits, width)
    assert max(map(len, shown)) <= width
    label = 3 if not shown[0].startswith(" ") else 8
    rows = {"A": "", "B": ""}
    carets = 0
    for place, line in enumerate(shown):
        if "A" in line[:label] or "B" in line[:label]:
            rows[line[:label].split()[-1]] += line[label:].replace(" ", "")
            continue
        above = shown[place - 2 : place]
        for column, mark in enumerate(line):
            if mark == "^":
                carets += 1
                assert above[0][column] != above[1][column]
    assert rows == {"A": f"{a:0{bits}b}", "B": f"{b:0{bits}b}"}
    assert carets == (a ^ b).bit_count()


def test_64_bits_fit_on_one_line_of_80_columns():
    assert lines(2**63, 0, 64, 80) == [
        "A  10000000" + " 00000000" * 7,
        "B  00000000" + " 00000000" * 7,
        "   ^",
    ]


def test_wide_fingerprints_are_wrapped_at_64_bits_with_their_places():
    shown = lines(0, 1, 128, 80)
    assert [line[:8] for line in shown] == ["   0 A  ", "     B  ", "  64 A  ", "     B  ", " " * 8]
    assert shown[-1].index("^") == 78


@pytest.mark.parametrize(("a", "b"), [(None, 3), (3, None)])
def test_an_empty_document_shows_a_dash(a, b):
    shown = [line.plain for line in bit_lines(a, b, 4, (), 80)]
    assert sorted(line[3:] for line in shown) == ["0011", "–"]
