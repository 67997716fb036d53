import doctest
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from neardup.comparison import diff as diff_module
from neardup.comparison.alignment import align
from neardup.comparison.diff import find_edits
from neardup.features.words import find_words, number_words
from neardup.kernels.reference import text as reference

TEXTS = st.one_of(
    st.text(),
    st.text(alphabet="aA., \n東"),
    st.lists(st.sampled_from(["the", "The", "fox", "old", ",", " ", "\n", "!"])).map("".join),
)


def edits(a, b):
    a, b = find_words(a), find_words(b)
    return [(edit.op, edit.a, edit.b) for edit in find_edits(a, b, align(*number_words(a, b)))]


@settings(deadline=None)  # the first text loads the Unicode tables
@given(TEXTS, TEXTS)
def test_the_sides_joined_are_the_texts(a, b):
    found = edits(a, b)
    assert "".join(side for _, side, _ in found) == a
    assert "".join(side for _, _, side in found) == b


@settings(deadline=None)  # the first text loads the Unicode tables
@given(TEXTS, TEXTS)
def test_every_piece_is_what_its_name_says(a, b):
    found = edits(a, b)
    for op, side_a, side_b in found:
        if op == "equal":
            assert "".join(side_a.split()) == "".join(side_b.split())
        elif op == "variant":
            assert reference.words(side_a) == reference.words(side_b)
            assert side_a != side_b
        elif op == "replace":
            assert reference.words(side_a)
            assert reference.words(side_b)
        else:
            assert op in ("delete", "insert")
            words, nothing = (side_a, side_b) if op == "delete" else (side_b, side_a)
            assert reference.words(words)
            assert nothing == ""
    assert all(left[0] != right[0] for left, right in pairwise(found))


@settings(deadline=None)  # the first text loads the Unicode tables
@given(TEXTS)
def test_a_text_is_equal_to_itself(text):
    assert edits(text, text) == ([("equal", text, text)] if text else [])


@settings(deadline=None)  # the first text loads the Unicode tables
@given(st.lists(TEXTS))
def test_long_stretches_are_compared_in_parts_without_a_seam(parts):
    a, b = " x ".join(parts), " X ".join(parts)
    whole = edits(a, b)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(diff_module, "_STRETCH", 2)
        assert edits(a, b) == whole


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("the big fox", "the fox", ["equal the ", "delete big ", "equal fox"]),
        ("the fox runs.", "the fox.", ["equal the fox", "delete  runs", "equal ."]),
        ("the fox.", "the fox runs.", ["equal the fox", "insert ", "equal ."]),
        ("the fox", "the fox runs", ["equal the fox", "insert "]),
        ("a  b\nc", "a b c", ["equal a  b\nc"]),
        ("one, two", "one; two", ["equal one", "variant ,", "equal  two"]),
        ("NASA flies", "nasa flies", ["variant NASA", "equal  flies"]),
        ("", "...", ["variant "]),
        ("...", "word", ["variant ...", "insert "]),
    ],
)
def test_separators_go_where_a_reader_expects_them(a, b, expected):
    assert [f"{op} {side_a}" for op, side_a, _ in edits(a, b)] == expected


def test_example_in_the_docstring():
    result = doctest.testmod(diff_module)
    assert result.attempted
    assert not result.failed
