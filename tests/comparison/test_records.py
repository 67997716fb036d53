"""Records compared field by field: the parts add up to the similarity of the run."""

import io
import random

import pyarrow as pa
import pytest
from rich.console import Console

import neardup as nd
from neardup.comparison.record_view import RecordView
from neardup.comparison.records import fields_of_text

FIELDS = "name*2+street+city"


def people(count=60, seed=3):
    chance = random.Random(seed)
    return [
        {
            "id": str(number),
            "name": chance.choice(["Ann Smith", "Ann Smyth", "Bob Jones", "Bob Jonas Jones"]),
            "street": chance.choice(["Main street 5", "Main str 5", "High road 7", "", None]),
            "city": chance.choice(["Oslo", "Oslo Oslo", "Bergen", ""]),
        }
        for number in range(count)
    ]


@pytest.mark.parametrize(
    "settings",
    [
        {"text": "name+street+city"},
        {},
        {"weights": "count"},
        {"weights": "tfidf"},
        {"weights": "idf"},
        {"weights": "tfidf:lab"},
        {"similarity": "cosine"},
        {"features": "char:2+word:1"},
        {"similarity": "hamming", "threshold": 24},
        {"similarity": "hamming", "threshold": 24, "bits": 128, "text": "name+street"},
    ],
    ids=str,
)
def test_the_score_is_that_of_the_run_and_the_sum_of_the_fields(settings):
    rows = people()
    chosen = {"text": FIELDS, "features": "char:3", "threshold": 0.4, **settings}
    pairs = nd.dedup(rows, **chosen, pairs="all").pairs.to_pylist()
    assert len(pairs) > 20
    names = chosen["text"].replace("*2", "")
    table = None
    if "idf" in chosen.get("weights", ""):
        held = pa.Table.from_pylist(rows)
        table = nd.idf(held, features=chosen["features"], text=names)
    by_id = {row["id"]: row for row in rows}
    del chosen["threshold"]
    for pair in pairs:
        found = nd.compare(by_id[pair["a"]], by_id[pair["b"]], **chosen, idf=table)
        assert found.score == pytest.approx(pair["similarity"], abs=1e-12)
        assert [field.name for field in found.fields] == names.split("+")
        if chosen.get("similarity") == "hamming":
            assert not found.is_sum
            assert found.distance == pair["distance"]
        else:
            assert found.total == pytest.approx(found.score, abs=1e-12)


def test_each_field_has_its_own_similarity():
    a = {"name": "Ann Lee", "street": "Main 5", "city": ""}
    b = {"name": "Anne Lee", "street": "Main 5", "city": None}
    name, street, city = nd.compare(a, b, text=FIELDS, features="word:1").fields
    assert (name.similarity, name.weight, name.how) == (1 / 3, 2.0, "word:1")
    assert (street.similarity, street.weight, street.differs) == (1.0, 1.0, False)
    assert (city.similarity, city.adds, city.note) == (None, 0.0, "empty in both")
    assert [edit.op for edit in name.diff] == ["replace", "equal"]


def test_a_field_that_one_record_lacks_counts_against_the_pair():
    a, b = {"name": "Ann", "city": "Oslo"}, {"name": "Ann", "city": ""}
    found = nd.compare(a, b, text="name+city", features="word:1")
    assert found.score == 0.5
    assert found.fields[1].similarity == 0


def test_an_empty_record_has_no_score():
    found = nd.compare({"name": "Ann"}, {"name": ""}, text="name+city")
    assert found.score is None
    assert "empty record" in str(found)
    assert found.to_dict()["reason"] == "an empty record can never match"
    assert found.total is None


def test_weights_counted_from_two_records_are_said_to_be():
    a, b = {"name": "Ann", "city": "Oslo"}, {"name": "Ann", "city": "Bergen"}
    found = nd.compare(a, b, text="name+city", weights="tfidf")
    assert not found.is_exact
    assert found.to_dict()["weights_of"] == "the two records"
    assert "counted from these two records" in printed(found)
    assert "counted from these two records" in found._repr_html_()


def test_values_are_written_out_as_a_run_does():
    found = nd.compare({"n": 5.0, "x": True}, {"n": 5, "x": None}, text="n+x", features="word:1")
    rows = [{"n": 5.0, "x": True}]
    kept = nd.dedup(pa.Table.from_pylist(rows), text="n+x", features="word:1")
    assert found.fields[0].a == "5"
    assert found.fields[1].a == "true"
    assert len(kept.kept) == 1


@pytest.mark.parametrize(
    ("a", "b", "settings", "message"),
    [
        ({"x": 1}, {"x": 1}, {}, "name the fields to compare"),
        ({"x": 1}, {"y": 1}, {"text": "x+z"}, "b has none of the fields x, z; it has 'y'"),
        ({}, {"x": 1}, {"text": "x+z"}, "it has no fields"),
        ({"x": [1]}, {"x": 1}, {"text": "x+z"}, "a['x'] is a list"),
        ({"x": 1}, "text", {"text": "x+z"}, "text is for records"),
        ("text", {"x": 1}, {}, "b must be a str, not dict"),
        ("one", "two", {"similarity": "cosine"}, "similarity is for records"),
        ({"x": 1}, {"x": 1}, {"text": "x+z", "similarity": "best"}, "similarity='best'"),
        ({"x": 1}, {"x": 1}, {"text": "x++z"}, "names no columns"),
    ],
)
def test_wrong_use(a, b, settings, message):
    with pytest.raises(nd.SettingError) as error:
        nd.compare(a, b, **settings)
    assert message in str(error.value)


def printed(comparison, width=80, **view):
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, markup=False, emoji=False)
    console.print(RecordView(comparison, **view))
    return out.getvalue()


A = {"name": "Dr. Ann Lee", "street": "Main street 5", "city": "Oslo", "born": ""}
B = {"name": "Ann Lee", "street": "Main street 7", "city": "Oslo", "born": ""}


def test_the_table_in_the_terminal():
    found = nd.compare(A, B, text="name*2+street+city+born", features="word:1")
    shown = printed(found, names=("p1", "p2"), limit="weighted-jaccard ≥ 0.8")
    rows = {line.split()[0]: line.split() for line in shown.splitlines() if line.strip()}
    assert rows["field"] == ["field", "A", "p1", "B", "p2", "similarity", "weight", "adds"]
    assert "[-Dr.-]" in shown
    assert "{+7+}" in shown
    assert rows["name"][-3:] == ["0.6666", "2", "0.3636"]
    assert rows["city"][-3:] == ["1.0000", "1", "0.0909"]
    assert rows["born"][-4:] == ["no", "evidence", "1", "0.0000"]
    assert rows["sum"] == ["sum", "0.6363"]
    assert "word:1" in rows
    assert "the threshold is weighted-jaccard ≥ 0.8" in " ".join(shown.split())
    assert max(map(len, shown.splitlines())) <= 80


def test_a_wide_terminal_has_a_column_for_how_fields_are_compared():
    shown = printed(nd.compare(A, B, text="name+street"), width=120)
    assert "compared by" in shown
    assert len([line for line in shown.splitlines() if "word:3" in line]) == 2


def test_long_values_are_compared_below_the_table():
    long = " ".join(f"w{number}" for number in range(400))
    a, b = {"name": "Ann", "text": long}, {"name": "Ann", "text": f"{long} end"}
    shown = printed(nd.compare(a, b, text="name+text"))
    assert "characters, below" in shown
    assert "text  1 change (0 words of A, 1 of B)" in shown
    assert "⋯ 390 words alike ⋯" in shown
    assert len(shown.splitlines()) < 20


@pytest.mark.parametrize("evil", ["\x1b[2J", "\u202eevil", "\x07", "[bold]x[/bold]", "<b>x</b>"])
def test_hostile_values_are_shown_as_they_are(evil):
    a, b = {f"n{evil}": f"one {evil}", "x": "1"}, {f"n{evil}": f"two {evil}", "x": "1"}
    found = nd.compare(a, b, text=f"n{evil.replace('+', '')}+x")
    for shown in (printed(found), str(found)):
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert "\x07" not in shown
    if "[bold]" in evil:
        assert "[bold]" in printed(found)
    assert "<b>x" not in found._repr_html_()


def test_fields_are_read_from_the_lines_of_a_record():
    names = ["name", "street", "city"]
    values = {"name": "A", "street": "one\ntwo", "city": ""}
    text = "\n".join(f"{name}: {values[name]}" for name in names)
    assert fields_of_text(text, names) == values
