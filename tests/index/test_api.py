"""The API of both indexes: forms of input, thresholds, limits, and clear errors."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.index.texts import pairs, text

import neardup as nd
from neardup.read import Documents
from neardup.read.terms.documents import TermDocuments


@pytest.fixture(params=["memory", "disk"])
def make(request, tmp_path):
    made = []

    def make(**settings):
        if request.param == "memory":
            made.append(nd.MemoryIndex(**settings))
        else:
            made.append(nd.Index(tmp_path / f"{len(made)}.index", sync=False, **settings))
        return made[-1]

    yield make
    for index in made:
        index.close()


def ids(matches):
    return [match.id for match in matches]


@pytest.mark.parametrize(
    "shape",
    [
        lambda: pairs(0, 3),
        lambda: iter(pairs(0, 3)),
        lambda: [[number, words] for number, words in pairs(0, 3)],
        lambda: pa.table({"id": [0, 1, 2], "text": [text(n) for n in range(3)]}),
        lambda: pa.table({"id": [0, 1, 2], "text": [text(n) for n in range(3)]}).to_batches(),
        lambda: pd.DataFrame({"id": [0, 1, 2], "text": [text(n) for n in range(3)]}),
        lambda: pl.DataFrame({"id": [0, 1, 2], "text": [text(n) for n in range(3)]}),
        lambda: [pa.table({"id": [0], "text": [text(0)]}), *pairs(1, 2), (2, text(2), None)],
    ],
)
def test_documents_come_in_many_shapes(make, shape):
    index = make()
    assert index.add_many(shape()) == 3
    assert list(index.ids()) == [0, 1, 2]
    assert [ids(matches) for matches in index.query_many([text(n) for n in range(3)])] == [
        [0],
        [1],
        [2],
    ]


def test_what_the_readers_read(make, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": "a", "text": "one two three four", "url": "u", "n": 1}\n')
    index = make()
    index.add_many(Documents(file, columns="all"))
    assert index.get("a").metadata == {"url": "u", "n": 1}
    file.write_text('{"id": "a", "terms": {"x": 2.0, "y": 1.0}}\n')
    terms = make(features="terms")
    terms.add_many(TermDocuments(file))
    assert ids(terms.query({"x": 2.0, "y": 1.0})) == ["a"]


def test_records_and_terms(make):
    people = make(text="name*2+city", features="char:3", store_features=True)
    people.add(1, {"name": "Anna Schmidt", "city": "Ulm"})
    people.add_many(pa.table({"id": [2], "name": ["Bert Maier"], "city": ["Bonn"]}))
    found = people.query({"name": "Anna Schmidt", "city": "Ulm"}, threshold=0.9)
    assert [(match.id, match.similarity) for match in found] == [(1, 1.0)]
    terms = make(features="terms", store_features=True, plan="blocks:1")
    terms.add("a", {"x": 1.0, "y": 2.0})
    terms.add_many([("b", {"x": 1.0, "z": 9.0})])
    assert ids(terms.query({"x": 1.0, "y": 2.0}, threshold=0.5)) == ["a"]
    with pytest.raises(nd.SettingError, match="store_features"):
        make(features="terms", store_text=True)


def test_metadata_of_tables(make):
    index = make()
    table = pa.table({"id": ["a"], "text": ["one two three"], "url": ["u"], "other": [1]})
    index.add_many(table, metadata=["url"])
    assert index.query("one two three") == [nd.Match("a", 0, None, {"url": "u"})]
    with pytest.raises(nd.InputError, match="no column 'missing'"):
        index.add_many(table, metadata=["missing"])
    with pytest.raises(nd.InputError, match="JSON"):
        index.add(1, "x y z", {"set": {1}})


def test_fingerprints_go_in_as_they_are(make):
    index = make()
    prints = nd.fingerprint([text(n) for n in range(5)])
    prints = nd.Fingerprints(prints.array, prints.scheme, prints.words, list("abcde"))
    assert index.add_many(prints) == 5
    assert ids(index.query(prints[2])) == ["c"]
    assert ids(index.query(prints[2:3])) == ["c"]
    assert [ids(matches) for matches in index.query_many(prints)] == [[c] for c in "abcde"]
    with pytest.raises(nd.SchemeMismatchError, match="nd1/word:3/set/128"):
        index.add_many(nd.fingerprint(["x"], bits=128))
    with pytest.raises(nd.SchemeMismatchError, match="nd1/word:3/set/128"):
        index.query(nd.fingerprint(["x"], bits=128))
    with pytest.raises(nd.InputError, match="ids"):
        index.add_many(nd.fingerprint(["x y z"]))
    with pytest.raises(nd.InputError, match="fingerprints alone cannot be added"):
        make(store_text=True).add_many(prints)


def test_the_same_id_replaces_and_the_same_document_stays(make):
    index = make(store_text=True)
    assert index.add_many([(1, text(1)), (2, text(2)), (1, text(3))]) == 2
    assert index.get(1).text == text(3)
    assert index.query(text(1)) == []
    assert index.add_many([(1, text(3)), (2, text(4))]) == 1
    assert list(index.ids()) == [1, 2]
    assert len(index) == 2


def test_a_number_and_its_spelling_are_two_ids(make):
    index = make()
    index.add(5, text(5))
    index.add("5", text(5))
    assert ids(index.query(text(5))) == [5, "5"]
    assert index.delete("5")
    assert ids(index.query(text(5))) == [5]
    assert not index.delete("5")


def test_ties_are_ordered_by_id_and_cut_by_age(make):
    index = make()
    for id in [9, 3, "b", 7, "a"]:
        index.add(id, text(0))
    assert ids(index.query(text(0))) == [3, 7, 9, "a", "b"]
    assert ids(index.query(text(0), limit=2)) == [3, 9]


def test_progress_is_told_as_it_is_committed(make):
    told = []
    make().add_many(pairs(0, 5), progress=told.append)
    assert told == [5]


def test_check_gives_what_was_there_before(make):
    index = make()
    assert index.check("a", text(1)) == []
    assert ids(index.check("b", text(1))) == ["a"]
    assert ids(index.check("b", text(1))) == ["a"]
    assert ids(index.check("c", text(1), limit=1)) == ["a"]
    assert len(index) == 3


def test_empty_documents_are_there_but_near_nothing(make):
    index = make(store_text=True)
    index.add(1, "...")
    index.add_many([(2, "!"), (3, text(3))])
    assert len(index) == 3
    assert index.get(1).fingerprint is None
    assert index.query("...") == []
    assert index.query(0) == []
    assert [ids(matches) for matches in index.query_many(["", text(3), "?"])] == [[], [3], []]
    assert index.delete(1)


def test_a_threshold_needs_texts_or_features(make):
    plain = make()
    with pytest.raises(nd.SettingError, match="store_text"):
        plain.query("x y z", threshold=0.8)
    index = make(store_text=True, plan="bands:40x16", bits=640)
    words = text(1, 60).split()
    index.add("all", " ".join(words))
    index.add("most", " ".join(words[:57]))
    index.add("half", " ".join(words[:30]))
    found = index.query(" ".join(words), threshold=0.9)
    assert [(match.id, round(match.similarity, 2)) for match in found] == [
        ("all", 1),
        ("most", 0.95),
    ]
    with pytest.raises(nd.SettingError, match="fingerprint was given"):
        index.query(nd.fingerprint([text(1)], bits=640), threshold=0.9)
    with pytest.raises(nd.SettingError, match="above 0"):
        index.query("x", threshold=1.5)


def test_many_near_fingerprints_that_are_not_similar_are_looked_through(make):
    # 300 documents with one fingerprint precede the truly similar one.
    index = make(features="word:1", bits=1, plan="blocks:0", store_text=True)
    one = nd.fingerprint(["wanted words here"], "word:1", bits=1)[0]
    others = (text(number, 3) for number in range(2000))
    same = [each for each in others if nd.fingerprint([each], "word:1", bits=1)[0] == one]
    index.add_many(enumerate(same[:300]))
    index.add("wanted", "wanted words here")
    assert ids(index.query("wanted words here", threshold=0.9, limit=1)) == ["wanted"]
    answers = index.query_many(["wanted words here", same[0]], threshold=0.9, limit=2)
    assert [ids(matches) for matches in answers] == [["wanted"], [0]]


def test_answers_are_a_sequence_and_a_table(make):
    index = make(store_features=True)
    index.add_many([("a", text(1)), (2, text(2)), ("b", text(1))])
    answers = index.query_many([text(1), "", text(2)])
    assert len(answers) == 3
    assert answers[-1] == [nd.Match(2, 0, 1.0)]
    assert answers[:2] == [answers[0], []]
    with pytest.raises(IndexError):
        answers[3]
    assert answers.table().to_pydict() == {
        "query": [0, 0, 2],
        "id": ["a", "b", "2"],
        "distance": [0, 0, 0],
        "similarity": [1.0, 1.0, 1.0],
    }
    assert len(index.query_many([])) == 0
    assert index.query_many([]).table().num_rows == 0


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda i: i.add(None, "x"), nd.InputError, "ids are int or str"),
        (lambda i: i.add(True, "x"), nd.InputError, "ids are int or str"),
        (lambda i: i.add(2**63, "x"), nd.InputError, "64 bits"),
        (lambda i: i.add("\ud800", "x"), nd.InputError, "Unicode"),
        (lambda i: i.add(1, 5), nd.InputError, "a text is a str"),
        (lambda i: i.add(1, "\ud800"), nd.InputError, "surrogate"),
        (lambda i: i.add_many("text"), nd.InputError, "not a batch of documents"),
        (lambda i: i.add_many(["text"]), nd.InputError, "not a batch of documents"),
        (lambda i: i.add_many([(1,)]), nd.InputError, r"\(id, text\)"),
        (lambda i: i.add_many(pa.table({"text": ["x"]})), nd.InputError, "no column 'id'"),
        (lambda i: i.add_many(pa.table({"id": [1]})), nd.InputError, "no column 'text'"),
        (lambda i: i.query("x", -1), nd.SettingError, "max_distance"),
        (lambda i: i.query("x", 4), nd.SettingError, "blocks:3"),
        (lambda i: i.query("x", limit=-1), nd.SettingError, "limit"),
        (lambda i: i.query(2**64), nd.SettingError, "64 bits"),
        (lambda i: i.query(-1), nd.SettingError, "64 bits"),
    ],
)
def test_refusals_are_sentences_and_change_nothing(make, call, error, says):
    index = make()
    index.add("there", text(1))
    with pytest.raises(error, match=says):
        call(index)
    assert list(index.ids()) == ["there"]


@pytest.mark.parametrize("plan", ["rotate:4", "probe:1", "all", "length:0.2"])
def test_plans_that_cannot_keep_up(make, plan):
    with pytest.raises(nd.SettingError, match="cannot be used by an index"):
        make(plan=plan)


def test_wide_plans(make):
    index = make(bits=4096, plan="bands:256x16")
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2**64, (50, 64), dtype=np.uint64)
    index.add_many(nd.Fingerprints(rows, index.scheme, ids=np.arange(50)))
    near = rows[:3].copy()
    near[:, 5] ^= np.uint64(0xFFFF)
    found = index.query_many(nd.Fingerprints(near, index.scheme), 16)
    assert [[(match.id, match.distance) for match in matches] for matches in found] == [
        [(0, 16)],
        [(1, 16)],
        [(2, 16)],
    ]
    assert index.stats().tables == 256


def test_stats_and_buckets(make):
    index = make()
    rows = np.array([0, 1, 2, 2, 1 << 63], np.uint64)
    index.add_many(nd.Fingerprints(rows, index.scheme, ids=np.arange(5)))
    stats = index.stats(2)
    assert (stats.documents, stats.tables, stats.plan) == (5, 4, "blocks:3")
    # 0, 1, 2 and 1 << 63 agree on both blocks in the middle.
    assert stats.largest_buckets == [4, 4]
    assert all(size >= 0 for size in stats.bytes.values())
    assert index.stats(0).largest_buckets == []


def test_threads_change_nothing(make):
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 2**20, 3000, dtype=np.uint64)
    answers = []
    for threads in (1, 3):
        index = make(threads=threads)
        index.add_many(nd.Fingerprints(rows, index.scheme, ids=np.arange(3000)))
        answers.append(list(index.query_many(nd.Fingerprints(rows, index.scheme))))
    assert answers[0] == answers[1]


def test_unique_gives_what_was_not_seen(make):
    index = make(store_text=True)
    stream = [text(1), text(2), text(1) + "!", {"text": text(3), "n": 1}, ("x", text(3)), ("y", "")]
    assert list(nd.unique(stream, index)) == [stream[0], stream[1], stream[3], stream[5]]
    assert list(nd.unique([*stream, ("y", "")], index)) == []
    assert list(nd.unique(iter(["a b c d", "A B C D."]))) == ["a b c d"]
    with pytest.raises(nd.InputError, match="no 'text'"):
        list(nd.unique([{"id": 1}], index))
