import json
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.cli.app import main

TEXTS = {
    "one": "the ferry to the island does not run on saturday because of the strong wind",
    "two": "the ferry to the island does not run on sunday because of the strong wind",
    "same": "The ferry to the island does not run on Saturday because of the strong wind!",
    "none": "...",
    "other": "a library is a collection of books that people may borrow for some weeks",
}


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["neardup", "pairs", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stopped.value.code, out=out, err=err)

    prints = nd.fingerprint(list(TEXTS.values()))
    nd.Fingerprints(prints.array, prints.scheme, prints.words, list(TEXTS)).save("f.parquet")
    return run


def rows(name):
    return [tuple(row.values()) for row in pq.read_table(name).to_pylist()]


def distance(a, b):
    return int(nd.hamming(nd.fingerprint([TEXTS[a]]), nd.fingerprint([TEXTS[b]]))[0])


def test_pairs_of_ids_and_a_summary(run):
    result = run("f.parquet", "-o", "p.parquet", "--max-distance", 20)
    assert result.code == 0, result.err
    near = distance("one", "two")
    assert rows("p.parquet") == [("one", "two", near), ("one", "same", 0), ("two", "same", near)]
    first, second = result.out.splitlines()
    assert first.startswith("3 pairs within 20 bits of 5 documents (1 empty), in ")
    assert second == "nd1/word:3/set/64 → p.parquet"
    assert "all: comparing the 3 pairs directly" in result.err


def test_the_file_says_what_it_is(run):
    run("f.parquet", "-o", "p.parquet", "--max-distance", 3, "--candidates", "blocks:3")
    schema = pq.read_schema("p.parquet")
    assert schema.names == ["a", "b", "distance"]
    assert schema.field("distance").type == pa.uint16()
    assert schema.metadata[b"neardup.format"] == b"neardup pairs 1"
    assert schema.metadata[b"neardup.scheme"] == b"nd1/word:3/set/64"
    settings = json.loads(schema.metadata[b"neardup.settings"])
    assert (settings["candidates"], settings["max_distance"]) == ("blocks:3", 3)


def test_two_files(run):
    nd.Fingerprints.load("f.parquet")[1:].save("g.parquet")
    result = run("f.parquet", "g.parquet", "-o", "p.parquet", "--max-distance", 0)
    assert result.code == 0, result.err
    assert rows("p.parquet") == [
        ("one", "same", 0),
        ("two", "two", 0),
        ("same", "same", 0),
        ("other", "other", 0),
    ]


def test_groups_stand_beside(run):
    arguments = ["--max-distance", 20, "--group"]
    result = run("f.parquet", "-o", "p.parquet", *arguments)
    assert rows("p.parquet") == [("one", "two", distance("one", "two"))]
    assert rows("p.groups.parquet") == [("same", "one")]
    assert "p.parquet, p.groups.parquet (1 identical to an earlier one)" in result.out
    run("f.parquet", "f.parquet", "-o", "q.parquet", *arguments)
    assert rows("q.left-groups.parquet") == rows("q.right-groups.parquet") == [("same", "one")]


def test_json_and_numbers_as_ids(run):
    nd.Fingerprints(np.array([1, 3, 3], np.uint64), "nd1/word:3/set/64").save("n.parquet")
    result = run("n.parquet", "-o", "p.parquet", "--candidates", "length:0.2", "--json")
    found = json.loads(result.out)
    assert (found["pairs"], found["identical"], found["plan"]) == (3, 1, "length:0.2")
    assert "; 1 comparisons" in result.err
    assert rows("p.parquet") == [(0, 1, 1), (0, 2, 1), (1, 2, 0)]


def test_bounded_memory_gives_the_same_pairs(run):
    rng = np.random.default_rng(4)
    values = rng.integers(0, 2**64, 300, np.uint64)[rng.integers(0, 300, 3000)]
    values ^= np.uint64(1) << rng.integers(0, 64, 3000, np.uint64)
    nd.Fingerprints(values, "nd1/word:3/set/64").save("n.parquet")
    run("n.parquet", "-o", "p.parquet", "--max-distance", 3)
    result = run("n.parquet", "-o", "q.parquet", "--max-distance", 3, "--memory", "1MB")
    assert result.code == 0, result.err
    assert len(rows("p.parquet")) > 3000
    assert rows("p.parquet") == rows("q.parquet")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["f.parquet"], 2, "'auto' needs max_distance"),
        (["f.parquet", "--max-distance", "-1"], 2, "max_distance=-1"),
        (["f.parquet", "--max-distance", "3", "--candidates", "blocs"], 2, "is unknown; choose"),
        (["f.parquet", "--max-distance", "3", "--memory", "lots"], 2, "write it like 2GB"),
        (["nowhere.parquet", "--max-distance", "3"], 1, "there is no such file"),
        (["foreign.parquet", "--max-distance", "3"], 1, "is not a fingerprint file, expected"),
        (["noise.parquet", "--max-distance", "3"], 1, "cannot be read as a fingerprint file"),
        (["f.parquet", "wide.parquet", "--max-distance", "3"], 1, "cannot be compared"),
        (["out.parquet", "--max-distance", "3"], 1, "is also an input"),
    ],
)
def test_what_cannot_work_leaves_no_file(run, tmp_path, arguments, code, message):
    pq.write_table(pa.table({"id": [1]}), "foreign.parquet")
    (tmp_path / "noise.parquet").write_bytes(b"noise")
    nd.fingerprint(["a b c"], bits=128).save("wide.parquet")
    output = "out.parquet"
    if arguments[0] == output:
        nd.fingerprint(["a b c"]).save(output)
    before = sorted(path.name for path in tmp_path.iterdir())
    result = run(*arguments, "-o", output)
    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_pairs_file_is_no_fingerprint_file(run):
    run("f.parquet", "-o", "p.parquet", "--max-distance", 3)
    result = run("p.parquet", "-o", "q.parquet", "--max-distance", 3)
    assert result.code == 1
    assert "p.parquet is neardup pairs 1, expected neardup fingerprints 1" in result.err
