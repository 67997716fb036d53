"""Documents of a stored run: found by id, with their rows and texts, in every format."""

import json
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest
from tests.runs.stored import read, store, table, texts

import neardup as nd
from neardup.decisions import content_of
from neardup.errors import InputError
from neardup.runs import open_run

ODD = ["a/b", "..", "", " ", "%2F", "<script>", "\u202e", "a\nb", "' OR 1=1", "é", "東", "0", "-1"]


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv"])
def test_every_document_with_its_text(tmp_path, format):
    some = [
        *texts(),
        "=1+1 is a formula",
        "'=quoted",
        'with "quotes"\nand lines',
        "-3.5",
        "nul\x00l",
    ]
    result = store(tmp_path / "out", table(some), format=format)
    run = open_run(tmp_path / "out")
    assert run.documents == len(some)
    assert run.columns == ("text", "title", "kind", "number", "id")
    assert run.texts(range(len(some))) == dict(enumerate(some))
    clusters = {place: n for n, rows in read(run.path).clusters.items() for place in places(rows)}
    keeps = result.keeps.tolist()
    for place, text in enumerate(some):
        document = run.document(place)
        assert (document.place, document.id) == (place, f"d{place}")
        assert document.kept == keeps[place]
        assert document.cluster == clusters.get(place)
        assert run.find(f"d{place}") == place
        assert run.text(place) == text
        row = run.row(place)
        assert row["text"] == text
        assert str(row["number"]) == str(table(some)["number"][place])
        assert ("duplicate_of" in row) == (not document.kept)
        assert run.named(place).content == content_of(text)


def places(rows):
    return [row.place for row in rows]


def test_copies_and_empty_documents(tmp_path):
    store(tmp_path / "out", table(["a b c d", "", "a b c d", "x", "a b c d", ""]))
    run = open_run(tmp_path / "out")
    assert [run.document(place).copy_of for place in range(6)] == [None, None, 0, None, 0, None]
    assert [run.document(place).kept for place in range(6)] == [1, 1, 0, 1, 0, 1]
    assert run.document(1).words == 0


def test_odd_ids(tmp_path):
    some = [f"a text of the number {number} and nothing else" for number in range(len(ODD))]
    store(tmp_path / "out", table(some, ODD))
    run = open_run(tmp_path / "out")
    assert [run.find(id) for id in ODD] == list(range(len(ODD)))
    assert run.find("a") is None


def test_ids_that_are_numbers(tmp_path):
    store(tmp_path / "out", table(texts(5), [7 - n for n in range(len(texts(5)))]))
    run = open_run(tmp_path / "out")
    assert (run.find("7"), run.find("5"), run.find("-1")) == (0, 2, 8)
    for wrong in ("07", "+7", " 7", "7.0", "٧", "9" * 30, "", "d7"):
        assert run.find(wrong) is None


def test_no_ids(tmp_path):
    result = nd.dedup(texts())
    result.save(tmp_path / "out")
    run = open_run(tmp_path / "out")
    assert [run.document(place).id for place in range(3)] == [0, 1, 2]
    assert run.find("12") == 12
    assert run.text(12) == texts()[12]


def test_ids_that_are_not_found_have_suggestions(tmp_path):
    store(tmp_path / "out")
    run = open_run(tmp_path / "out")
    assert run.find("d9999") is None
    assert "d99" in run.suggestions("d9999")
    assert set(run.suggestions("d1")) <= {f"d{n}" for n in range(run.documents)}


def test_a_place_that_is_not_there(tmp_path):
    store(tmp_path / "out")
    run = open_run(tmp_path / "out")
    for ask in (run.document, run.text, run.row, run.named):
        with pytest.raises(InputError, match="no document at the place 99999"):
            ask(99999)


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv"])
def test_records(tmp_path, format):
    rows = [
        {"id": "a", "name": "Ann Smith", "city": "Oslo", "year": 1990},
        {"id": "b", "name": "Ann Smith", "city": "Oslo", "year": 1990},
        {"id": "c", "name": "Bob", "city": None, "year": 2001},
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = nd.dedup(str(tmp_path / "in.jsonl"), text="name+city+year", features="word:1")
    result.save(tmp_path / "out", format=format)
    run = open_run(tmp_path / "out")
    assert run.fields == ("name", "city", "year")
    assert run.text(1) == "name: Ann Smith\ncity: Oslo\nyear: 1990"
    assert run.text(2) == "name: Bob\ncity: \nyear: 2001"
    assert [source.removed for source in run.sources] == [1]
    assert run.document(0).source == str(tmp_path / "in.jsonl")


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv"])
def test_terms(tmp_path, format):
    held = pa.table({"id": ["a", "b", "c"], "terms": [["x", "it's"], ["x", "it's"], ["z"]]})
    nd.dedup(held, features="terms").save(tmp_path / "out", format=format)
    run = open_run(tmp_path / "out")
    assert [run.text(place) for place in range(3)] == ["x, it's", "x, it's", "z"]


def test_the_other_collection(tmp_path):
    some = texts()
    others = pa.table({"id": ["o1", "o2", "d0"], "text": [some[5], some[9] + " more", some[20]]})
    nd.dedup(table(some), against=others).save(tmp_path / "out")
    run = open_run(tmp_path / "out")
    assert run.others > 0
    place = run.find("d0", other=True)
    assert place >= run.documents
    assert run.text(place) == some[20]
    assert run.row(place) == {"text": some[20]}
    assert run.document(place).is_other
    assert run.document(20).duplicate_of == place
    assert run.find("d0") == 0
    assert run.named(place).other


def test_many_threads(tmp_path):
    some = texts(100)
    store(tmp_path / "out", table(some))
    run = open_run(tmp_path / "out")
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(run.text, [n % len(some) for n in range(2000)]))
    assert found == [some[n % len(some)] for n in range(2000)]
