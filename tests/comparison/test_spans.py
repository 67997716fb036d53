"""The runs of words that two texts share."""

import pytest
from hypothesis import given, strategies as st

import neardup as nd
from neardup.comparison.spans import find_spans
from neardup.errors import InputError, SettingError
from neardup.features.words import find_words
from neardup.kernels.reference.spans import words_of

ARTICLE = "The harbour was closed on Monday, because the storm had moved the buoys."
pieces = st.lists(st.sampled_from(["one", "Two", "東京", "дом", "a", ", ", "\n", " ", "—"]))


@given(pieces, pieces, st.integers(1, 4))
def test_spans_are_the_same_words_and_as_long_as_they_can_be(first, second, least):
    a, b = " ".join(first), " ".join(second)
    words, others = words_of(a), words_of(b)
    runs = {tuple(others[i:j]) for i in range(len(others)) for j in range(i + 1, len(others) + 1)}
    found = nd.spans(a, b, min_words=least)
    starts, ends = find_words(a).starts.tolist(), find_words(a).ends.tolist()
    covered = set()
    for span in found:
        assert span.text == a[span.a_start : span.a_end]
        same = words_of(span.text)
        assert same == words_of(b[span.b_start : span.b_end])
        assert len(same) == span.words >= least
        begin, end = starts.index(span.a_start), ends.index(span.a_end) + 1
        assert begin == 0 or tuple(words[begin - 1 : end]) not in runs
        assert end == len(words) or tuple(words[begin : end + 1]) not in runs
        covered |= set(range(begin, end))
    # And no other run is long enough: every shared one is inside a span.
    expected = {
        place
        for begin in range(len(words))
        for place in range(begin, begin + least)
        if begin + least <= len(words) and tuple(words[begin : begin + least]) in runs
    }
    assert covered == expected
    shared = find_spans(a, b, least)
    assert shared.shared[0] == len(covered)
    assert shared.shared[1] == find_spans(b, a, least).shared[0]
    assert shared.words == (len(words), len(others))


@pytest.mark.parametrize(
    "page",
    [
        ARTICLE.upper(),
        ARTICLE.replace(" ", "\n"),
        ARTICLE.replace(",", " –").replace(".", "!!"),
        f"News | {ARTICLE} | Imprint",
    ],
)
def test_case_line_breaks_and_punctuation_do_not_matter(page):
    (span,) = nd.spans(ARTICLE, page)
    assert (span.a_start, span.a_end, span.words) == (0, len(ARTICLE) - 1, 13)
    assert words_of(page[span.b_start : span.b_end]) == words_of(ARTICLE)


def test_the_first_place_in_the_second_text_is_given():
    (span,) = nd.spans("one two", "two one two, one two", min_words=2)
    assert (span.b_start, span.b_end) == (4, 11)


def test_chinese_and_emoji():
    poem, page = "床前明月光，疑是地上霜。", "《静夜思》😀床前明月光\n疑是地上霜😀"
    (span,) = nd.spans(poem, page)
    assert (span.words, page[span.b_start : span.b_end]) == (10, "床前明月光\n疑是地上霜")


def test_nothing_is_shared_by_empty_texts():
    for a, b in (("", ""), ("one two", ""), ("", "one two"), ("...", "...")):
        assert nd.spans(a, b, min_words=1) == []


def test_bad_input_is_refused_in_a_sentence():
    with pytest.raises(SettingError, match="a must be a str, not bytes"):
        nd.spans(b"one", "one")
    with pytest.raises(SettingError, match="min_words=0"):
        nd.spans("one", "one", min_words=0)
    with pytest.raises(InputError, match="lone surrogate"):
        nd.spans("one \ud800", "one")
