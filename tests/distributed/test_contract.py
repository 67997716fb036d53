"""Every setting gives the same tables by both engines, however the input is divided."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from tests.distributed.both_engines import (
    assert_same_output,
    run_distributed,
    run_local,
    table_of,
)
from tests.distributed.planted import (
    columns,
    files_of,
    planted,
    write_csv,
    write_jsonl,
    write_parquet,
)

from neardup.distributed.run import Sizes

ROWS = planted(150)
OTHERS = planted(60, seed=1) + ROWS[30:60]
# Cases take turns with these. In the second, all components are divided, and found in rounds.
SIZES = [
    Sizes(split_bytes=1 << 11, bin_features=200),
    Sizes(split_bytes=1 << 12, bin_features=100, giant_features=1, most_nodes=1),
]
PLAIN = ("text", "quality", "note")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> dict[str, Any]:
    """The same documents in many forms, by a name for each."""
    folder = tmp_path_factory.mktemp("inputs")
    by_number = columns(ROWS, *PLAIN, id=int)
    found: dict[str, Any] = {
        "jsonl": write_jsonl(folder / "a.jsonl", by_number),
        "parquet": write_parquet(folder / "a.parquet", by_number),
        "csv": write_csv(folder / "a.csv", columns(ROWS, "text", "note", id=int)),
        "no ids": write_jsonl(folder / "no-ids.jsonl", columns(ROWS, *PLAIN)),
        "string ids": write_parquet(
            folder / "strings.parquet", columns(ROWS, *PLAIN, id=lambda n: f"ü-{n}")
        ),
        "others": write_parquet(
            folder / "others.parquet",
            [{"id": f"o{n}", **row} for n, row in enumerate(columns(OTHERS, "text"))],
        ),
        "number others": write_jsonl(
            folder / "others.jsonl",
            [{"id": 5000 + n, **row} for n, row in enumerate(columns(OTHERS, "text"))],
        ),
        "fields": write_parquet(folder / "f.parquet", columns(ROWS, "title", "body", id=int)),
        "terms": write_jsonl(folder / "t.jsonl", columns(ROWS, "terms", "weights", id=int)),
        "lines": folder / "lines.txt",
        "folder": folder / "many",
        "mixed ids": folder / "mixed",
        "one group": write_parquet(folder / "coarse.parquet", by_number, group=10_000),
        "rejected": folder / "rejected.jsonl",
        "damaged": folder / "damaged",
        "compressed": folder / "a.jsonl.gz",
        "other names": write_jsonl(
            folder / "named.jsonl",
            [{"key": n, "content": row["text"]} for n, row in enumerate(ROWS)],
        ),
    }
    found["compressed"].write_bytes(gzip.compress(found["jsonl"].read_bytes()))
    for path, rows in files_of(by_number, found["damaged"], 3):
        write_parquet(path.with_suffix(".parquet"), rows)
    whole = (found["damaged"] / "01.parquet").read_bytes()
    (found["damaged"] / "01.parquet").write_bytes(whole[: len(whole) // 2])
    flat = [" ".join(row["text"].split()) for row in ROWS]
    found["lines"].write_text("\n".join(flat), encoding="utf-8")
    for path, rows in files_of(by_number, found["folder"], 5):
        write_jsonl(path.with_suffix(".jsonl"), rows)
    for number, (path, rows) in enumerate(files_of(by_number, found["mixed ids"], 4)):
        if number == 1:
            rows = [{**row, "id": f"s{row['id']}"} for row in rows]
        if number == 2:
            rows = [{name: value for name, value in row.items() if name != "id"} for row in rows]
        write_jsonl(path.with_suffix(".jsonl"), rows)
    lines = found["jsonl"].read_text(encoding="utf-8").splitlines()
    broken = ['{"id": 7', "[1]", '{"id": 9000, "text": 5}', "", '{"text": "no id"}']
    for place, line in zip(range(20, 145, 25), broken, strict=True):
        lines.insert(place, line)
    found["rejected"].write_text("\n".join(lines), encoding="utf-8")
    return found


# The input, what else is given to the run, and the settings.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "defaults": ("jsonl", {}),
    "row groups": ("parquet", {}),
    "a low threshold": ("parquet", {"threshold": 0.3}),
    "equality": ("parquet", {"threshold": 1.0}),
    "weighted": ("parquet", {"weights": "count"}),
    "weighted, components": ("jsonl", {"weights": "count", "cluster": "components"}),
    "cosine": ("parquet", {"similarity": "cosine"}),
    "cosine of counts": ("parquet", {"similarity": "cosine", "weights": "count"}),
    "tf-idf": ("parquet", {"weights": "tfidf", "threshold": 0.7}),
    "cosine of tf-idf": ("jsonl", {"weights": "tfidf", "similarity": "cosine"}),
    "idf": ("jsonl", {"weights": "idf", "threshold": 0.6}),
    "longest": ("parquet", {"keep": "longest"}),
    "shortest": ("jsonl", {"keep": "shortest"}),
    "the best": ("parquet", {"keep": "max:quality"}),
    "the best, components": ("jsonl", {"keep": "max:quality", "cluster": "components"}),
    "the worst": ("jsonl", {"keep": "min:quality"}),
    "the last word": ("csv", {"keep": "max:note"}),
    "none kept": ("parquet", {"keep": "none"}),
    "two of each": ("parquet", {"keep": "each:2", "cluster": "components"}),
    "components": ("parquet", {"cluster": "components", "threshold": 0.6}),
    "dense": ("parquet", {"cluster": "dense", "threshold": 0.5}),
    "dense by half": ("jsonl", {"cluster": "dense:0.5", "threshold": 0.5, "weights": "count"}),
    "all pairs": ("parquet", {"pairs": "all"}),
    "all pairs of components": ("jsonl", {"pairs": "all", "cluster": "components"}),
    "no pairs": ("parquet", {"pairs": "none"}),
    "floor": ("parquet", {"floor": 0.4}),
    "floor of components": ("parquet", {"floor": 0.5, "cluster": "components"}),
    "against": ("parquet", {"against": "others"}),
    "against itself": ("parquet", {"against": "parquet"}),
    "against, all pairs": ("jsonl", {"against": "number others", "pairs": "all"}),
    "against and within": ("parquet", {"against": "others", "within": True}),
    "against and within, numbers": ("jsonl", {"against": "number others", "within": True}),
    "against and within, components": (
        "jsonl",
        {"against": "others", "within": True, "cluster": "components", "pairs": "all"},
    ),
    "against and within, the best": (
        "parquet",
        {"against": "others", "within": True, "keep": "max:quality"},
    ),
    "against, tf-idf": ("parquet", {"against": "others", "weights": "tfidf", "threshold": 0.6}),
    "copies": ("parquet", {"copies": True}),
    "copies as JSON": ("jsonl", {"copies": True, "format": "jsonl", "cluster": "components"}),
    "JSON": ("parquet", {"format": "jsonl"}),
    "CSV": ("parquet", {"format": "csv"}),
    "CSV from CSV": ("csv", {"format": "csv", "copies": True}),
    "fields": ("fields", {"text": "title*2+body"}),
    "one field": ("fields", {"text": "body", "features": "word:2"}),
    "characters": ("parquet", {"features": "char:4", "threshold": 0.7}),
    "words": ("jsonl", {"features": "word:1", "threshold": 0.6}),
    "a union": ("parquet", {"features": "word:1+word:3", "threshold": 0.6}),
    "sentences": ("fields", {"text": "body", "features": "sentences:5", "threshold": 0.6}),
    "terms": ("terms", {"features": "terms"}),
    "terms as sets": ("terms", {"features": "terms", "weights": "set", "keep": "longest"}),
    "MD5": ("parquet", {"hash": "md5"}),
    "MD5 of counts": ("jsonl", {"hash": "md5", "weights": "count", "bits": 128}),
    "wide fingerprints": ("parquet", {"bits": 200, "pairs": "all"}),
    "no ids": ("no ids", {}),
    "no ids, JSON": ("no ids", {"format": "jsonl", "keep": "longest"}),
    "string ids": ("string ids", {"cluster": "components"}),
    "row numbers": ("string ids", {"id": "row"}),
    "row numbers of JSON": ("jsonl", {"id": "row"}),
    "another id": ("other names", {"id": "key", "text": "content"}),
    "lines": ("lines", {}),
    "a folder": ("folder", {}),
    "row numbers of a folder": ("folder", {"id": "row"}),
    "ids of several kinds": ("mixed ids", {}),
    "one large row group": ("one group", {"threshold": 0.6}),
    "compressed": ("compressed", {}),
    "a file that cannot be read": ("damaged", {}),
    "rows that cannot be read": ("rejected", {}),
    "row numbers beside those that cannot be read": ("rejected", {"id": "row"}),
}


@pytest.mark.parametrize("name", CASES)
def test_both_engines_give_the_same(inputs, tmp_path, name):
    form, given = CASES[name]
    options = dict(given)
    if "against" in options:
        options["against"] = inputs[options["against"]]
    local = run_local(inputs[form], tmp_path / "local", **options)
    assert local["removed"]  # or there would be nothing to compare
    sizes = SIZES[list(CASES).index(name) % len(SIZES)]
    found = run_distributed(inputs[form], tmp_path / "other", sizes=sizes, **options)
    assert_same_output(tmp_path / "local", tmp_path / "other")
    engine = found.summary["engine"]
    assert engine["bins"] + engine["blocks"] > 0
    # A file of these is read by one task.
    assert engine["splits"] > 1 or form in ("csv", "terms", "compressed")


GIANT: list[dict[str, Any]] = [
    {"threshold": 0.3, "features": "word:1"},
    {"threshold": 0.3, "features": "char:2", "keep": "longest"},
    {"threshold": 0.4, "features": "word:1", "weights": "tfidf", "keep": "max:quality"},
    {"threshold": 0.5, "features": "word:1", "similarity": "cosine", "keep": "each:2"},
    {"threshold": 0.3, "features": "word:1", "weights": "count", "pairs": "none"},
]


@pytest.mark.parametrize("number", range(len(GIANT)))
def test_components_that_no_task_can_hold_are_divided(inputs, tmp_path, number):
    run_local(inputs["parquet"], tmp_path / "local", **GIANT[number])
    sizes = Sizes(split_bytes=1 << 12, bin_features=150, giant_features=150, most_nodes=20)
    found = run_distributed(inputs["parquet"], tmp_path / "other", sizes=sizes, **GIANT[number])
    assert_same_output(tmp_path / "local", tmp_path / "other")
    assert found.summary["engine"]["blocks"] > 3
    assert found.summary["engine"]["nodes"] > sizes.most_nodes


def test_both_engines_warn_of_the_same(inputs, tmp_path):
    settings = {"cluster": "components", "keep": "each:2"}
    warned = json.loads(_summary(inputs["parquet"], tmp_path / "local", settings))["warnings"]
    assert len(warned) == 1
    found = run_distributed(inputs["parquet"], tmp_path / "other", **settings)
    assert found.summary["warnings"] == warned


def _summary(path, output, settings):
    run_local(path, output, **settings)
    return (output / "summary.json").read_bytes()


@pytest.mark.parametrize("threshold", [0.8, 1.0])
def test_both_engines_note_which_pairs_are_listed(tmp_path, threshold):
    texts = ["one two three four", "five six seven eight", "five six seven eight nine"]
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": text} for text in texts])
    settings = {"pairs": "all", "threshold": threshold, "features": "word:1"}
    run_local(path, tmp_path / "local", **settings)
    run_distributed(path, tmp_path / "other", sizes=Sizes(split_bytes=1), **settings)
    noted = table_of(tmp_path / "local" / "pairs.parquet").schema.metadata
    assert b"neardup.pairs" in noted
    for part in sorted((tmp_path / "other" / "pairs.parquet").iterdir()):
        assert table_of(part).schema.metadata == noted


def test_the_default_division_of_a_small_input_is_one_split(inputs, tmp_path):
    run_local(inputs["jsonl"], tmp_path / "local")
    found = run_distributed(inputs["jsonl"], tmp_path / "other")
    assert_same_output(tmp_path / "local", tmp_path / "other")
    assert found.summary["engine"]["splits"] == 1


def test_inputs_may_be_several_and_of_several_formats(inputs, tmp_path):
    both = [inputs["folder"] / "03.jsonl", inputs["parquet"], inputs["lines"]]
    run_local(both, tmp_path / "local", id="row")
    run_distributed(both, tmp_path / "other", id="row", sizes=SIZES[0])
    assert_same_output(tmp_path / "local", tmp_path / "other")
