"""A saved run opened again is the same result, and can be rethresholded without its input."""

import json
import random

import pyarrow.parquet as pq
import pytest
from tests.deduplication.planted import planted_texts

import neardup as nd
from neardup.deduplication import save
from neardup.errors import InputError, SettingError

# What a folder does not say: memory of the process, times of the output, sizes of inputs.
OTHERWISE = ("peak_megabytes", "seconds", "wall_seconds", "inputs", "against", "false")


def some_texts():
    texts = planted_texts(150, changed=2)
    texts = [*texts, *texts[:20], "", "", "=1+1 is no formula here, only text"]
    random.Random(1).shuffle(texts)
    return texts


TEXTS = some_texts()
ROWS = [{"id": f"x{n}", "text": text, "n": n, "tag": None} for n, text in enumerate(TEXTS)]
# Ids that the collection has, too.
OTHERS = [{"id": f"x{n}", "text": text} for n, text in enumerate(TEXTS[:40])]
WAYS = [
    {},
    {"pairs": "all"},
    {"floor": 0.5},
    {"pairs": "none"},
    {"cluster": "components"},
    {"cluster": "components", "floor": 0.4, "threshold": 0.6},
    {"cluster": "dense"},
    {"cluster": "dense:0.5", "floor": 0.4, "threshold": 0.6},
    {"keep": "longest"},
    {"keep": "max:n", "pairs": "all"},
    {"keep": "none", "pairs": "all"},
    {"keep": "each:2"},
    {"weights": "tfidf", "pairs": "all"},
    {"weights": "idf", "pairs": "all"},
    {"weights": "tfidf", "cluster": "components", "threshold": 0.5, "pairs": "all"},
    {"similarity": "hamming", "threshold": 6},
    {"similarity": "hamming", "threshold": 6, "pairs": "all"},
    {"similarity": "hamming", "threshold": 12, "pairs": "all", "cluster": "components"},
    {"against": TEXTS[:30]},
    {"against": TEXTS[:30], "within": True, "pairs": "all"},
    {"against": TEXTS[:30], "within": True, "cluster": "components"},
    {"against": OTHERS, "within": True, "cluster": "components", "threshold": 0.5},
    {"against": OTHERS, "within": True, "cluster": "dense:0.4", "threshold": 0.5},
    {"similarity": "hamming", "threshold": 12, "pairs": "all", "cluster": "dense"},
]


def require_same(loaded, result, *, rows=True):
    assert loaded.clusters.equals(result.clusters)
    if result.settings.pairs != "none":
        assert loaded.pairs.equals(result.pairs)
    if rows:  # CSV does not tell numbers from texts, nor null from nothing
        assert loaded.kept.to_pylist() == result.kept.to_pylist()
        assert loaded.removed.to_pylist() == result.removed.to_pylist()
    texts = [str(row["text"]) for row in result.removed.to_pylist()]
    assert [str(row["text"]) for row in loaded.removed.to_pylist()] == texts
    known = {key: value for key, value in result.summary.items() if key not in OTHERWISE}
    assert {key: loaded.summary[key] for key in known} == known


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_loaded_result_is_the_saved_one(way, format, tmp_path, monkeypatch):
    result = nd.dedup(ROWS, **way)
    with monkeypatch.context() as patch:
        if format != "parquet":  # the report takes most of the time, and is the same for all
            patch.setattr(save, "page_of", lambda *_: "")
        result.save(tmp_path / "out", format=format)
    loaded = nd.Result.load(tmp_path / "out")
    require_same(loaded, result, rows=format != "csv")
    if result.settings.pairs != "all":
        return
    thresholds = (6, 3, 0) if result.settings.similarity == "hamming" else (0.6, 0.8, 0.95, 1)
    done = 0
    for threshold in thresholds:
        if threshold < (result.settings.floor or result.settings.threshold) and threshold < 1:
            continue
        stricter = result.rethreshold(threshold)
        again = nd.Result.load(tmp_path / "out").rethreshold(threshold)
        require_same(again, stricter, rows=format != "csv")
        again.save(tmp_path / f"at-{threshold}", format=format)
        require_same(nd.Result.load(tmp_path / f"at-{threshold}"), stricter, rows=format != "csv")
        done += 1
    assert done


@pytest.mark.parametrize("texts", [[], [""], ["one document only"], ["the same words"] * 5])
def test_next_to_nothing(texts, tmp_path):
    result = nd.dedup(texts, pairs="all")
    result.save(tmp_path / "out")
    require_same(nd.Result.load(tmp_path / "out"), result)
    require_same(nd.Result.load(tmp_path / "out").rethreshold(0.9), result.rethreshold(0.9))


def test_the_input_is_not_needed(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    result = nd.dedup(path, floor=0.5)
    expected = result.rethreshold(0.9)
    expected.save(tmp_path / "expected")
    result.save(tmp_path / "out")
    path.unlink()
    nd.Result.load(tmp_path / "out").rethreshold(0.9).save(tmp_path / "again")
    for name in ("kept", "removed", "pairs", "clusters", "documents"):
        one, other = (
            pq.read_table(tmp_path / folder / f"{name}.parquet") for folder in ("expected", "again")
        )
        assert one.equals(other), name
    inputs = [
        json.loads((tmp_path / name / "summary.json").read_text()) for name in ("out", "again")
    ]
    assert inputs[0]["inputs"] == inputs[1]["inputs"]


def test_every_document_has_a_row(tmp_path):
    (tmp_path / "in").mkdir()
    for name in "ab":
        rows = [{"id": f"{name}{n}", "text": TEXTS[n]} for n in range(40)]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / "in" / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    nd.dedup(tmp_path / "in", keep="longest").save(tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "documents.parquet")
    assert table["id"].to_pylist() == [f"{name}{n}" for name in "ab" for n in range(40)]
    files = [str(tmp_path / "in" / f"{name}.jsonl") for name in "ab"]
    assert table["source"].to_pylist() == [files[0]] * 40 + [files[1]] * 40
    assert sorted(table["rank"].to_pylist()) == list(range(80))
    kept = [row["id"] for row in table.to_pylist() if row["kept"]]
    assert kept == pq.read_table(tmp_path / "out" / "kept.parquet")["id"].to_pylist()
    copies = table.slice(40)["copy_of"].to_pylist()
    filled = [n for n in range(40) if TEXTS[n].strip()]
    firsts = table["copy_of"].to_pylist()
    assert [copies[n] for n in filled] == [firsts[n] for n in filled]


def test_whole_files_are_from_their_folder(tmp_path):
    for name in ("one", "two"):
        (tmp_path / "in" / name).mkdir(parents=True)
        (tmp_path / "in" / name / "a.txt").write_text("the same words in both files")
    nd.dedup(tmp_path / "in").save(tmp_path / "out")
    sources = pq.read_table(tmp_path / "out" / "documents.parquet")["source"].to_pylist()
    assert [source.rpartition("/")[2] for source in sources] == ["one", "two"]


def test_matched_documents_of_the_other_collection_are_stored(tmp_path):
    nd.dedup(TEXTS, against=TEXTS[:30]).save(tmp_path / "out")
    others = pq.read_table(tmp_path / "out" / "others.parquet").to_pylist()
    named = set(pq.read_table(tmp_path / "out" / "clusters.parquet")["duplicate_of"].to_pylist())
    assert {row["id"] for row in others} == named
    assert all(row["text"] == TEXTS[row["id"]] for row in others)


@pytest.mark.parametrize(("text", "batches"), [("red green blue", 0), ("a fox and a dog", 4)])
def test_the_other_collection_is_read_as_far_as_it_is_named(text, batches, tmp_path, monkeypatch):
    monkeypatch.setattr("neardup.collection.source._TEXT_AT_ONCE", 1)  # one text in a batch
    others = [f"number {n} has words of its own" for n in range(9)]
    others[3] = "A fox and a dog."
    result = nd.dedup([text], against=others)
    every, read = result.other_source.batches, []

    def counted(progress=None):
        for batch in every(progress):
            read.append(batch)
            yield batch

    monkeypatch.setattr(result.other_source, "batches", counted)
    result.save(tmp_path / "out")
    assert len(read) == batches


def test_folders_that_are_no_run(tmp_path):
    with pytest.raises(InputError, match="there is no such folder"):
        nd.Result.load(tmp_path / "none")
    with pytest.raises(InputError, match=r"it has no summary\.json"):
        nd.Result.load(tmp_path)
    nd.dedup(ROWS).save(tmp_path / "out")
    (tmp_path / "out" / "clusters.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match="not the complete folder of a run"):
        nd.Result.load(tmp_path / "out")
    (tmp_path / "out" / "documents.parquet").unlink()
    with pytest.raises(InputError, match="earlier version"):
        nd.Result.load(tmp_path / "out")


def test_changed_rows_are_noticed(tmp_path):
    nd.dedup(ROWS, pairs="all").save(tmp_path / "out")
    kept = pq.read_table(tmp_path / "out" / "kept.parquet")
    pq.write_table(kept.slice(0, 10), tmp_path / "out" / "kept.parquet")
    with pytest.raises(InputError, match="fewer rows than"):
        nd.Result.load(tmp_path / "out").rethreshold(0.9).save(tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_hamming_needs_whole_bits(tmp_path):
    result = nd.dedup(ROWS, similarity="hamming", threshold=6, pairs="all")
    with pytest.raises(SettingError, match="whole number"):
        result.rethreshold(2.5)


def test_a_preset_with_levels_can_be_rethresholded(tmp_path):
    result = nd.dedup(TEXTS, preset="sphere")
    assert len(result.settings.levels) > 1
    strictest = min(result.settings.levels)
    again = result.rethreshold(strictest)
    assert list(again.summary["levels"]) == [f"{strictest:g}"]
