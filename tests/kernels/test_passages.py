"""Passages beside the twin: where they begin, the keys of their words, windows, sightings."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from neardup.kernels import available_isas
from neardup.kernels.columns import text_column
from neardup.kernels.passages import UNITS, Sightings, cut_passages
from neardup.kernels.reference import passages as twin

pieces = st.sampled_from(
    [
        *("\n", "\n\n", "\r\n", " \t\n", "\u2028", "    ", " ", "\u3000"),
        *("```", "````", "~~~", "``", "```py", "```a`b"),
        *("Word", "word", "One two.", "three four!", "x = f(y);", "}", "# Title", "- item", "3."),
        *("好。", "春眠不觉晓，", "处处闻啼鸟。", "مرحبا بالعالم؟", "ไปไหนมา", "🙂", '"Ja."', "…"),
        *("**", "a line that is long enough to have been wrapped by somebody"),
    ]
)
texts = st.lists(pieces, max_size=30).map("".join)


def cut(text, unit, **more):
    return cut_passages(text_column([text]), unit=unit, **more).texts.to_pylist()


@pytest.mark.parametrize("unit", UNITS)
@settings(max_examples=400)
@given(text=texts)
def test_passages_are_those_of_the_twin(unit, text):
    assert cut(text, unit) == twin.cut_passages(text, unit)


@pytest.mark.parametrize("unit", UNITS)
@given(text=st.text(max_size=120))
def test_passages_of_any_text_cover_it(unit, text):
    text = text.encode("utf-8", "replace").decode()
    assert cut(text, unit) == twin.cut_passages(text, unit)
    assert "".join(cut(text, unit)) == text


@given(st.lists(texts, max_size=6), st.integers(1, 3), st.sampled_from(UNITS))
def test_a_column_is_cut_text_by_text(column, threads, unit):
    found = cut_passages(text_column(column), unit=unit, threads=threads)
    every = found.texts.to_pylist()
    bounds = found.documents.tolist()
    assert len(bounds) == len(column) + 1
    for text, begin, end in zip(column, bounds, bounds[1:], strict=False):
        assert every[begin:end] == twin.cut_passages(text, unit)


@given(st.lists(texts, min_size=1, max_size=8))
def test_keys_are_equal_for_equal_words_alone(some):
    for isa in available_isas():
        found = cut_passages(text_column(some), unit="paragraph", isa=isa)
        words = [twin.words_of(passage) for passage in found.texts.to_pylist()]
        assert found.words.tolist() == [len(one) for one in words]
        keys = list(map(tuple, found.keys.tolist()))
        assert len(set(keys)) == len(set(words)) == len(set(zip(keys, words, strict=True)))


@given(st.lists(st.lists(st.integers(1, 40), max_size=30), max_size=4), st.integers(1, 120))
def test_windows_are_those_of_the_twin(lengths, size):
    text_of = ["".join(" ".join(["Word"] * n) + ".\n" for n in one) for one in lengths]
    column = text_column(text_of)
    sentences = cut_passages(column, unit="sentence")
    found = cut_passages(column, unit="sentence", window=size)
    expected = []
    for begin, end in zip(sentences.documents, sentences.documents[1:], strict=False):
        part = slice(begin, end)
        hashes = [int(key) for key in sentences.keys[part, 0]]
        begins = twin.windows(sentences.words[part].tolist(), hashes, size)
        for passage, fresh in zip(sentences.texts[part].to_pylist(), begins, strict=True):
            expected = [*expected, passage] if fresh else [*expected[:-1], expected[-1] + passage]
    assert found.texts.to_pylist() == expected
    assert "".join(expected) == "".join(text_of)
    assert found.documents[-1] == len(expected)


def test_the_same_text_is_divided_in_the_same_way_wherever_it_stands():
    sentences = [f"Sentence {n} is about the number {n * n} and {n % 7} more." for n in range(400)]
    whole, rest = " ".join(sentences), " ".join(sentences[13:])
    a, b = cut(whole, "sentence", window=50), cut(rest, "sentence", window=50)
    assert len(set(a) & set(b)) >= 0.9 * len(b)


def test_a_block_of_code_stays_whole_and_an_open_fence_does_not_swallow_the_rest():
    block = "```python\nx = 1\n\n\ny = 2\n```\n"
    assert cut(f"Before.\n{block}After that.\n", "paragraph") == [
        "Before.\n",
        block,
        "After that.\n",
    ]
    assert cut(block + "Two words. And more.", "sentence") == [block, "Two words. ", "And more."]
    assert cut("```\nOne.\n\nTwo.\n", "paragraph") == ["```\nOne.\n\n", "Two.\n"]


def test_code_is_cut_by_lines_and_prose_by_sentences():
    code = "def f(x):\n    y = g(x)\n    return y\n"
    assert cut(code, "sentence") == code.splitlines(keepends=True)
    prose = "This goes on\nin the next line. Here\nis another."
    assert cut(prose, "sentence") == ["This goes on\nin the next line. ", "Here\nis another."]


def test_a_text_without_blank_lines_has_a_paragraph_in_each_line_but_wrapped_ones():
    assert cut("Home\nAbout us\nContact", "paragraph") == ["Home\n", "About us\n", "Contact"]
    assert cut("It was wrapped\nhere. Then\nit ended.", "paragraph") == [
        "It was wrapped\nhere. Then\nit ended."
    ]


def test_a_wrapped_sentence_is_not_cut_into_lines():
    text = "A sentence of some length that was wrapped\nby an editor.\nhome\nabout us\n"
    first = "A sentence of some length that was wrapped\nby an editor.\n"
    assert cut(text, "line") == [first, "home\n", "about us\n"]


def test_many_fences_take_linear_time():
    lines = [*("~" * (3 + n % 500) + "x" for n in range(40_000)), *["```x"] * 40_000]
    assert len(cut("\n".join(lines), "paragraph")) > 1


hashes = st.lists(st.integers(0, 2**61 - 2), max_size=50, unique=True)


@given(st.lists(hashes, max_size=8), st.sampled_from([64, 1024, 1 << 20]))
def test_sightings_forget_nothing(passages, bits):
    seen = Sightings(bits)
    for one in passages:
        seen.see(np.array(one, np.uint64))
    every = np.array([feature for one in passages for feature in one], np.uint64)
    offsets = np.cumsum([0, *map(len, passages)])
    counts = seen.count(offsets, every).tolist()
    for one, count in zip(passages, counts, strict=True):
        others = [other for other in passages if other is not one]
        assert len([f for f in one if any(f in other for other in others)]) <= count <= len(one)


def test_sightings_with_room_tell_once_from_twice():
    seen = Sightings(1 << 24)
    rng = np.random.default_rng(1)
    once = rng.integers(0, 2**61, 1000, np.uint64)
    twice = rng.integers(0, 2**61, 1000, np.uint64)
    for some in (once, twice, twice):
        seen.see(some)
    counts = seen.count(np.array([0, 1000, 2000]), np.concatenate((once, twice)))
    assert counts[0] < 10
    assert counts[1] == 1000
