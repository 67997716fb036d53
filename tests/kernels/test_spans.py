"""The runs of words that two documents share, beside the twin."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from neardup.kernels import available_isas, spans as native
from neardup.kernels.reference import spans as twin

numbers = st.lists(st.integers(0, 4), max_size=40)


def hashes(some):
    return np.array(some, np.uint64) * np.uint64(0x9E3779B97F4A7C15)


@given(numbers, numbers, st.integers(0, 9))
def test_runs_equal_those_of_the_twin(first, second, least):
    found = native.shared_runs(hashes(first), hashes(second), least=least)
    expected = twin.shared_runs(hashes(first), hashes(second), least=least)
    assert [one.tolist() for one in found] == [one.tolist() for one in expected]


@given(st.lists(st.integers(0, 40), max_size=300), st.data())
def test_a_copied_part_is_found(first, data):
    begin = data.draw(st.integers(0, len(first)))
    part = first[begin : data.draw(st.integers(begin, len(first)))]
    frame = [99] * data.draw(st.integers(0, 5))
    places, _, lengths = native.shared_runs(hashes(frame + part), hashes(first), least=1)
    expected = ([len(frame)], [len(part)]) if part else ([], [])
    assert (places.tolist(), lengths.tolist()) == expected


@pytest.mark.parametrize("words", [["a"], ["a", "b"], ["a", "b", "a", "c"]])
def test_repetitive_documents_take_linear_time(words):
    some = hashes(np.tile(np.arange(len(words)), 100_000))
    places, others, lengths = native.shared_runs(some, some, least=8)
    assert (places.tolist(), others.tolist(), lengths.tolist()) == ([0], [0], [len(some)])


@given(st.text(max_size=200))
def test_words_are_those_of_the_twin(text):
    text = text.encode("utf-8", "replace").decode()
    words = twin.words_of(text)
    for isa in available_isas():
        found = native.word_hashes(text, isa=isa).tolist()
        assert len(found) == len(words)
        assert len(set(zip(found, words, strict=True))) == len(set(found)) == len(set(words))


def test_long_texts_are_cut_into_words_in_order():
    words = [f"word{number % 997}" for number in range(50_000)]
    found = native.word_hashes(" ".join(words))
    alone = {word: native.word_hashes(word)[0] for word in set(words)}
    assert found.tolist() == [alone[word] for word in words]
    assert native.word_hashes("").tolist() == native.word_hashes(" .,! ").tolist() == []
