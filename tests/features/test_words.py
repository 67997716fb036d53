import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

from neardup.errors import InputError
from neardup.features import words as features_text
from neardup.features.words import find_words, folded_code_points, number_words
from neardup.kernels.reference import text as reference

TRICKY = "aZ_9 \t\n.\u0301\u0e01\u0e31東ひカ\u0130\u1e9eß\U0001d400\U00010400\U0001f600\xa0\x85\x1b"
TEXTS = st.one_of(st.text(), st.text(alphabet=TRICKY))


@settings(deadline=None)  # the first text loads the Unicode tables
@given(TEXTS)
@example("\u0301\u0301a\u0301")
@example("東\u0301a")
@example("İSTANBUL ẞ")
def test_words_are_those_of_the_reference(text):
    assert [reference.lower(word) for word in find_words(text)] == reference.words(text)


@settings(deadline=None)  # the first text loads the Unicode tables
@given(TEXTS)
def test_separators_and_words_make_up_the_text(text):
    words = find_words(text)
    parts = [words.separator(0)]
    for place, word in enumerate(words):
        assert word == words.stretch(place, place + 1)
        parts += [word, words.separator(place + 1)]
    assert "".join(parts) == text
    assert words.parts(0, len(words)) == parts[1:-1]


@settings(deadline=None)  # the first text loads the Unicode tables
@given(TEXTS)
@example("0 \r")
@example(" \n")
def test_folding_is_that_of_the_reference(text):
    assert "".join(map(chr, folded_code_points(text))) == reference.folded(text)


@settings(deadline=None)  # the first text loads the Unicode tables
@given(TEXTS, TEXTS)
def test_numbers_are_equal_where_lower_cased_words_are(a, b):
    words = reference.words(a) + reference.words(b)
    numbers = np.concatenate(number_words(find_words(a), find_words(b))).tolist()
    assert len(numbers) == len(words)
    assert len(set(zip(words, numbers, strict=True))) == len(set(words)) == len(set(numbers))


@settings(deadline=None)  # the first text loads the Unicode tables
@given(TEXTS)
def test_long_texts_are_cut_in_pieces_without_a_seam(text):
    whole = list(find_words(text)), folded_code_points(text).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(features_text, "_PIECE", 2)
        assert (list(find_words(text)), folded_code_points(text).tolist()) == whole


def test_half_a_character_is_refused_by_its_place():
    with pytest.raises(InputError, match=r"U\+D800 at character 3"):
        find_words("abc\ud800")
