"""One contract for every index: in memory, on disk, and on a server, by both clients."""

from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pytest
from tests.index.texts import edited, pairs, text

import neardup as nd
from neardup.index.match import Answers, MatchList
from neardup.index.settings import IndexSettings
from neardup.index.told import IndexStats, Seen, StoredDocument
from neardup.read import Documents

SCRIPTS = {
    "de": "Für den Pflaumenkuchen einen Teig aus Mehl, Butter, Zucker und Hefe kneten",
    "zh": "受台风影响，沿海地区今晚到明天有大到暴雨，阵风可达十级。渔船应尽快回港。",
    "ar": "ضاعت قطة بيضاء صغيرة ذات عينين زرقاوين قرب سوق الزهور مساء الجمعة الماضي",
    "ru": "Наш спортивный клуб ищет тренера для детей от шести до восьми лет 🏐",
    "hostile": 'ends a line \r\n and a "string" \\ \0 \u2028 </script> {"id": 1} \U0001f600 twelve',
}
WORDS = text(1, 60).split()
EDITED = " ".join([*WORDS[:57], "other"])


def ids(matches):
    return [match.id for match in matches]


def test_a_check_adds_only_what_is_new(make):
    index = make()
    assert index.check("a", " ".join(WORDS), {"n": 1}) == (True, None, [], True)
    verdict = index.check("b", EDITED)
    assert type(verdict) is nd.Verdict
    assert (verdict.is_new, verdict.added, verdict.matches) == (False, False, [verdict.match])
    assert verdict.match == ("a", verdict.match.distance, pytest.approx(55 / 59), {"n": 1})
    assert type(verdict.match) is nd.Match
    assert repr(verdict) == "<Verdict seen, best match 'a', similarity 0.9322, 1 in all, not added>"
    assert len(index) == 1
    assert index.check("b", EDITED, add="always").added
    assert ids(index.check("c", EDITED, add="never").matches) == ["b", "a"]
    assert index.check("d", text(2), add="never") == (True, None, [], False)
    assert ("a" in index, "c" in index, "d" in index) == (True, False, False)
    assert index.check("a", " ".join(WORDS)).match.id == "b"  # never its own duplicate
    assert ids(index.check("c", EDITED, limit=1).matches) == ["b"]
    assert index.check("c", EDITED, threshold=0.95).match.id == "b"


def test_texts_of_any_script_and_with_any_character(make):
    index = make(store_text=True)
    for id, given in SCRIPTS.items():
        index.add(id, given, {"about": given})
    for id, given in SCRIPTS.items():
        assert index.query(given.upper())[0][::2] == (id, 1.0)
        stored = index.get(id)
        assert (stored.text, stored.metadata) == (given, {"about": given})


IDS = [0, 17, -(2**63), 2**63 - 1, "17", "017", "a/b?c=d#e", "ü 漢", "%2F", "a+b", "delete"]
IDS += [".", "..", "a/../b", "/", "//a//", " ", "\n\r\0", "https://example.org/?q=ü&r=%C3#x"]


@pytest.mark.parametrize("id", IDS)
def test_ids_stay_what_they_are(make, id):
    index = make()
    index.check(id, text(1))
    assert index.get(id).id == id
    assert type(index.get(id).id) is type(id)
    assert id in index
    assert index.check("other", text(1)).match.id == id
    assert index.query_many([text(1)])[0][0].id == id
    assert index.get(f"{id}x") is None
    assert index.delete(id) is True
    assert index.delete(id) is False
    assert (id in index, len(index)) == (False, 0)


def test_a_number_and_its_spelling_are_two_ids(make):
    index = make()
    index.add(5, text(5))
    assert ("5" in index, 5 in index) == (False, True)
    index.add("5", text(5))
    assert ids(index.query(text(5))) == [5, "5"]
    assert index.delete_many([5, "5", 6, 5]) == 2


@pytest.mark.parametrize(
    "shape",
    [
        lambda: pairs(0, 3),
        lambda: iter(pairs(0, 3)),
        lambda: [[number, words] for number, words in pairs(0, 3)],
        lambda: pa.table({"id": [0, 1, 2], "text": [text(n) for n in range(3)]}),
        lambda: pa.table({"id": [0, 1, 2], "text": [text(n) for n in range(3)]}).to_batches(),
        lambda: pa.table({"id": [0, 1, 2], "text": [text(n) for n in range(3)]}).to_reader(),
        lambda: pd.DataFrame({"id": [0, 1, 2], "text": [text(n) for n in range(3)]}),
        lambda: [pa.table({"id": [0], "text": [text(0)]}), *pairs(1, 2), (2, text(2), None)],
    ],
)
def test_documents_come_in_many_shapes(make, shape):
    index = make()
    assert index.add_many(shape()) == 3
    answers = index.query_many([text(n) for n in range(3)])
    assert type(answers) is Answers
    assert [ids(matches) for matches in answers] == [[0], [1], [2]]
    assert type(answers[0]) is MatchList
    assert answers.table()["similarity"].to_pylist() == [1.0, 1.0, 1.0]
    verdicts = index.check_many(shape())
    assert [verdict.is_new for verdict in verdicts] == [True, True, True]  # each is known itself
    assert len(index) == 3


def test_what_the_readers_read(make, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": "a", "text": "one two three four", "url": "u", "n": 1}\n')
    index = make()
    assert index.add_many(Documents(file, columns="all")) == 1
    assert index.get("a").metadata == {"url": "u", "n": 1}


def test_metadata_of_tables(make):
    index = make()
    table = pa.table({"id": ["a"], "text": ["one two three"], "url": ["u"], "other": [1]})
    index.add_many(table, metadata=["url"])
    assert index.query("one two three") == [nd.Match("a", 0, 1.0, {"url": "u"})]
    with pytest.raises(nd.InputError, match="no column 'missing'"):
        index.add_many(table, metadata=["missing"])
    with pytest.raises(nd.InputError, match="JSON"):
        index.add(1, "x y z", {"set": {1}})


def test_a_batch_is_checked_in_order_and_deduplicates_itself(make):
    index = make()
    index.add("old", text(1))
    batch = [("a", text(2)), ("b", text(1)), ("c", text(2)), ("a", text(3)), (7, text(3))]
    verdicts = index.check_many(batch)
    assert [verdict.added for verdict in verdicts] == [True, False, False, True, False]
    found = [verdict.match and verdict.match.id for verdict in verdicts]
    assert found == [None, "old", "a", None, "a"]
    again = index.check_many(iter(batch), add="never", keep_per_group=2)
    assert [verdict.is_new for verdict in again] == [True] * 5
    assert index.check_many([]) == []


def test_records_and_terms(make):
    people = make(text="name*2+city", features="char:3")
    people.add(1, {"name": "Anna Schmidt", "city": "Ulm", "ignored": 7})
    people.add_many(pa.table({"id": [2], "name": ["Bert Maier"], "city": ["Bonn"]}))
    people.add_many([(3, {"name": "Cleo", "city": 17})])
    found = people.query({"name": "Anna Schmidt", "city": "Ulm"}, threshold=0.9)
    assert [(match.id, match.similarity) for match in found] == [(1, 1.0)]
    assert ids(people.query({"name": "Cleo", "city": 17})) == [3]
    assert people.check("x", {"name": "Bert Maier", "city": "Bonn"}).match.id == 2
    terms = make(features="terms", threshold=0.5)
    terms.add("a", {"x": 1.0, "y": 2.0})
    terms.add_many([("b", {"x": 1.0, "z": 9.0}), ("c", [("q", 2.0)]), ("d", ["p", "r"])])
    assert ids(terms.query({"x": 1.0, "y": 2.0})) == ["a"]
    assert ids(terms.query([("q", 2.0)])) == ["c"]
    assert ids(terms.query_many([["p", "r"], {"z": 1.0}])[0]) == ["d"]


def test_an_index_by_distance(make):
    index = make(max_distance=3, store_features=True)
    index.add_many(pairs(0, 3))
    assert [tuple(match)[:3] for match in index.query(text(1), max_distance=0)] == [(1, 0, 1.0)]
    assert index.check("new", text(1)).match.id == 1
    assert ids(index.query_many([text(2)], 0, 0.9, 1)[0]) == [2]
    bare = make(plan="blocks:1")
    bare.add("a", text(1))
    assert bare.query(text(1)) == [nd.Match("a", 0, None, None)]
    assert list(bare.query_many([text(1), text(2)])) == [[nd.Match("a", 0)], []]
    assert bare.settings.max_distance == 1
    with pytest.raises(nd.SettingError):
        index.add("b", text(1), ttl="1d")


def test_the_settings_are_those_given(make):
    given = {"features": "char:4", "bits": 100, "threshold": 0.7, "ttl": "2h", "store_text": True}
    assert make(**given).settings == IndexSettings.of(given)
    assert make(plan="bands:4x8", tie=">=0").settings == IndexSettings.of(
        {"plan": "bands:4x8", "tie": ">=0"}
    )
    index = make(complete=True)
    assert index.settings.finds == "jaccard ≥ 0.8, complete"
    assert str(index.scheme) == "nd1/word:3/set/64"


@pytest.mark.parametrize("bits", [1, 7, 64, 65, 100, 128])
def test_a_stored_document(make, bits):
    index = make(bits=bits, store_text=True, ttl="1h")
    index.check("a", text(1), [1, "zwei", None])
    index.check("b", text(1))
    index.check("empty", "...")
    found = index.get("a")
    assert type(found) is StoredDocument
    prints = nd.fingerprint([text(1)], bits=bits)
    assert replace(found, seen=Seen(2, None, None), expires=None) == StoredDocument(
        "a", prints[0], 20, [1, "zwei", None], text(1), Seen(2, None, None), None
    )
    assert type(found.seen) is Seen
    assert found.seen.times == 2
    assert found.seen.first <= found.seen.last < found.expires <= found.seen.last + 3600
    assert (index.get("empty").fingerprint, index.get("empty").words) == (None, 0)


def test_figures(make):
    index = make()
    index.add_many(pairs(0, 5))
    stats = index.stats()
    assert type(stats) is IndexStats
    assert (stats.documents, stats.scheme, stats.expired) == (5, "nd1/word:3/set/64", 0)
    assert stats.added == {"hour": 5, "day": 5, "week": 5}
    assert sum(part.documents for part in stats.segments) == 5
    index.delete_many([0, 1])
    assert index.compact() is None
    assert (len(index), index.expire()) == (3, 0)


def test_the_same_document_stays(make):
    index = make(store_text=True)
    index.add_many([(1, text(1)), (2, text(2)), (1, text(3))])
    assert index.get(1).text == text(3)
    assert index.query(text(1)) == []
    assert len(index) == 2


def test_empty_documents_are_there_but_near_nothing(make):
    index = make()
    index.add(1, "...")
    index.add_many([(2, "!"), (3, None)])
    assert index.check(4, "").is_new
    assert len(index) == 4
    assert index.query("...") == []
    assert list(index.query_many(["", None, "!"])) == [[], [], []]


def test_limits(make):
    index = make()
    index.add_many([(n, text(0)) for n in range(30)])
    assert len(index.query(text(0))) == 10
    assert len(index.query(text(0), limit=None)) == 30
    assert len(index.query_many([text(0)], limit=25)[0]) == 25
    assert len(index.check("x", text(0), limit=None).matches) == 30


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda index: index.query(text(1), threshold=0.5), nd.SettingError),
        (lambda index: index.query(text(1), max_distance=3), nd.SettingError),
        (lambda index: index.query(text(1), limit=-1), nd.SettingError),
        (lambda index: index.check(1, text(1), add="sometimes"), nd.SettingError),
        (lambda index: index.check(1, text(1), keep_per_group=0), nd.SettingError),
        (lambda index: index.check(1, text(1), ttl="soon"), nd.SettingError),
        (lambda index: index.add(1, text(1), ttl=-1), nd.SettingError),
        (lambda index: index.query(7), nd.SettingError),
        (lambda index: index.add_many("text"), nd.InputError),
        (lambda index: index.add_many(["text"]), nd.InputError),
        (lambda index: index.add_many([("a", "b", "c", "d")]), nd.InputError),
        (lambda index: index.add_many([(1.5, "b")]), nd.InputError),
        (lambda index: index.add_many([(1, 2.5)]), nd.InputError),
        (lambda index: index.add_many(pa.table({"text": ["a"]})), nd.InputError),
        (lambda index: index.add(2**63, text(1)), nd.InputError),
        (lambda index: index.add(True, text(1)), nd.InputError),
        (lambda index: index.add("a", "\ud800 b c"), nd.InputError),
        (lambda index: index.add("\ud800", text(1)), nd.InputError),
        (lambda index: index.check("a", None), nd.InputError),
        (lambda index: index.check("a", {"text": "b"}), nd.InputError),
        (lambda index: index.query_many(["a", 2.5]), nd.InputError),
        (lambda index: index.delete(1.5), nd.InputError),
    ],
)
def test_what_is_refused(make, call, error):
    index = make()
    with pytest.raises(error) as caught:
        call(index)
    assert isinstance(caught.value, nd.NeardupError)
    assert len(index) == 0


def test_a_stream_without_near_duplicates(make):
    index = make()
    stream = [text(1), text(2), text(1) + "!", {"id": "x", "text": text(3)}, edited(3, 20)]
    assert list(nd.unique(stream, index)) == [stream[0], stream[1], stream[3]]
    assert list(nd.unique(stream, index)) == []
