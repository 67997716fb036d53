"""Search finds exactly the documents that have the words, in any script."""

import re

import pytest
from hypothesis import given, strategies as st
from tests.runs.stored import SCRIPTS, read, store, table, texts

from neardup.features.words import find_words
from neardup.kernels.reference.text import lower
from neardup.runs import ClusterQuery, open_run
from neardup.runs.search import parsed
from neardup.runs.words import indexed, words_of

EMOJI = re.compile("[\U0001f000-\U0001faff]")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search") / "out"
    store(folder, table(texts(80)))
    return open_run(folder)


@pytest.fixture(scope="module")
def members(run):
    held = read(run.path)
    places = {row.place: number for number, rows in held.clusters.items() for row in rows}
    return {place: (number, run.text(place)) for place, number in places.items()}


def numbers(run, search):
    page = run.clusters(ClusterQuery(search=search, per_page=1000))
    return {cluster.number for cluster in page.rows}


def plain_words(text):
    """The words of a text, found by the tokenizer of the scheme, and emoji."""
    spans = find_words(text)
    found = list(zip(spans.starts.tolist(), map(lower, spans), strict=True))
    found += [(match.start(), match[0]) for match in EMOJI.finditer(text)]
    return [word for _, word in sorted(found)]


def has_phrase(text, phrase):
    words, wanted = plain_words(text), plain_words(phrase)
    count = len(wanted)
    return any(words[n : n + count] == wanted for n in range(len(words) - count + 1))


@pytest.mark.parametrize(
    "word",
    [
        *("quick", "QUICK", "東京", "京大學", "不", "كتاب", "الطبيعة", "НАУКА", "жизнь"),
        *("😀", "🚀", "emoji", "AND", "or", "NOT", "NEAR(", "w17", "w1", "nothingofthekind"),
        *("inside", "fox*", "quick^2", "^quick", "-fox", "c0:quick", "quick,brown", "w5;w6"),
    ],
)
def test_a_word(run, members, word):
    expected = {number for number, text in members.values() if has_phrase(text, word)}
    assert numbers(run, word) == expected


def test_common_words_are_found(run, members):
    for text in SCRIPTS:
        assert numbers(run, text.split()[-1]), text


def test_all_words_in_one_member(run, members):
    expected = {
        number
        for number, text in members.values()
        if all(has_phrase(text, word) for word in ("quick", "fox"))
    }
    assert numbers(run, "fox quick") == expected != set()


@pytest.mark.parametrize(
    "phrase", ["quick brown", "brown quick", "大學不", "عن الطبيعة", "😀 emoji 🚀"]
)
def test_phrases(run, members, phrase):
    expected = {number for number, text in members.values() if has_phrase(text, phrase)}
    assert numbers(run, f'"{phrase}"') == expected
    assert numbers(run, f'"{phrase}') == expected  # while it is typed


def test_columns(run, members):
    titles = {place: str(run.row(place)["title"]) for place in members}
    word = next(word for title in titles.values() for word in plain_words(title))
    expected = {members[place][0] for place, title in titles.items() if has_phrase(title, word)}
    assert numbers(run, f"title:{word}") == expected
    assert numbers(run, f'title:"{word}"') == expected
    assert numbers(run, f"kind:{word}") == set()
    kinds = {members[place][0] for place in members if run.row(place)["kind"] == "wiki"}
    assert numbers(run, "kind:wiki") == kinds
    assert numbers(run, "nocolumn:wiki") == set()


def test_ids(run, members):
    by_id = {f"d{place}": number for place, (number, _) in members.items()}
    for id, number in by_id.items():
        assert number in numbers(run, id)
    begun = {number for id, number in by_id.items() if id.startswith("d1")}
    assert numbers(run, "d1") == begun


def test_ids_that_are_numbers(tmp_path):
    some = texts()
    store(tmp_path / "out", table(some, list(range(1000, 1000 + len(some)))))
    run = open_run(tmp_path / "out")
    held = read(run.path)
    for begun in ("10", "101", "1005", "0", "9"):
        expected = {
            number
            for number, rows in held.clusters.items()
            if any(str(1000 + row.place).startswith(begun) for row in rows)
        }
        assert numbers(run, begun) == expected


def test_documents(run, members):
    found = [document.place for document in run.find_documents("quick fox", 1000)]
    every = [place for place, (_, text) in sorted(members.items()) if "quick brown fox" in text]
    assert found == every


def test_nothing_but_signs_finds_nothing(run):
    for search in ('"', '""', "()", "* *", "!?", ":", '" " "', "\x00"):
        assert numbers(run, search) == set()
    assert len(numbers(run, "  ")) == run.clusters_count


@given(st.text(max_size=40) | st.text(alphabet="ab:\"*^()-+ANDORT '{}", max_size=30))
def test_nothing_that_is_typed_is_an_error(run, search):
    found = run.clusters(ClusterQuery(search=search))
    assert found.total <= run.clusters_count


@given(st.text(max_size=60))
def test_words_are_those_of_the_scheme(text):
    words = [
        word
        for word in words_of(text)
        if not re.match("[\u2190-\u2bff\U0001f000-\U0001faff]", word)
    ]
    assert words == list(map(lower, find_words(text)))
    assert words_of(indexed(text)) == words_of(text)


def test_queries():
    assert parsed('a "b c" d:e', ["d"]).match == '"a" AND "b c" AND {c0} : "e"'
    assert parsed('a"b', ["d"]).match == '"a" AND "b"'
    assert parsed("x:y", ["d"]).match == '"x y"'


def test_after_signs_that_end_strings_elsewhere(tmp_path):
    some = [
        "before\x00after the\x00end of it",
        "before\x00after the\x00end of it",
        "naïve\x00 œuvre",
    ]
    store(tmp_path / "out", table([*some, some[2]]))
    run = open_run(tmp_path / "out")
    assert len(numbers(run, "after end")) == 1
    assert len(numbers(run, "ŒUVRE")) == 1
