"""The API of both indexes, in memory and on disk: input, verdicts, times, and clear errors."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.index.clock import Clock
from tests.index.texts import pairs, text

import neardup as nd
from neardup.index.disk import kinds
from neardup.index.disk.change import every_run
from neardup.index.disk.records import Segment, State
from neardup.index.told import Seen
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
    people = make(text="name*2+city", features="char:3")
    people.add(1, {"name": "Anna Schmidt", "city": "Ulm"})
    people.add_many(pa.table({"id": [2], "name": ["Bert Maier"], "city": ["Bonn"]}))
    found = people.query({"name": "Anna Schmidt", "city": "Ulm"}, threshold=0.9)
    assert [(match.id, match.similarity) for match in found] == [(1, 1.0)]
    for settings in ({"threshold": 0.5}, {"store_features": True, "plan": "blocks:1"}):
        terms = make(features="terms", **settings)
        terms.add("a", {"x": 1.0, "y": 2.0})
        terms.add_many([("b", {"x": 1.0, "z": 9.0})])
        assert ids(terms.query({"x": 1.0, "y": 2.0}, threshold=0.5)) == ["a"]
    with pytest.raises(nd.SettingError, match="store_text is for plain texts"):
        make(features="terms", store_text=True)


def test_metadata_of_tables(make):
    index = make()
    table = pa.table({"id": ["a"], "text": ["one two three"], "url": ["u"], "other": [1]})
    index.add_many(table, metadata=["url"])
    assert index.query("one two three") == [nd.Match("a", 0, 1.0, {"url": "u"})]
    with pytest.raises(nd.InputError, match="no column 'missing'"):
        index.add_many(table, metadata=["missing"])
    with pytest.raises(nd.InputError, match="JSON"):
        index.add(1, "x y z", {"set": {1}})


def test_fingerprints_go_in_as_they_are(make):
    index = make(max_distance=3)
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
        make(max_distance=3, store_text=True).add_many(prints)


def test_similarity_needs_the_documents_themselves(make):
    index = make()
    prints = nd.fingerprint([text(1)])
    for call in (index.query, index.query_many, lambda given: index.check(1, given)):
        with pytest.raises(nd.SettingError, match="needs the documents themselves"):
            call(prints)
    with pytest.raises(nd.SettingError, match="needs the documents themselves"):
        index.query(7)
    with pytest.raises(nd.InputError, match="fingerprints alone cannot be added"):
        index.add_many(nd.Fingerprints(prints.array, prints.scheme, prints.words, ["a"]))
    with pytest.raises(nd.SettingError, match="not by max_distance"):
        index.query(text(1), max_distance=3)


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


def test_a_check_adds_only_what_is_new(make):
    index = make()
    words = text(1, 60).split()
    edited = " ".join([*words[:57], "other"])
    assert index.check("a", " ".join(words), {"n": 1}) == (True, None, [], True)
    is_new, match, matches, added = index.check("b", edited)
    assert (is_new, added, matches) == (False, False, [match])
    assert (match.id, match.metadata) == ("a", {"n": 1})
    assert match.similarity == pytest.approx(55 / 59)
    assert list(index.ids()) == ["a"]
    assert index.check("b", edited, add="always").added
    assert ids(index.check("c", edited, add="never").matches) == ["b", "a"]
    assert index.check("d", text(2), add="never") == (True, None, [], False)
    assert list(index.ids()) == ["a", "b"]
    assert index.check("a", " ".join(words)).match.id == "b"  # never its own duplicate
    assert not index.check("c", edited, limit=0).is_new
    assert ids(index.check("c", edited, limit=1).matches) == ["b"]


def test_some_documents_of_a_kind_are_kept(make):
    index = make()
    verdicts = [index.check(n, text(1), keep_per_group=3) for n in range(5)]
    assert [verdict.is_new for verdict in verdicts] == [True, True, True, False, False]
    assert list(index.ids()) == [0, 1, 2]
    assert ids(verdicts[2].matches) == [0, 1]


def test_a_batch_is_checked_in_order_and_deduplicates_itself(make):
    index = make()
    index.add("old", text(1))
    batch = [("a", text(2)), ("b", text(1)), ("c", text(2)), ("a", text(3)), (7, text(3))]
    verdicts = index.check_many(batch)
    assert [verdict.added for verdict in verdicts] == [True, False, False, True, False]
    assert [verdict.match and verdict.match.id for verdict in verdicts] == [
        None,
        "old",
        "a",
        None,
        "a",
    ]
    assert list(index.ids()) == ["old", "a"]
    assert [verdict.is_new for verdict in index.check_many(batch, add="never")] == [
        True,
        False,
        True,
        True,
        False,
    ]
    assert index.check_many([]) == []


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    clock.use(monkeypatch)
    return clock


def test_a_document_tells_how_often_and_when_it_was_seen(make, clock):
    index = make()
    index.check("a", text(1))
    begun = clock.now / 1000
    assert index.get("a").seen == Seen(1, begun, begun)
    clock.now += 2000
    index.check("b", text(1))
    clock.now += 2000
    index.check("a", text(1))
    assert index.get("a").seen == Seen(3, begun, begun + 4)
    clock.now += 2000
    index.add("a", text(2))
    assert index.get("a").seen == Seen(1, begun + 6, begun + 6)


def test_of_equal_matches_the_one_that_is_named_is_seen(make):
    index = make()
    for id in (9, 3):
        index.add(id, text(1))
    assert index.check("new", text(1)).match.id == 3
    assert [index.get(id).seen.times for id in (9, 3)] == [1, 2]


def test_documents_expire(make, clock):
    index = make(ttl="10s")
    index.check("default", text(1))
    index.add("short", text(2), ttl=1)
    index.add_many([("long", text(3))], ttl="1h")
    assert index.get("short").expires == clock.now / 1000 + 1
    clock.now += 999
    assert ids(index.query(text(2))) == ["short"]
    clock.now += 1
    assert index.query(text(2)) == []
    assert list(index.query_many([text(1), text(2)]))[1] == []
    assert index.check("again", text(2), add="never").is_new
    assert (len(index), index.stats().expired) == (3, 1)
    assert index.expire() == 1
    assert list(index.ids()) == ["default", "long"]
    assert index.expire(clock.now / 1000 + 60) == 1
    assert list(index.ids()) == ["long"]


@pytest.mark.parametrize(
    "again",
    [
        lambda index: index.add("a", text(1)),
        lambda index: index.add_many([("a", text(1))]),
        lambda index: index.check("a", text(1)),
        lambda index: index.check_many([("a", text(1))]),
    ],
)
def test_an_expired_document_that_is_added_again_lives_again(make, clock, again):
    index = make(ttl=1)
    index.add("a", text(1))
    clock.now += 1000
    again(index)
    assert ids(index.query(text(1))) == ["a"]
    assert index.get("a").expires == clock.now / 1000 + 1


def test_documents_without_ids_never_replace_each_other(make, tmp_path):
    index = make()
    for delivery in range(2):
        (tmp_path / "new.jsonl").write_text(
            "".join(json.dumps({"text": text(3 * delivery + n)}) + "\n" for n in range(3))
        )
        index.add_many(Documents(tmp_path / "new.jsonl"))
    assert len(index) == 6
    assert index.add_many(Documents(tmp_path / "new.jsonl")) == 0
    assert len(index) == 6
    assert all(len(index.query(text(n))) == 1 for n in range(6))


def test_replacing_can_be_refused(make):
    index = make()
    index.add_many(pairs(0, 3))
    put = index.add_counted([(2, text(2)), (3, text(3))], refuse=True)
    assert (put.stored, put.replaced) == (1, 0)
    with pytest.raises(nd.InputError, match="under 1 of the ids, the first of them 2"):
        index.add_counted([(4, text(4)), (2, text(9))], refuse=True)
    assert list(index.ids()) == [0, 1, 2, 3]
    put = index.add_counted([(4, text(4)), (2, text(9))])
    assert (put.stored, put.replaced) == (2, 1)


def test_a_query_below_the_threshold_of_the_index_is_refused(make):
    index = make(threshold=0.7)
    with pytest.raises(nd.SettingError, match=r"from 0.7, the threshold of the index, to 1"):
        index.query(text(1), threshold=0.5)
    with pytest.raises(nd.SettingError, match="add='sometimes' is unknown"):
        index.check(1, text(1), add="sometimes")
    with pytest.raises(nd.SettingError, match="keep_per_group=0"):
        index.check(1, text(1), keep_per_group=0)
    assert len(index) == 0


def test_empty_documents_are_there_but_near_nothing(make):
    for settings in ({}, {"max_distance": 3, "store_text": True}):
        index = make(**settings)
        index.add(1, "...")
        index.add_many([(2, "!"), (3, text(3))])
        assert index.check(4, "").is_new
        assert len(index) == 4
        assert index.get(1).fingerprint is None
        assert index.query("...") == []
        assert [ids(matches) for matches in index.query_many(["", text(3), "?"])] == [[], [3], []]
        assert index.delete(1)
    assert index.query(0) == []


def test_a_threshold_needs_texts_or_features(make):
    plain = make(max_distance=3)
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
    index = make()
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
        (lambda i: i.check("\ud800", "x"), nd.InputError, "Unicode"),
        (lambda i: i.check(1, "x", ttl="soon"), nd.SettingError, "ttl"),
        (lambda i: i.add(1, 5), nd.InputError, "a text is a str"),
        (lambda i: i.add(1, "\ud800"), nd.InputError, "not valid Unicode"),
        (lambda i: i.add_many("text"), nd.InputError, "not a batch of documents"),
        (lambda i: i.add_many(["text"]), nd.InputError, "not a batch of documents"),
        (lambda i: i.add_many([(1,)]), nd.InputError, r"\(id, text\)"),
        (lambda i: i.add_many(pa.table({"text": ["x"]})), nd.InputError, "no column 'id'"),
        (lambda i: i.add_many(pa.table({"id": [1]})), nd.InputError, "no column 'text'"),
        (lambda i: i.query("x", -1), nd.SettingError, "max_distance"),
        (lambda i: i.query("x", limit=-1), nd.SettingError, "limit"),
    ],
)
def test_refusals_are_sentences_and_change_nothing(make, call, error, says):
    index = make()
    index.add("there", text(1))
    with pytest.raises(error, match=says):
        call(index)
    assert list(index.ids()) == ["there"]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda i: i.query("x", -1), nd.SettingError, "max_distance"),
        (lambda i: i.query("x", 4), nd.SettingError, "blocks:3"),
        (lambda i: i.query(2**64), nd.SettingError, "64 bits"),
        (lambda i: i.query(-1), nd.SettingError, "64 bits"),
        (lambda i: i.add(1, "\ud800"), nd.InputError, "surrogate"),
        (lambda i: i.check(1, "x", ttl=5), nd.SettingError, "ttl needs an index by similarity"),
    ],
)
def test_refusals_of_an_index_by_distance(make, call, error, says):
    index = make(max_distance=3)
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


def test_stats_and_buckets(make):
    index = make(max_distance=3)
    rows = np.array([0, 1, 2, 2, 1 << 63], np.uint64)
    index.add_many(nd.Fingerprints(rows, index.scheme, ids=np.arange(5)))
    stats = index.stats(2)
    assert (stats.documents, stats.finds) == (5, "blocks:3, up to 3 differing bits")
    # 0, 1, 2 and 1 << 63 agree on both blocks in the middle.
    assert stats.largest_buckets == [4, 4]
    assert all(size >= 0 for size in stats.bytes.values())
    assert index.stats(0).largest_buckets == []
    similar = make()
    similar.add_many(pairs(0, 5))
    stats = similar.stats()
    assert stats.documents == stats.to_dict()["documents"] == 5
    assert stats.finds.startswith("jaccard ≥ 0.8, an expected 0.99")
    assert (stats.largest_buckets, stats.expired, stats.added["hour"]) == ([], 0, 5)
    assert stats.oldest == stats.newest == similar.get(0).seen.first


def test_threads_change_nothing(make):
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 2**20, 3000, dtype=np.uint64)
    answers = []
    for threads in (1, 3):
        index = make(threads=threads, max_distance=3)
        index.add_many(nd.Fingerprints(rows, index.scheme, ids=np.arange(3000)))
        answers.append(list(index.query_many(nd.Fingerprints(rows, index.scheme))))
    assert answers[0] == answers[1]
    words = [" ".join(rng.choice(list("abcdefgh"), 6)) for _ in range(3000)]
    answers = []
    for threads in (1, 3):
        index = make(threads=threads, features="word:1")
        index.add_many(enumerate(words))
        answers.append(list(index.query_many(words[:300], limit=None)))
    assert answers[0] == answers[1]


def test_unique_gives_what_was_not_seen(make):
    index = make(store_text=True)
    stream = [text(1), text(2), text(1) + "!", {"text": text(3), "n": 1}, ("x", text(3)), ("y", "")]
    assert list(nd.unique(stream, index)) == [stream[0], stream[1], stream[3], stream[5]]
    assert list(nd.unique([*stream, ("y", "")], index)) == []
    assert list(nd.unique(iter(["a b c d", "A B C D."]))) == ["a b c d"]
    with pytest.raises(nd.InputError, match="no 'text'"):
        list(nd.unique([{"id": 1}], index))


def test_a_transaction_that_packs_and_rewrites_finds_its_own_documents(make, monkeypatch):
    monkeypatch.setattr(kinds, "MOST_IN_TAIL", 6)
    index = make()
    batch: list[tuple[int | str, str]] = [(n, text(n)) for n in range(6)]  # becomes a segment
    batch += [(n, text(10 + n)) for n in range(4)]  # of which most is replaced
    batch += [("copy", text(5)), ("other", text(4)), ("new", text(12))]
    verdicts = index.check_many(batch, add="always")
    assert [ids(verdict.matches) for verdict in verdicts[-3:]] == [[5], [4], [2]]
    assert list(index.ids()) == [4, 5, 0, 1, 2, 3, "copy", "other", "new"]
    assert ids(index.query(text(5))) == [5, "copy"]


def test_segments_of_removed_documents_are_freed(make, clock, monkeypatch):
    monkeypatch.setattr(kinds, "MOST_IN_TAIL", 20)
    index = make(ttl=1)
    index.add_many(pairs(0, 60))
    index.add_many(pairs(100, 120))
    assert [part.documents for part in index.stats().segments] == [60, 20, 0]
    clock.now += 1000
    assert index.expire() == 80
    assert [part.documents for part in index.stats().segments] == [0]
    assert index.stats().bytes["segments"] == 0
    index.compact()
    assert len(index) == 0
    index.add_many(pairs(0, 60))
    assert ids(index.query(text(7))) == [7]


def test_a_segment_without_living_documents_is_compacted():
    tail = Segment(0, 9, 0, 0, 0)
    dead, alive = Segment(1, 0, 3, 4, 4, 4, 1), Segment(2, 4, 8, 5, 5)
    for segments in ([dead], [dead, alive], [alive, dead]):
        state = State(1, 9, 3, tuple(segments), tail)
        assert every_run(state, 100) == [segments]
