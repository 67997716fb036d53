"""Documents as they are sent: what becomes of each form, and how many go together."""

import json

import pyarrow as pa
import pytest

import neardup as nd
from neardup.client.documents import BYTES_AT_ONCE, body_of, many, one, portions, questions
from neardup.features.spec import record_fields
from neardup.fingerprints import Scheme
from neardup.read import Documents
from neardup.read.terms.documents import TermDocuments

TEXTS = Scheme.of("word:3")
TERMS = Scheme.of("terms")
RECORDS = Scheme.of("char:3", fields=record_fields("name*2+city"))


def read(objects):
    return [json.loads(each) for each in objects]


def test_texts():
    assert json.loads(one(TEXTS, "é漢\n", 17, {"a": [1]})) == {
        "id": 17,
        "text": "é漢\n",
        "metadata": {"a": [1]},
    }
    assert read(many([(1, "a"), ("1", None, "b")], TEXTS, ())) == [
        {"id": 1, "text": "a"},
        {"id": "1", "text": "", "metadata": "b"},
    ]
    table = pa.table({"id": [1, 2], "text": ["a", None], "n": [1.5, None]})
    for given in (table, iter([table]), table.to_reader()):
        assert read(many(given, TEXTS, ["n"])) == [
            {"id": 1, "text": "a", "metadata": {"n": 1.5}},
            {"id": 2, "text": "", "metadata": {"n": None}},
        ]
    for given in (
        ["a", None],
        iter(["a", None]),
        pa.array(["a", None]),
        pa.chunked_array([["a", None]]),
    ):
        assert read(questions(given, TEXTS)) == [{"text": "a"}, {"text": ""}]


def test_records_have_their_fields_beside_the_id():
    anna = {"name": "Anna", "city": "Ulm", "more": 1}
    sent = {"id": 1, "name": "Anna", "city": "Ulm"}
    assert json.loads(one(RECORDS, anna, 1)) == sent
    assert read(many([(1, anna)], RECORDS, ())) == [sent]
    table = pa.table({"id": [1], "name": ["Anna"], "city": ["Ulm"]})
    assert read(many(table, RECORDS, ())) == [sent]
    assert read(questions(table, RECORDS)) == [{"name": "Anna", "city": "Ulm"}]
    assert read(questions([{"name": 5, "city": None}], RECORDS)) == [{"name": "5", "city": ""}]


def test_terms_have_weights_beside_them(tmp_path):
    given = {"id": 1, "terms": ["x", "y"], "weights": [2.0, 0.5]}
    assert json.loads(one(TERMS, {"x": 2.0, "y": 0.5}, 1)) == given
    assert json.loads(one(TERMS, [("x", 2.0), ("y", 0.5)], 1)) == given
    assert json.loads(one(TERMS, ["x", "y"], 1)) == {**given, "weights": [1.0, 1.0]}
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": 1, "terms": {"x": 2.0, "y": 0.5}}\n')
    assert read(many(TermDocuments(file), TERMS, ())) == [given]


def test_what_only_a_local_index_takes(tmp_path):
    prints = nd.fingerprint(["one two three"])
    for given in (prints, prints[0]):
        with pytest.raises(nd.SettingError, match="takes documents, not their fingerprints"):
            one(TEXTS, given)
    for call in (lambda: list(many(prints, TEXTS, ())), lambda: list(questions(prints, TEXTS))):
        with pytest.raises(nd.SettingError, match="takes documents, not their fingerprints"):
            call()
    file = tmp_path / "a.jsonl"
    file.write_text('{"text": "one two three"}\n')
    with pytest.raises(nd.InputError, match="documents without ids cannot be sent"):
        list(many(Documents(file), TEXTS, ()))


def test_a_wrong_document_is_named():
    with pytest.raises(nd.InputError, match="document 2: a text is a str, not float"):
        list(questions(iter(["a", "b", 2.5]), TEXTS))


def test_portions_are_bounded_in_documents_and_bytes():
    objects = [b"x" * size for size in (3, 3, 3, 9, 1, 1, 1, 1)]
    assert [len(some) for some in portions(objects, 3, 8)] == [2, 1, 1, 3, 1]
    assert [each for some in portions(objects, 3, 8) for each in some] == objects
    assert list(portions([])) == []
    assert json.loads(body_of([b"1", b"2"])) == {"documents": [1, 2]}


def test_a_stream_is_read_no_further_than_needed():
    drawn = 0

    def stream():
        nonlocal drawn
        for drawn in range(1, 201):
            yield drawn, f"{drawn} words " * 20_000

    delivered = 0
    for portion in portions(many(stream(), TEXTS, ())):
        delivered += len(portion)
        assert sum(map(len, portion)) <= BYTES_AT_ONCE
        assert drawn <= delivered + 1
    assert (drawn, delivered) == (200, 200)
