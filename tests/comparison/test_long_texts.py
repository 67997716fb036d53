"""Long texts: passages first, then words, in linear time; nothing of either text is lost."""

import random

from hypothesis import given, settings, strategies as st

from neardup.comparison.compare import compare
from neardup.comparison.long_overlap import shared_of_long
from neardup.comparison.long_texts import LONG, find_long_edits
from neardup.comparison.view import ComparisonView
from neardup.features.words import count_words, find_words, passage_cuts

WORDS = ["red", "Red", "fox", "東", "京", "a", "the", "e\u0301", "over", "jumps", "x" * 90]
BETWEEN = [" ", "  ", "\n", ", ", ".\n\n", "—", "\r\n"]
texts = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(BETWEEN)), max_size=400).map(
    lambda pairs: "".join(word + between for word, between in pairs)
)


def lines(count, seed):
    some = random.Random(seed)
    words = [f"w{number}" for number in range(20_000)]
    return [" ".join(some.choices(words, k=12)) + "\n" for _ in range(count)]


@given(texts, texts)
def test_both_texts_can_be_read_from_the_edits(a, b):
    edits, _ = find_long_edits(a, b)
    assert "".join(edit.a for edit in edits) == a
    assert "".join(edit.b for edit in edits) == b
    for edit in edits:
        assert edit.op != "equal" or edit.a.split() == edit.b.split()


@given(texts, texts, texts)
def test_what_was_inserted_is_found(before, inserted, after):
    edits, complete = find_long_edits(f"{before} {after}", f"{before} {inserted} {after}")
    assert complete
    changed = sum(count_words(edit.a) for edit in edits if edit.op != "equal")
    assert changed <= count_words(before) + count_words(after)


@given(texts)
def test_passages_never_cut_a_word(text):
    cuts = passage_cuts(text)
    assert cuts[0] == 0
    assert cuts[-1] == len(text)
    assert cuts == sorted(cuts)
    parts = [word for start, end in zip(cuts, cuts[1:]) for word in find_words(text[start:end])]  # noqa: B905, RUF007
    assert parts == list(find_words(text))


def test_passages_are_cut_alike_wherever_they_stand():
    text = "".join(lines(300, 1)).replace("\n", " ")
    own = set(passage_cuts(text))
    moved = {cut - 17 for cut in passage_cuts("seventeen signs. " + text)}
    assert len(own & moved) > 0.8 * len(own)


@given(texts)
def test_words_are_counted(text):
    assert count_words(text) == len(find_words(text))


@settings(max_examples=50)
@given(
    texts, texts, st.sampled_from(["word:1", "word:3", "char:4"]), st.sampled_from(["set", "count"])
)
def test_similarities_are_those_of_short_texts(a, b, features, weights):
    short = compare(a, b, features=features, weights=weights)
    kind = short.scheme.features.shingle
    found = shared_of_long(a, b, kind, weights, find_long_edits(a, b)[0])
    assert (found.features_a, found.features_b) == (short.a.features, short.b.features)
    assert found.features == short.shared
    if short.reason is None:
        assert (found.jaccard, found.cosine) == (short.jaccard, short.cosine)
    assert bool(found.examples_a) == bool(short.only_a) or not found.examples_a


def test_a_long_text_with_few_edits():
    own = lines(LONG // 70, 2)
    changed = list(own)
    for place in (5, 20_000, len(own) - 3):
        changed[place] = "something new " + changed[place]
    a, b = "".join(own), "".join(changed)
    assert len(a) > LONG
    found = compare(a, b)
    assert found.diff_complete
    assert [edit.b.strip() for edit in found.diff if edit.op == "insert"] == ["something new"] * 3
    assert found.a.words == count_words(a)
    assert found.only_b > 0
    assert found.b.examples[0].startswith(("something new", own[4].split()[-2]))
    assert ComparisonView(found) is not None


def test_bounds_are_told():
    own = lines(LONG // 70, 3)
    changed = [line.replace(" ", " x ", 1) if n % 3 else line for n, line in enumerate(own)]
    found = compare("".join(own), "".join(changed))
    assert not found.diff_complete
    assert 0 < found.jaccard < 1
    assert "".join(edit.b for edit in found.diff) == "".join(changed)


def test_one_word_as_long_as_a_file():
    found = compare("a" * (LONG + 10), "a" * (LONG + 9) + "b")
    assert found.jaccard == 0
    assert [edit.op for edit in found.diff] == ["replace"]


def test_the_same_word_again_and_again():
    found = compare("a " * LONG, "a " * (LONG - 1000))
    assert found.diff_complete
    assert found.jaccard == 1
    assert sum(count_words(edit.a) for edit in found.diff if edit.op == "delete") == 1000
