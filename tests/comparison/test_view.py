import io
from dataclasses import replace

import pytest
from rich.console import Console

from neardup import compare
from neardup.comparison.view import ComparisonView

A = "The quick brown fox jumps over the lazy dog, and [red]that[/red] was it.\x1b[31m"
B = "The quick red fox jumps over the lazy dog, and [red]that[/red] was it.\x1b[31m"


def printed(view, **console):
    out = io.StringIO()
    Console(file=out, width=80, **console).print(view)
    return out.getvalue()


def test_a_page_without_colour():
    comparison = compare(A, B)
    text = printed(ComparisonView(comparison, ("a.txt", "b.txt")), color_system=None)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith("nd1/word:3/set/64  words  features  shared  only here\n")
    assert "\nA  a.txt              16        14      11          3\n" in text
    assert f"Hamming distance                 {comparison.distance} of 64 bits\n" in text
    assert f"Jaccard                          {comparison.jaccard:.4f}\n" in text
    assert f"cosine                           {comparison.cosine:.4f}\n" in text
    assert f"cosine, estimated from the bits  {comparison.estimated_cosine:.4f}\n" in text
    assert text.count("^") == comparison.distance
    assert "only in A  the quick brown" in text
    assert "[-brown-]{+red+} fox" in text
    assert "[red]that[/red] was it.␛[31m" in " ".join(text.split())


def test_a_page_in_colour():
    text = printed(ComparisonView(compare(A, B)), force_terminal=True, color_system="standard")
    assert "\x1b[9;31mbrown\x1b[0m \x1b[32mred\x1b[0m" in text
    assert "[-" not in text
    assert "␛[31m" in text


def test_no_color_asks_for_marks(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    text = printed(ComparisonView(compare(A, B)), force_terminal=True, color_system="standard")
    assert "[-" in text


def test_an_empty_document_is_said_to_be_empty():
    text = printed(ComparisonView(compare("", B)), color_system=None)
    assert "A is empty: a document without a word can never match" in text
    assert "Hamming distance                 –\n" in text
    assert "A  –\n" in text
    assert "^" not in text


def test_weights_and_spaces_are_named():
    comparison = compare(A, B, features="char:4", weights="count")
    text = printed(ComparisonView(comparison), color_system=None)
    assert "weighted Jaccard" in text
    assert "only in A  ck␣b · rown" in text


def test_an_incomplete_diff_is_confessed():
    comparison = replace(compare(A, B), diff_complete=False)
    text = printed(ComparisonView(comparison), color_system=None)
    assert "some stretches are shown as replaced" in " ".join(text.split())
    assert "some stretches" not in printed(ComparisonView(compare(A, B)), color_system=None)


@pytest.mark.parametrize("width", [20, 40, 200])
def test_any_width_shows_every_difference(width):
    comparison = compare(A, B, bits=128)
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(ComparisonView(comparison))
    assert out.getvalue().count("^") == comparison.distance
