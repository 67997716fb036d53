"""`neardup dedup` as people and scripts use it."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.deduplication.planted import planted_texts

import neardup as nd
from neardup.cli.app import app

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"
NEARDUP = [sys.executable, "-c", "from neardup.cli.app import main; main()"]


def run(*arguments, **more):
    done = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False, **more)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_sample_is_cleaned(tmp_path):
    printed = run("dedup", SAMPLE, "-o", tmp_path / "out", "--cluster", "components")
    assert "355 documents (6 empty)" in printed
    assert "each compared" in printed
    assert f"→ {tmp_path / 'out'}" in printed
    copies = {}
    for line in SAMPLE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        copies[row["id"]] = row["copy_of"]
    clusters = pq.read_table(tmp_path / "out" / "clusters.parquet").to_pylist()
    together = {}
    for row in clusters:
        together.setdefault(row["cluster"], set()).add(row["id"])
    families = {}
    for id in copies:
        root = id
        while copies[root]:
            root = copies[root]
        families.setdefault(root, set()).add(id)
    known = {frozenset(family) for family in families.values() if len(family) > 1}
    assert {frozenset(cluster) for cluster in together.values()} == known
    assert "removed documents below jaccard ≥ 0.8: only a chain of pairs" in printed
    assert printed.count(" → ") > 3
    run("dedup", SAMPLE, "-o", tmp_path / "stars")
    stars = pq.read_table(tmp_path / "stars" / "clusters.parquet").to_pylist()
    removed = [row for row in stars if not row["kept"]]
    assert all(row["similarity"] >= 0.8 for row in removed)
    for row in removed:
        assert any({row["id"], row["duplicate_of"]} <= family for family in known)


def test_machines_read_json(tmp_path):
    told = json.loads(run("dedup", SAMPLE, "-o", tmp_path / "out", "--json"))
    stored = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert told == stored
    assert told["documents"] == told["kept"] + told["removed"]


def test_quiet_says_nothing(tmp_path):
    assert run("dedup", SAMPLE, "-o", tmp_path / "out", "--quiet") == ""


def test_standard_input(tmp_path):
    text = "one two three four\nOne two three four!\nother words\n"
    output = tmp_path / "out"
    done = subprocess.run(
        [*NEARDUP, "dedup", "-", "-o", output], input=text.encode(), capture_output=True
    )
    assert done.returncode == 0, done.stderr
    kept = pq.read_table(output / "kept.parquet").to_pylist()
    assert [row["text"] for row in kept] == ["one two three four", "other words"]


def test_against_an_old_collection(tmp_path):
    old = planted_texts(200, share=0, seed=1)
    new = [*old[:3], old[0], *planted_texts(20, share=0, seed=2), "", "x y z", "x y z"]
    for name, texts in (("old", old), ("new", new)):
        lines = [json.dumps({"id": f"{name}{i}", "text": text}) for i, text in enumerate(texts)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    output = tmp_path / "out"
    run("dedup", tmp_path / "new.jsonl", "--against", tmp_path / "old.jsonl", "-o", output)
    clusters = pq.read_table(output / "clusters.parquet").to_pylist()
    assert {(row["id"], row["duplicate_of"]) for row in clusters} == {
        *(("new0", "old0"), ("new1", "old1"), ("new2", "old2"), ("new3", "old0")),
    }
    kept = pq.read_table(output / "kept.parquet")["id"].to_pylist()
    assert kept == [f"new{i}" for i in range(4, len(new))]
    assert (output / "report.html").exists()
    by_bands = nd.dedup(new, against=old, memory="1KB")
    assert by_bands.summary["removed"] == 4


def test_presets(tmp_path):
    listed = run("presets")
    for name in ("caim", "irrs", "blog", "slides", "sphere", "google2007"):
        assert name in listed
    told = json.loads(
        run(
            "dedup",
            SAMPLE,
            "-o",
            tmp_path / "s",
            "--preset",
            "sphere",
            "--json",
            "--keep",
            "longest",
        )
    )
    assert told["settings"]["keep"] == "longest"
    assert told["plan"] == "length:0.2"
    assert list(told["levels"]) == ["5", "10", "15"]
    names = {path.name for path in (tmp_path / "s").iterdir()}
    assert {
        "duplicates-5.txt",
        "duplicates-10.txt",
        "duplicates-15.txt",
        "cluster-sizes.png",
    } < names
    lines = (tmp_path / "s" / "duplicates-10.txt").read_text(encoding="utf-8").splitlines()
    lengths = [line.count("\t") for line in lines]
    assert lengths == sorted(lengths, reverse=True)
    assert min(lengths) >= 1
    told = json.loads(
        run(
            "dedup",
            SAMPLE,
            "-o",
            tmp_path / "c",
            "--preset",
            "caim",
            "--json",
            "--threshold",
            "0.8",
        )
    )
    assert told["settings"]["threshold"] == 0.8
    assert told["scheme"].startswith("md5/word:1/tfidf:lab/54/idf:")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "none"], "preset='none' is unknown"),
        (["--threshold", "0"], "threshold=0"),
        (["--format", "xml"], "format='xml'"),
        (["--keep", "max:nope"], "no column 'nope'"),
        (["--text", "body"], "no column 'body'"),
    ],
)
def test_mistakes_are_told_in_a_sentence(tmp_path, arguments, message):
    with pytest.raises(nd.NeardupError, match=message):
        run("dedup", SAMPLE, "-o", tmp_path / "out", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_bad_rows_are_set_aside_or_an_error(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "a b c"}\nbroken\n', encoding="utf-8")
    told = json.loads(run("dedup", path, "-o", tmp_path / "out", "--json"))
    assert told["rejected"] == 1
    with pytest.raises(nd.InputError, match=r"1 row cannot be read, the first in .*row 1"):
        run("dedup", path, "-o", tmp_path / "strict", "--strict")
    assert not (tmp_path / "strict").exists()


def test_an_output_that_is_there_is_refused_before_any_work(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(nd.NeardupError, match="--overwrite"):
        run("dedup", "nothing.jsonl", "-o", tmp_path / "out")
