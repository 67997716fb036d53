"""Items of benchmarks in documents, beside the twin."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings, strategies as st

from neardup.features.words import find_words
from neardup.kernels import available_isas
from neardup.kernels.contamination import MOST_HITS, BenchmarkIndex, word_places
from neardup.kernels.reference import contamination as twin

WORDS = ["a", "b", "C", "ü", "東", "ไ", "ب", "😀", "don't"]
texts = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)
few = st.lists(st.sampled_from(["a", "b"]), max_size=30).map(" ".join)


def index_of(items, *, isa="auto", parts=1, **settings):
    index = BenchmarkIndex(isa=isa, **settings)
    for first in range(0, len(items), max(1, len(items) // parts)):
        some = items[first : first + max(1, len(items) // parts)]
        fields = [field for item in some for field in item]
        owners = [number for number, item in enumerate(some) for _ in item]
        index.add(pa.array(fields, pa.large_string()), np.array(owners, np.uint32), len(some))
    index.finish()
    return index


def rows(columns, keys=None):
    names = list(columns)
    values = zip(*(columns[name].tolist() for name in names), strict=True)
    return [dict(zip(names, one, strict=True)) for one in values]


def expected(items, documents, min_words, short_words, max_items):
    made = [twin.Item.of(item, min_words, short_words) for item in items]
    hits, totals = [], []
    for number, document in enumerate(documents):
        some, sums = twin.scan(made, max_items, document)
        hits += [{"document": number, **one} for one in some]
        totals += [{"document": number, **one} for one in sums]
    return hits, totals


@settings(deadline=None, max_examples=300)
@given(
    items=st.lists(st.lists(st.one_of(texts, few), max_size=3), max_size=6),
    documents=st.lists(st.one_of(texts, few), max_size=4),
    min_words=st.integers(1, 9),
    short_words=st.integers(1, 5),
    max_items=st.integers(1, 4),
    parts=st.integers(1, 3),
)
@example([["a " * 40]], ["a " * 60], 2, 1, 1, 1)
def test_hits_are_those_of_the_twin(items, documents, min_words, short_words, max_items, parts):
    short_words = min(short_words, min_words)
    sizes = {"min_words": min_words, "short_words": short_words, "max_items": max_items}
    index = index_of(items, parts=parts, **sizes)
    made = [twin.Item.of(item, min_words, short_words) for item in items]
    assert index.words.tolist() == [len(words) for words in twin.counted(made, max_items)]
    assert index.same_as.tolist() == twin.same_as(made)
    found = index.scan(pa.array(documents, pa.large_string()))
    hits, totals = expected(items, documents, min_words, short_words, max_items)
    assert rows(found.hits) == [{**one, "words": one["words"]} for one in hits]
    full = {(one["document"], one["item"]) for one in totals if one["hits"] == MOST_HITS}
    assert [one for one in rows(found.items) if (one["document"], one["item"]) not in full] == [
        one for one in totals if (one["document"], one["item"]) not in full
    ]
    assert found.words == sum(len(find_words(document)) for document in documents)


@given(
    items=st.lists(st.lists(few, max_size=2), max_size=4),
    documents=st.lists(few, max_size=3),
    min_words=st.integers(1, 5),
    least_share=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
)
def test_ranges_are_the_hits_of_items_with_a_large_share(items, documents, min_words, least_share):
    index = index_of(items, min_words=min_words, short_words=1, max_items=9)
    found = index.scan(pa.array(documents, pa.large_string()), least_share=least_share)
    sizes = index.words
    chosen = {
        (one["document"], one["item"])
        for one in rows(found.items)
        if one["covered"] / sizes[one["item"]] >= least_share
    }
    covered, ranges = set(), set()
    for one in rows(found.hits):
        if (one["document"], one["item"]) in chosen:
            covered |= {(one["document"], at) for at in range(one["start_byte"], one["end_byte"])}
    for one in rows(found.ranges):
        ranges |= {(one["document"], at) for at in range(one["start_byte"], one["end_byte"])}
    # Ranges that touch are joined, with the space between them.
    spaces = {
        (document, at)
        for document, at in ranges - covered
        if documents[document][at] == " "
        and (document, at - 1) in covered
        and (document, at + 1) in covered
    }
    assert ranges == covered | spaces


@pytest.mark.parametrize("isa", available_isas())
def test_all_instruction_sets_give_the_same(isa):
    item = "It was the best of times, it was the worst of times, it was the age of wisdom"
    document = f"{'Filler text. ' * 3000}{item.upper()}\n{'还有 more. ' * 3000}"
    index = index_of([[item]], min_words=8, short_words=5, max_items=10, isa=isa)
    (hit,) = rows(index.scan(pa.array([document], pa.large_string())).hits)
    assert hit["words"] == 18
    assert document[hit["start"] : hit["end"]] == item.upper()
    assert document.encode()[hit["start_byte"] : hit["end_byte"]].decode() == item.upper()


@pytest.mark.parametrize(
    "item",
    [
        "The mitochondria is the powerhouse of the cell, and everyone knows it.",
        "白日依山盡黃河入海流欲窮千里目更上一層樓",
        "ภาษาไทยเป็นภาษาที่มีระดับเสียง",
        "كان يا ما كان في قديم الزمان ملك عظيم يحكم البلاد",
        "😀 one 😀 two 😀 three 😀 four five six seven eight nine",
    ],
)
def test_case_lines_and_punctuation_do_not_matter(item):
    index = index_of([[item]], min_words=8, short_words=5, max_items=10)
    assert index.words[0] >= 8
    disguised = [
        item.upper(),
        item.replace(" ", "\n"),
        item.replace(" ", " -- ").replace(",", ""),
        f"before {item} after",
    ]
    found = index.scan(pa.array(disguised, pa.large_string()))
    assert [one["covered"] for one in rows(found.items)] == [index.words[0]] * len(disguised)


@given(st.text(max_size=100), st.data())
def test_places_of_words(text, data):
    text = text.encode("utf-8", "replace").decode()
    every = twin.word_places(text)
    spans = find_words(text)
    assert [one["start"] for one in every] == spans.starts.tolist()
    assert [one["end"] for one in every] == spans.ends.tolist()
    wanted = sorted(data.draw(st.sets(st.sampled_from(range(len(every))))) if every else [])
    columns = word_places(text.encode(), np.array(wanted, np.uint64))
    names = ("start_byte", "end_byte", "start", "end")
    for name, column in zip(names, columns, strict=True):
        assert column.tolist() == [every[number][name] for number in wanted]


def test_words_that_too_many_items_share_do_not_count_alone():
    template = "Answer the following question by choosing one of the options:"
    items = [
        [f"{template} what is {number} plus {number + 1} times {number + 2}"]
        for number in range(50)
    ]
    index = index_of(items, min_words=8, short_words=5, max_items=10)
    whole = items[7][0]
    found = index.scan(pa.array([template, whole], pa.large_string()))
    (one,) = rows(found.items)
    assert (one["document"], one["item"], one["covered"]) == (1, 7, index.words[7])
    assert index.common_count > 0
    numbers, starts, counts = index.common()
    assert (numbers[0], starts[0], counts[0]) == (0, 0, 50)


def test_an_item_again_and_again_is_listed_only_so_often():
    item = "one two three four five six seven eight nine ten"
    document = f"{item} and then. " * 500
    index = index_of([[item]], min_words=8, short_words=5, max_items=10)
    found = index.scan(pa.array([document], pa.large_string()))
    assert len(found.hits["item"]) == MOST_HITS
    (total,) = rows(found.items)
    assert (total["covered"], total["hits"]) == (10, MOST_HITS)
    # All are in the ranges, listed or not.
    assert found.documents["covered"].tolist() == [5000]
    assert len(found.ranges["words"]) == 500
    assert set(found.ranges["words"].tolist()) == {10}


@pytest.mark.parametrize("period", [1, 2, 7, 9])
def test_repetitive_items_and_documents_take_linear_time(period):
    words = [f"w{number % period}" for number in range(100_000)]
    text = " ".join(words)
    index = index_of([[text]], min_words=8, short_words=5, max_items=10)
    found = index.scan(pa.array([text], pa.large_string()))
    (total,) = rows(found.items)
    assert total["covered"] == total["longest"] == 100_000
    assert len(found.hits["item"]) <= MOST_HITS


def test_identical_items_have_the_hits_of_the_first():
    text = "one two three four five six seven eight nine ten"
    index = index_of([[text]] * 1000, min_words=8, short_words=5, max_items=10)
    assert set(index.same_as.tolist()) == {0}
    found = index.scan(pa.array([text], pa.large_string()))
    assert found.items["item"].tolist() == [0]


def test_items_of_another_benchmark_are_others():
    text = pa.array(["one two three four five six seven eight nine ten"], pa.large_string())
    index = BenchmarkIndex(min_words=8, short_words=5, max_items=10)
    index.add(text, np.zeros(1, np.uint32), 1)
    index.begin_next()
    index.add(text, np.zeros(1, np.uint32), 1)
    index.finish()
    assert index.scan(text).items["item"].tolist() == [0, 1]


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="at least one word"):
        BenchmarkIndex(min_words=0, short_words=1, max_items=1)
    index = BenchmarkIndex(min_words=8, short_words=5, max_items=10)
    field = pa.array(["a"], pa.large_string())
    with pytest.raises(ValueError, match="has an item"):
        index.add(field, np.zeros(2, np.uint32), 1)
    with pytest.raises(ValueError, match="ascend"):
        index.add(field, np.ones(1, np.uint32), 1)
    index.finish()
    assert index.scan(field).items["item"].tolist() == []
