"""`neardup explain`, and `neardup compare` with two documents of a run."""

import json
import sys
from types import SimpleNamespace

import pyarrow as pa
import pytest
from tests.runs.stored import read, store, table, texts

import neardup as nd
from neardup.cli.app import main
from neardup.runs import open_run
from neardup.visible import shown_similarity


@pytest.fixture
def neardup(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["neardup", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stopped.value.code, out=out, err=err)

    return run


@pytest.fixture
def out(tmp_path):
    store(tmp_path / "out", floor=0.5)
    return tmp_path / "out"


def removed(out, wanted=lambda row: row.similarity < 1):
    rows = [row for rows in read(out).clusters.values() for row in rows]
    return next(row for row in rows if not row.kept and wanted(row))


def test_a_removed_document(neardup, out):
    row = removed(out)
    result = neardup("explain", out, f"d{row.place}")
    assert result.code == 0
    assert f"d{row.place}: removed as a near-duplicate of d{row.duplicate_of}" in result.out
    assert f"similarity is {shown_similarity(row.similarity)}" in result.out
    assert "jaccard ≥ 0.8" in result.out
    assert "[-" in result.out
    assert "{+" in result.out


def test_json(neardup, out):
    row = removed(out)
    found = json.loads(neardup("explain", out, f"d{row.place}", "--json").out)
    assert found["id"] == f"d{row.place}"
    assert found["kept"] is False
    assert found["why"] == "similarity"
    assert found["duplicate_of"] == f"d{row.duplicate_of}"
    assert found["similarity"] == row.similarity
    assert found["threshold"] == 0.8
    assert any(edit["op"] != "equal" for edit in found["diff"])


def test_kept_documents(neardup, out):
    row = removed(out)
    result = neardup("explain", out, f"d{row.duplicate_of}")
    assert result.out.startswith(f"d{row.duplicate_of}: kept, of a cluster of ")
    assert f"d{row.place}  {shown_similarity(row.similarity)}" in result.out
    alone = next(place for place in range(9999) if open_run(out).document(place).cluster is None)
    assert "it has no near-duplicate" in neardup("explain", out, f"d{alone}").out


def test_copies(neardup, out):
    row = removed(out, lambda row: row.similarity == 1)
    assert "exact copy" in neardup("explain", out, f"d{row.place}").out


def test_near_misses(neardup, out):
    a, b, similarity, _ = next(pair for pair in read(out).pairs if pair[2] < 0.8)
    result = neardup("explain", out, f"d{a}")
    assert "near misses, below jaccard ≥ 0.8:" in result.out
    found = json.loads(neardup("explain", out, f"d{a}", "--json").out)
    assert {"id": f"d{b}", "similarity": similarity} in [
        {"id": miss["id"], "similarity": miss["similarity"]} for miss in found["near_misses"]
    ]


def test_chains(neardup, tmp_path):
    store(tmp_path / "out", cluster="components", threshold=0.7)
    row = removed(tmp_path / "out", lambda row: row.similarity < 0.7)
    result = neardup("explain", tmp_path / "out", f"d{row.place}")
    assert "to which a chain of" in result.out
    assert f"→ d{row.duplicate_of}" in result.out
    found = json.loads(neardup("explain", tmp_path / "out", f"d{row.place}", "--json").out)
    assert found["why"] == "chain"
    assert found["chain"][-1]["id"] == f"d{row.duplicate_of}"
    assert all(step["similarity"] >= 0.7 for step in found["chain"])


def test_decisions(neardup, out):
    run, row = open_run(out), removed(out)
    documents = [run.named(row.place), run.named(row.duplicate_of)]
    run.decisions.add("different", documents, by="ann", why="other towns")
    result = neardup("explain", out, f"d{row.place}")
    assert f"decision: ann said different of d{row.place}, d{row.duplicate_of} on 20" in result.out
    assert ": other towns" in result.out


def test_obeyed_decisions(neardup, tmp_path):
    some = ["one two three four five six", "seven eight nine ten", "seven eight nine ten eleven"]
    store(tmp_path / "out", table(some))
    run = open_run(tmp_path / "out")
    run.decisions.add("same", [run.named(0), run.named(1)], by="ann")
    decisions = tmp_path / "out" / "decisions.jsonl"
    nd.dedup(table(some), decisions=decisions).save(tmp_path / "again")
    found = json.loads(neardup("explain", tmp_path / "again", "d1", "--json").out)
    assert found["kept"] is False
    assert found["why"] == "decision"
    assert "ann" in found["sentence"]


def test_the_other_collection(neardup, tmp_path):
    some = texts()
    others = pa.table({"id": ["o1"], "text": [some[10]]})
    nd.dedup(table(some), against=others).save(tmp_path / "out")
    assert "of o1 of the other collection" in neardup("explain", tmp_path / "out", "d10").out
    assert "It is of the other collection" not in neardup("explain", tmp_path / "out", "d10").out
    assert "it is of the other collection" in neardup("explain", tmp_path / "out", "o1").out


def test_an_unknown_id(neardup, out):
    result = neardup("explain", out, "d9999")
    assert result.code == 1
    assert "has no document with the id 'd9999'; similar ids are 'd99'" in result.err


def test_ids_cannot_control_the_terminal(neardup, tmp_path):
    store(tmp_path / "out", table(["a b c d", "a b c d"], ["\x1b[2J", "\u202eb"]))
    result = neardup("explain", tmp_path / "out", "\u202eb")
    assert result.code == 0
    assert "\x1b" not in result.out
    assert "\u202e" not in result.out


def test_what_is_no_run(neardup, tmp_path):
    result = neardup("explain", tmp_path, "x")
    assert result.code == 1
    assert "not a folder that dedup wrote" in result.err


def test_compare_two_documents_of_a_run(neardup, out):
    row = removed(out)
    ids = f"d{row.duplicate_of}", f"d{row.place}"
    result = neardup("compare", out, *ids)
    assert result.code == 0
    assert f"A  {ids[0]}" in result.out
    assert f"{shown_similarity(row.similarity)}" in result.out
    found = json.loads(neardup("compare", out, *ids, "--json").out)
    assert found["ids"] == list(ids)
    assert found["jaccard"] == row.similarity
    assert found["listed"]["similarity"] == row.similarity
    run = open_run(out)
    own = nd.compare(run.text(row.duplicate_of), run.text(row.place)).to_dict()
    assert {name: found[name] for name in own} == own


def test_compare_by_the_settings_of_the_run(neardup, tmp_path):
    store(tmp_path / "out", features="char:4", bits=128)
    assert "nd1/char:4/set/128" in neardup("compare", tmp_path / "out", "d1", "d2").out
    result = neardup("compare", tmp_path / "out", "d1", "d2", "--features", "word:1")
    assert "nd1/word:1/set/128" in result.out


def test_compare_an_unknown_id(neardup, out):
    result = neardup("compare", out, "d1", "nothing")
    assert result.code == 1
    assert "has no document with the id 'nothing'" in result.err


def test_compare_terms(neardup, tmp_path):
    held = pa.table({"id": ["a", "b"], "terms": [["x", "y"], ["x", "z"]]})
    nd.dedup(held, features="terms").save(tmp_path / "out")
    assert neardup("compare", tmp_path / "out", "a", "b").code == 0


PEOPLE = pa.table(
    {
        "id": ["p1", "p2", "p3", "p4"],
        "name": ["Ann Lee", "Anne Lee", "Bob Ray", "Bob \x1b[2JRay"],
        "street": ["Main street 5", "Main street 5", "High road 7", "High road 7"],
        "city": ["Oslo", "", "Bergen", "Bergen"],
    }
)


@pytest.fixture(params=["parquet", "jsonl", "csv"])
def records(tmp_path, request):
    settings = {"text": "name*2+street+city", "features": "char:3", "threshold": 0.5}
    store(tmp_path / "out", PEOPLE, format=request.param, **settings)
    return tmp_path / "out"


def test_compare_two_records_of_a_run(neardup, records):
    result = neardup("compare", records, "p1", "p2")
    listed = read(records).clusters[0][1].similarity
    assert result.code == 0
    assert result.out.startswith(f"listed by the run: similarity {shown_similarity(listed)}\n")
    assert "[-Ann-] Lee" in result.out
    assert "(empty)" in result.out
    found = json.loads(neardup("compare", records, "p1", "p2", "--json").out)
    assert found["ids"] == ["p1", "p2"]
    assert found["score"] == found["listed"]["similarity"] == listed
    assert [field["name"] for field in found["fields"]] == ["name", "street", "city"]
    assert sum(field["adds"] for field in found["fields"]) == pytest.approx(listed)


def test_compare_two_records_by_other_features(neardup, records):
    found = json.loads(neardup("compare", records, "p1", "p2", "--json", "--features=word:1").out)
    assert {field["how"] for field in found["fields"]} == {"word:1"}


def test_compare_records_by_the_rarity_that_the_run_counted(neardup, tmp_path):
    out = tmp_path / "out"
    store(out, PEOPLE, text="name+street", features="word:1", weights="tfidf", threshold=0.3)
    similarity = read(out).clusters[0][1].similarity
    found = json.loads(neardup("compare", out, "p1", "p2", "--json").out)
    assert found["score"] == similarity
    assert "weights_of" not in found


def test_compare_texts_by_the_rarity_that_the_run_counted(neardup, tmp_path):
    out = tmp_path / "out"
    store(out, features="word:1", weights="tfidf", threshold=0.5)
    row = removed(out)
    ids = f"d{row.duplicate_of}", f"d{row.place}"
    found = json.loads(neardup("compare", out, *ids, "--json").out)
    assert found["jaccard"] == pytest.approx(row.similarity, abs=1e-12)


def test_explain_a_record(neardup, records):
    result = neardup("explain", records, "p2")
    assert "field by field, A the document it duplicates, B this one:" in result.out
    assert "{+Anne+} Lee" in result.out
    found = json.loads(neardup("explain", records, "p2", "--json").out)
    assert found["parts"]["score"] == found["similarity"]
    assert json.loads(neardup("explain", records, "p1", "--json").out)["parts"] is None


def test_records_cannot_control_the_terminal(neardup, records):
    for result in (neardup("explain", records, "p4"), neardup("compare", records, "p3", "p4")):
        assert result.code == 0
        assert "\x1b" not in result.out
        assert "␛[" in result.out


def test_records_of_the_other_collection(neardup, tmp_path):
    some = {"text": "name+street+city", "features": "char:3", "threshold": 0.5}
    nd.dedup(PEOPLE.slice(0, 1), against=PEOPLE.slice(1, 1), **some).save(tmp_path / "out")
    found = json.loads(neardup("compare", tmp_path / "out", "p1", "p2", "--json").out)
    assert found["score"] == found["listed"]["similarity"]
    assert [field["b"] for field in found["fields"]] == ["Anne Lee", "Main street 5", ""]
