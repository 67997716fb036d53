"""`neardup idf`, and fingerprints weighted by its table."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import neardup as nd
from neardup.cli.app import app

LINES = [
    {"id": 1, "text": "the cat sat on the mat"},
    {"id": 2, "text": "the dog sat on the rug"},
    {"id": 3, "text": ""},
]


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")
    return path


def run(*arguments):
    done = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_table_is_counted_and_used(corpus, tmp_path):
    table, fps = tmp_path / "idf.parquet", tmp_path / "fps.parquet"
    printed = run("idf", corpus, "-o", table)
    assert "2 documents, 3 features (word:1) in two or more of them" in printed
    content = nd.IdfTable.load(table).content
    assert f"idf:{content} → " in printed
    settings = ("--features", "word:1", "--weights", "tfidf")
    assert f"nd1/word:1/tfidf/64/idf:{content}" in run(
        "fingerprint", corpus, "-o", fps, *settings, "--idf", table
    )
    weighed = nd.Fingerprints.load(fps)
    run("fingerprint", corpus, "-o", fps, *settings)
    assert nd.Fingerprints.load(fps) == weighed
    texts = [line["text"] for line in LINES]
    assert weighed == nd.fingerprint(texts, "word:1", "tfidf")


def test_machines_read_json(corpus, tmp_path):
    told = json.loads(run("idf", corpus, "-o", tmp_path / "idf.parquet", "--json"))
    assert (told["documents"], told["features"], told["counted"]) == (2, 3, "word:1")


def test_rows_that_cannot_be_read_are_set_aside(corpus, tmp_path):
    with corpus.open("a", encoding="utf-8") as file:
        file.write('\n{"id": 4}')
    told = json.loads(run("idf", corpus, "-o", tmp_path / "idf.parquet", "--json"))
    assert told["rejected"] == 1
    assert (tmp_path / "idf.rejected.jsonl").read_text(encoding="utf-8").count("\n") == 1


def test_records_from_files(tmp_path):
    (tmp_path / "people.csv").write_text(
        "id,name,city\n1,Anna Berg,\n2,,Berg\n3,,\n", encoding="utf-8"
    )
    lines = [{"name": "Anna Berg"}, {"name": None, "city": "Berg"}, {"zip": 1}]
    (tmp_path / "people.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    expected = nd.fingerprint(
        [{"name": "Anna Berg", "city": ""}, {"name": "", "city": "Berg"}, {"name": "", "city": ""}],
        "word:1",
        text="name*2+city",
    )
    for source in ("people.csv", "people.jsonl"):
        output = tmp_path / "fps.parquet"
        settings = ("--features", "word:1", "--text", "name*2+city")
        run("fingerprint", tmp_path / source, "-o", output, *settings)
        found = nd.Fingerprints.load(output)
        assert found == expected
        assert found.words.tolist() == [2, 1, 0]


def test_numbers_are_fields_too(tmp_path):
    path, output = tmp_path / "shops.jsonl", tmp_path / "fps.parquet"
    path.write_text('{"name": "Kiosk", "zip": 10115, "open": true}\n', encoding="utf-8")
    run("fingerprint", path, "-o", output, "--text", "zip+name+open")
    by_jsonl = nd.Fingerprints.load(output)
    assert by_jsonl == nd.fingerprint(
        [{"name": "Kiosk", "zip": "10115", "open": "true"}], text="zip+name+open"
    )
    pq.write_table(
        pa.table({"name": ["Kiosk"], "zip": [10115], "open": [True]}),
        tmp_path / "shops.parquet",
    )
    run("fingerprint", tmp_path / "shops.parquet", "-o", output, "--text", "zip+name+open")
    assert nd.Fingerprints.load(output) == by_jsonl


def test_a_field_that_is_no_plain_value(tmp_path):
    path, output = tmp_path / "shops.jsonl", tmp_path / "fps.parquet"
    lines = [{"name": "a", "tags": ["x"]}, {"name": "b", "tags": "y"}]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    run("fingerprint", path, "-o", output, "--text", "name+tags")
    assert len(nd.Fingerprints.load(output)) == 1
    rejected = (tmp_path / "fps.rejected.jsonl").read_text(encoding="utf-8")
    assert "'tags' is an array or an object" in rejected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--text", "name+town"], "no column 'town'"),
        (["--text", "name+name"], "names a column twice"),
        (["--text", "name+city", "--id", "city"], "cannot be both a field and the id"),
    ],
)
def test_fields_that_cannot_be(tmp_path, arguments, message):
    path = tmp_path / "people.csv"
    path.write_text("name,city\na,b\n", encoding="utf-8")
    with pytest.raises(nd.NeardupError, match=message):
        run("fingerprint", path, "-o", tmp_path / "fps.parquet", *arguments)


def test_standard_input_is_copied_to_be_read_twice(tmp_path):
    arguments = ["fingerprint", "-", "-o", str(tmp_path / "fps.parquet"), "--weights", "tfidf"]
    done = CliRunner().invoke(app, arguments, input="some text\nmore text", catch_exceptions=False)
    assert done.exit_code == 0
    assert "2 documents" in done.stdout
