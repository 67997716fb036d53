"""The main job against brute force, and what it promises about edges."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from tests.deduplication.planted import planted_texts, shingles, true_pairs

import neardup as nd
from neardup.collection import budget
from neardup.pairs import choose
from neardup.pairs.by_features import exact_join
from neardup.settings import RECIPE, SETTINGS

TEXTS = st.lists(st.lists(st.sampled_from("ab"), max_size=7).map(" ".join), max_size=9)


def pairs_of(result):
    return {(row["a"], row["b"]): row["similarity"] for row in result.pairs.to_pylist()}


@settings(max_examples=150)
@given(TEXTS, st.sampled_from([0.3, 0.5, 0.6, 0.75, 0.8, 1.0]))
def test_every_pair_is_found_and_true(texts, threshold):
    truth = true_pairs(texts, threshold)
    result = nd.dedup(texts, threshold=threshold, pairs="all")
    found = pairs_of(result)
    assert result.summary["pairs"] == len(result.pairs) == len(found)
    sets = [frozenset(shingles(text)) for text in texts]
    first = {}
    for place, one in enumerate(sets):
        first.setdefault(one, place)
    stars = {(first[sets[b]], b) for b in range(len(texts)) if sets[b] and first[sets[b]] != b}
    kinds = {pair for pair in truth if all(first[sets[place]] == place for place in pair)}
    assert found.keys() == stars | kinds
    assert all(found[pair] == truth[pair] for pair in found)


EVERY_WAY = [
    {"threshold": 0.6},
    {"threshold": 0.8, "keep": "longest", "pairs": "all"},
    {"threshold": 0.6, "floor": 0.4, "keep": "shortest"},
    {"threshold": 0.6, "weights": "count"},
    {"threshold": 0.7, "weights": "tfidf", "similarity": "cosine", "pairs": "all"},
    {"threshold": 0.6, "features": "word:1", "weights": "idf", "pairs": "all"},
    {"threshold": 0.7, "similarity": "cosine", "keep": "none"},
    {"threshold": 8, "similarity": "hamming"},
]


@settings(max_examples=100)
@given(TEXTS, st.sampled_from(["components", "star", "dense"]))
def test_nothing_is_lost(texts, cluster):
    result = nd.dedup(texts, threshold=0.5, cluster=cluster)
    clusters = result.clusters.to_pylist()
    removed = {row["id"] for row in clusters if not row["kept"]}
    assert result.kept["text"].to_pylist() == [
        text for place, text in enumerate(texts) if place not in removed
    ]
    kept = {row["id"] for row in clusters if row["kept"]}
    assert {row["duplicate_of"] for row in clusters if not row["kept"]} == kept
    assert result.summary["removed"] == len(removed)
    assert result.summary["kept"] + len(removed) == len(texts)


def test_recall_of_bands_is_that_of_the_plan(monkeypatch):
    texts = planted_texts(1500)
    truth = true_pairs(texts, 0.8)
    exact = pairs_of(nd.dedup(texts, pairs="all"))
    assert exact.keys() == truth.keys()
    with monkeypatch.context() as patch:
        patch.setattr(choose, "_ALWAYS_AFFORDED", 0)
        patch.setattr(choose, "_PREFERENCE", 0)
        by_bands = nd.dedup(texts, pairs="all", cluster="components")
        assert nd.dedup(texts, candidates="exact").summary["plan"] == "exact"
    assert by_bands.summary["plan"].startswith("bands:")
    assert by_bands.summary["scheme"] == "nd1/word:3/set/64"
    assert "postings" in by_bands.summary["reason"]
    found = pairs_of(by_bands)
    assert found.items() <= exact.items()
    assert len(found) >= 0.97 * len(exact)
    named = nd.dedup(texts, bits=640, candidates="bands:40x16", pairs="all")
    assert pairs_of(named).items() <= exact.items()
    near = named.summary["pairs"] - named.summary["exact_copies"]
    assert named.summary["false"] == named.summary["candidates"] - near


@pytest.mark.parametrize("candidates", ["auto", "bands:4x16"])
@pytest.mark.parametrize("weights", ["set", "count"])
@pytest.mark.parametrize("cluster", ["star", "components", "dense"])
def test_little_memory_changes_nothing(candidates, weights, cluster, monkeypatch):
    monkeypatch.setattr(exact_join, "_LEAST_GROUP", 1000)
    texts = planted_texts(400, changed=6)
    chosen = {"threshold": 0.6, "candidates": candidates, "weights": weights, "cluster": cluster}
    whole = nd.dedup(texts, **chosen)
    assert whole.collected.features.spilled_bytes == 0
    for memory in ("1KB", "300KB"):
        little = nd.dedup(texts, memory=memory, **chosen)
        assert little.collected.features.spilled_bytes > 0
        assert little.pairs.equals(whole.pairs)
        assert little.clusters.equals(whole.clusters)
    old = nd.dedup(texts[:200], against=texts[200:], **chosen)
    little = nd.dedup(texts[:200], against=texts[200:], memory="1KB", **chosen)
    assert little.pairs.equals(old.pairs)
    assert len(old.pairs)


@pytest.mark.parametrize("chosen", EVERY_WAY, ids=str)
def test_threads_and_memory_change_nothing(chosen, tmp_path, monkeypatch):
    """Byte for byte, in memory or in a temporary file, with one index or many."""
    texts = planted_texts(600, changed=3)
    names = ["kept.parquet", "removed.parquet", "pairs.parquet", "clusters.parquet"]
    first: list[bytes] | None = None
    for threads, memory, work in ((1, "8GB", 48 << 20), (2, "1MB", 300_000), (8, "1MB", 100_000)):
        monkeypatch.setattr(budget, "LEAST_WORK", work)
        folder = tmp_path / str(threads)
        nd.dedup(texts, threads=threads, memory=memory, **chosen).save(folder)
        written = [(folder / name).read_bytes() for name in names]
        first = first or written
        assert written == first
    assert nd.dedup(texts, **chosen).summary["removed"] > 50


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv"])
def test_threads_change_nothing_of_a_file_of_many_batches(format, tmp_path):
    """Threads take batches as they come; rows, rejected rows and files keep their order."""
    path = tmp_path / "many.jsonl"
    fillers = [" ".join(f"{kind}filler{n}" for n in range(1000)) for kind in range(97)]
    with path.open("w") as file:
        for number, text in enumerate(planted_texts(1200, changed=3)):
            file.write(json.dumps({"id": number, "text": f"{text} {fillers[number % 97]}"}) + "\n")
            if number % 100 == 7:
                file.write(f"broken {number}\n")
    names = [f"kept.{format}", f"removed.{format}", "pairs.parquet", "clusters.parquet"]
    written = []
    for threads in (1, 3, 11):
        folder = tmp_path / str(threads)
        result = nd.dedup(str(path), threads=threads)
        result.save(folder, format=format)
        written.append([(folder / name).read_bytes() for name in [*names, "rejected.jsonl"]])
    assert written[1:] == written[:-1]
    assert result.summary["rejected"] == 12
    assert result.summary["kept"] == 97
    if format == "parquet":
        assert pq.ParquetFile(tmp_path / "11" / "removed.parquet").num_row_groups > 2


def test_a_stricter_threshold_afterwards_is_one_beforehand():
    texts = planted_texts(600, changed=6)
    loose = nd.dedup(texts, threshold=0.6, pairs="all")
    strict = loose.rethreshold(0.85)
    expected = nd.dedup(texts, threshold=0.85, pairs="all")
    assert pairs_of(strict) == pairs_of(expected)
    assert strict.clusters.equals(expected.clusters)
    with pytest.raises(nd.SettingError, match=r"not stricter than 0\.85"):
        strict.rethreshold(0.7)
    against = nd.dedup(texts[:300], against=texts[300:], threshold=0.6, pairs="all")
    again = against.rethreshold(0.85)
    fresh = nd.dedup(texts[:300], against=texts[300:], threshold=0.85, pairs="all")
    assert again.clusters.equals(fresh.clusters)
    assert again.pairs.equals(fresh.pairs)


def test_another_threshold_needs_all_pairs():
    texts = planted_texts(60, changed=6)
    few = replace(nd.dedup(texts), all_pairs=None)  # as of a search that did not find all
    with pytest.raises(nd.SettingError, match="run dedup with pairs='all'"):
        few.rethreshold(0.9)
    floored = nd.dedup(texts, floor=0.4)
    assert len(floored.rethreshold(0.5).clusters) >= len(floored.clusters)
    with pytest.raises(nd.SettingError, match="floor"):
        floored.rethreshold(0.3)
    for wrong in (-1, 1.5):
        with pytest.raises(nd.SettingError, match="not stricter"):
            floored.rethreshold(wrong)
    bits = nd.dedup(texts, similarity="hamming", threshold=6, pairs="all")
    assert bits.rethreshold(3).clusters.equals(
        nd.dedup(texts, similarity="hamming", threshold=3).clusters
    )
    with pytest.raises(nd.SettingError, match="not stricter than 6"):
        bits.rethreshold(7)


def test_the_weakest_pairs_show_their_texts():
    texts = planted_texts(300, changed=6)
    result = nd.dedup(texts, threshold=0.7)
    weakest = result.weakest(5)
    similarities = weakest["similarity"].to_pylist()
    assert similarities == sorted(pairs_of(result).values())[:5]
    for row in weakest.to_pylist():
        assert (row["text_a"], row["text_b"]) == (texts[row["a"]], texts[row["b"]])


def test_copies_within_the_input_are_none_of_another_collection():
    texts = ["a b c d", "a b c d", "one two three four five six seven", "x y z"]
    old = ["x y z", "one two three four five six seven eight"]
    summary = nd.dedup(texts, against=old, threshold=0.8).summary
    assert (summary["exact_copies"], summary["near_copies"], summary["removed"]) == (1, 1, 2)


def test_giant_clusters_stay_linear():
    header = " ".join(f"header{number}" for number in range(40))
    texts = ["all the same " * 9] * 20_000
    texts += [f"{header} {' '.join(f'b{i}x{j}' for j in range(60))}" for i in range(10_000)]
    result = nd.dedup(texts)
    assert result.summary["exact_copies"] == 19_999
    assert result.summary["near_copies"] == 0
    assert len(result.pairs) == 19_999
    assert len(result.clusters) == 20_000


@pytest.mark.parametrize("candidates", ["auto", "bands:4x16"])
def test_short_and_repetitive_texts_do_not_collapse(candidates):
    texts = ["yes", "no", "", " ", "!!!", "yes", "Yes!", "a " * 50, "a " * 100, "ha", "haha"]
    result = nd.dedup(texts, candidates=candidates)
    removed = {row["id"] for row in result.clusters.to_pylist() if not row["kept"]}
    assert removed == {5, 6, 8}
    counted = nd.dedup(texts, weights="count", candidates=candidates)
    removed = {row["id"] for row in counted.clusters.to_pylist() if not row["kept"]}
    assert removed == {5, 6}
    assert result.summary["empty"] == 3


def test_chains_hold_components_together_and_stars_apart():
    words = [f"w{number}" for number in range(40)]
    texts = [" ".join(words[i : i + 30]) for i in (0, 3, 6)]
    together = nd.dedup(texts, threshold=0.75, cluster="components")
    assert (together.summary["removed"], together.summary["unproven"]) == (2, 1)
    assert together.clusters["via"].to_pylist() == [None, 0, 1]
    assert together.clusters["similarity"].to_pylist() == [None, 25 / 31, 22 / 34]
    star = nd.dedup(texts, threshold=0.75)
    assert [row["kept"] for row in star.clusters.to_pylist()] == [True, False]
    assert (star.summary["kept"], star.summary["unproven"]) == (2, 0)
    assert "via" not in star.clusters.column_names


@pytest.mark.parametrize(
    ("keep", "kept"),
    [("first", 0), ("longest", 1), ("shortest", 0), ("max:rank", 1), ("min:rank", 2)],
)
def test_which_copy_stays(keep, kept):
    base = " ".join(f"w{number}" for number in range(30))
    table = pa.table({"text": [base, base + " more", base + "!"], "rank": [2, 3, 1]})
    result = nd.dedup(table, keep=keep)
    assert [row["id"] for row in result.clusters.to_pylist() if row["kept"]] == [kept]


@pytest.mark.parametrize("shape", [pa.table, pd.DataFrame, pl.DataFrame])
def test_tables_of_any_kind(shape):
    data = {"id": ["x", "y"], "body": ["one two three four", "One two three four."], "n": [1, 2]}
    result = nd.dedup(shape(data), text="body")
    assert result.pairs.to_pylist() == [{"a": "x", "b": "y", "distance": 0, "similarity": 1.0}]
    assert result.kept.to_pylist() == [{"id": "x", "body": "one two three four", "n": 1}]


def test_other_similarities():
    texts = planted_texts(300)
    by_cosine = nd.dedup(texts, weights="count", similarity="cosine", threshold=0.9)
    for (a, b), similarity in pairs_of(by_cosine).items():
        one, two = (dict.fromkeys(shingles(texts[place]), 1) for place in (a, b))
        assert similarity == pytest.approx(nd.cosine(one, two))
    by_bits = nd.dedup(texts, similarity="hamming", threshold=6, pairs="all")
    fps = nd.fingerprint(texts)
    expected = nd.find_pairs(fps, max_distance=6)
    assert len(by_bits.pairs) == len(expected)
    weighed = nd.dedup(texts, features="word:1", weights="tfidf", threshold=0.7)
    assert weighed.summary["settings"]["similarity"] == "weighted-jaccard"
    assert weighed.scheme.idf


def test_records_and_terms():
    people = [
        {"name": "Anna Berg", "city": "Ulm", "street": "Main road 5"},
        {"name": "Anna Berg", "city": "Ulm", "street": "Main road 6"},
        {"name": "Ulm", "city": "Anna Berg", "street": ""},
    ]
    result = nd.dedup(people, text="name*2+city+street", features="word:1", threshold=0.6)
    assert [(row["a"], row["b"]) for row in result.pairs.to_pylist()] == [(0, 1)]
    terms = [{"a": 1.0, "b": 2.0}, {"a": 1.1, "b": 2.0}, {"c": 1.0}]
    result = nd.dedup(terms, features="terms", threshold=0.99)
    assert [(row["a"], row["b"]) for row in result.pairs.to_pylist()] == [(0, 1)]


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_files_in_files_out(tmp_path):
    rows = [
        {"id": "a", "body": "one two three four five", "tag": None},
        {"id": "b", "body": "One two three four five!", "tag": "x"},
        {"id": "c"},
        {"id": "d", "body": "something else", "tag": "y", "more": [1, 2]},
    ]
    write_lines(tmp_path / "in.jsonl", rows)
    result = nd.dedup(tmp_path / "in.jsonl", text="body")
    result.save(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        *("clusters.parquet", "documents.parquet", "kept.parquet", "pairs.parquet"),
        *("rejected.jsonl", "removed.parquet", "report.html", "summary.json"),
    ]
    kept = pq.read_table(tmp_path / "out" / "kept.parquet").to_pylist()
    assert [row["id"] for row in kept] == ["a", "d"]
    assert kept[1] == {"id": "d", "body": "something else", "tag": "y", "more": [1, 2]}
    rejected = (tmp_path / "out" / "rejected.jsonl").read_text(encoding="utf-8")
    assert json.loads(rejected)["row"] == 2
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert (summary["documents"], summary["rejected"], summary["removed"]) == (3, 1, 1)
    assert pq.read_schema(tmp_path / "out" / "pairs.parquet").metadata is None
    nd.dedup(tmp_path / "in.jsonl", text="body", pairs="all").save(tmp_path / "all")
    note = pq.read_schema(tmp_path / "all" / "pairs.parquet").metadata
    assert b"first of their kind" in note[b"neardup.pairs"]


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_kept_rows_in_other_formats(tmp_path, format):
    (tmp_path / "in.csv").write_text("id,text,n\n1,a b c d,5\n2,A b c d,6\n", encoding="utf-8")
    nd.dedup(tmp_path / "in.csv").save(tmp_path / "out", format=format)
    kept = (tmp_path / "out" / f"kept.{format}").read_text(encoding="utf-8")
    if format == "csv":
        assert kept.splitlines() == ['"id","text","n"', '"1","a b c d","5"']
    else:
        assert json.loads(kept) == {"id": "1", "text": "a b c d", "n": "5"}


def test_a_folder_that_is_there_is_not_overwritten(tmp_path):
    result = nd.dedup(["a b c", "a b c"])
    result.save(tmp_path / "out")
    with pytest.raises(nd.NeardupError, match="there already"):
        result.save(tmp_path / "out")
    result.save(tmp_path / "out", overwrite=True, format="csv")
    assert not (tmp_path / "out" / "kept.parquet").exists()
    (tmp_path / "out" / "mine.txt").write_text("x", encoding="utf-8")
    with pytest.raises(nd.NeardupError, match=r"holds mine\.txt"):
        result.save(tmp_path / "out", overwrite=True)
    assert (tmp_path / "out" / "kept.csv").exists()


def test_what_was_read_is_never_overwritten(tmp_path):
    source, out = tmp_path / "w" / "a.jsonl", tmp_path / "out"
    source.parent.mkdir()
    source.write_text('{"text": "a b c"}\n')
    result = nd.dedup(source)
    with pytest.raises(nd.NeardupError, match="contains the input"):
        result.save(source.parent, overwrite=True)
    with pytest.raises(nd.NeardupError, match="lies inside the input"):
        nd.dedup(source.parent).save(source.parent / "out")
    result.save(out, format="jsonl")
    again = nd.dedup(source, against=out / "kept.jsonl")
    with pytest.raises(nd.NeardupError, match="contains the input"):
        again.save(out, overwrite=True)
    assert os.listdir(source.parent) == ["a.jsonl"]


def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch):
    result = nd.dedup(["a b c", "a b c"])
    result.save(tmp_path / "out")
    before = (tmp_path / "out" / "summary.json").read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("neardup.deduplication.save.write_rows", full)
    with pytest.raises(nd.NeardupError, match="No space left"):
        result.save(tmp_path / "out", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "summary.json").read_bytes() == before


def test_a_folder_that_cannot_be_replaced_comes_back(tmp_path, monkeypatch):
    result = nd.dedup(["a b c", "a b c"])
    result.save(tmp_path / "out")
    before = (tmp_path / "out" / "summary.json").read_bytes()
    rename = Path.rename

    def fails_for_the_new_one(self, target):
        if self.name == "new":
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr("neardup.atomic.folders.exchange", lambda one, other: False)
    monkeypatch.setattr(Path, "rename", fails_for_the_new_one)
    with pytest.raises(nd.NeardupError, match="Input/output error"):
        result.save(tmp_path / "out", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "summary.json").read_bytes() == before


def test_keys_that_only_later_records_have():
    base = " ".join(f"w{number}" for number in range(30))
    records = [{"text": base}, {"text": base + "!", "rank": 2.5}, {"text": "other", "tag": "x"}]
    result = nd.dedup(records, keep="max:rank")
    assert result.kept.to_pylist() == [
        {"text": base + "!", "rank": 2.5, "tag": None},
        {"text": "other", "rank": None, "tag": "x"},
    ]


def test_a_column_that_shows_its_type_late(tmp_path):
    """In JSON a batch may lack a column, or have whole numbers where others have fractions."""
    texts = planted_texts(12_000, share=0)
    rows = [{"text": text, "n": place} for place, text in enumerate(texts)]
    rows += [{"text": texts[0] + ".", "n": 12_000.5}, {"text": texts[1], "more": "x"}]
    write_lines(tmp_path / "in.jsonl", rows)
    result = nd.dedup(tmp_path / "in.jsonl", keep="max:n")
    assert result.summary["removed"] == 2
    assert result.kept["n"].to_pylist()[-1] == 12_000.5
    assert result.kept["more"].null_count == len(result.kept)
    result.save(tmp_path / "out")
    assert pq.read_table(tmp_path / "out" / "kept.parquet").equals(result.kept)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"threshold": 0}, "threshold=0"),
        ({"threshold": 1.5}, "threshold=1.5"),
        ({"recall": 2}, "recall=2"),
        ({"similarity": "edit"}, "similarity='edit'"),
        ({"similarity": "jaccard", "weights": "count"}, "weighted-jaccard"),
        ({"similarity": "hamming"}, "differing bits"),
        ({"cluster": "tree"}, "cluster='tree'"),
        ({"keep": "best"}, "keep='best'"),
        ({"keep": "none", "against": ["a b c"]}, "keep=none is about clusters of the input"),
        ({"keep": "each:2", "against": ["a b c"]}, "keep=each:2 is about clusters"),
        ({"within": True}, "within=True needs another collection"),
        ({"pairs": "some"}, "pairs='some' is unknown; choose evidence, all, none"),
        ({"floor": 0.8}, "floor=0.8 must be below the threshold, 0.8"),
        ({"floor": 0}, "floor=0 must be a number above 0"),
        ({"floor": True}, "floor=True must be a number"),
        ({"floor": 0.5, "pairs": "evidence"}, "leave one out"),
        ({"floor": 0.5, "pairs": "none"}, "leave one out"),
        ({"floor": 3, "similarity": "hamming", "threshold": 6}, "similarity=hamming has none"),
        ({"candidates": "magic"}, "candidates='magic'"),
        ({"memory": "lots"}, "memory"),
    ],
)
def test_settings_that_cannot_be(chosen, message):
    with pytest.raises(nd.SettingError, match=message):
        nd.dedup(planted_texts(30), **chosen)


@pytest.mark.parametrize("texts", [[], [""], ["only one"]])
def test_next_to_nothing(texts, tmp_path):
    result = nd.dedup(texts)
    assert result.summary["removed"] == 0
    assert len(result.pairs) == len(result.clusters) == 0
    result.save(tmp_path / "out")
    assert np.array_equal(result.kept.num_rows, len(texts))


def test_the_summary_names_every_setting_that_counts():
    found = nd.dedup(["one two three four"], preset="caim", threshold=0.5).summary["settings"]
    assert set(found) == set(SETTINGS) - {"threads"}
    assert tuple(found)[: len(RECIPE)] == RECIPE
    assert (found["threshold"], found["hash"], found["keep"]) == (0.5, "md5", "first")
    assert found["max_document"] == 64_000_000


def test_none_leaves_a_setting_to_the_preset():
    found = nd.dedup(["one two three four"], preset="caim", threshold=None, hash=None)
    assert (found.settings.threshold, found.settings.scheme.hash) == (0.9, "md5")


def test_only_distances_within_the_threshold_are_reported():
    found = nd.dedup(["one two three four"] * 2, preset="sphere", threshold=12)
    assert list(found.summary["levels"]) == ["5", "10"]
    assert found.settings.pairs == "all"
    few = nd.dedup(["one two three four"] * 2, preset="sphere", pairs="evidence")
    assert few.summary["levels"] == {}
