"""The public benchmarks in their published form, with scores computed by hand."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.errors import InputError, SettingError
from neardup.lab.benchmark import published
from neardup.lab.benchmark.core import CoreLabels, core_scores, core_task, macro_f1
from neardup.lab.benchmark.news_copy import cleaned, news_copy_task
from neardup.lab.benchmark.run import DEFAULTS, FIXED, TUNED, benchmark, task_of
from neardup.lab.benchmark.task import clusters_by_place

WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")


def words(seed: int, count: int = 40) -> list[str]:
    chooser = np.random.default_rng(seed)
    return [
        f"{WORDS[one]}{chooser.integers(50)}" for one in chooser.integers(len(WORDS), size=count)
    ]


def core_rows() -> list[dict[str, object]]:
    """Two exact duplicates, three near duplicates, a missed one, and documents that are alone."""

    def row(id: str, seed: int, cat: str, duplicates: list[str], changed: int = 0) -> dict:
        body = words(seed)
        body[:changed] = [f"other{place}" for place in range(changed)]
        return {
            "core_id": id,
            "doi": None,
            "processed_title": f"Title {seed} On {body[-1]}",
            "processed_abstract": " ".join(body),
            "cat": cat,
            "labelled_duplicates": duplicates,
        }

    return [
        row("1", 1, "exact_dup", ["2"]),
        row("2", 1, "exact_dup", ["1"]),
        row("3", 2, "near_dup", ["4", "5"]),
        row("4", 2, "near_dup", ["3", "5"], changed=1),
        row("5", 3, "near_dup", ["3", "4"]),  # says the same in other words: nothing can find it
        row("6", 4, "non_dup", []),
        row("7", 5, "non_dup", []),
        row("8", 6, "non_dup", []),
        row("9", 6, "non_dup", []),  # a copy that the labels do not know
    ]


def write(path: Path, rows: list[dict[str, object]]) -> str:
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    return str(path)


@pytest.mark.parametrize("name", ["core.parquet", "core.jsonl"])
def test_core_is_scored_as_published(tmp_path, name):
    task = core_task([write(tmp_path / name, core_rows())])
    scores = task.score(nd.dedup(task.documents, threshold=0.7))
    # Documents 1 and 2 find all of their duplicates; 3 and 4 only each other; 8 and 9 have none;
    # 5 is missed; 6 and 7 are rightly alone.
    assert [scores[key] for key in ("tp", "fp", "fn", "tn")] == [2, 4, 1, 2]
    assert scores["precision_duplicates"] == pytest.approx(2 / 6)
    assert scores["recall_duplicates"] == pytest.approx(2 / 3)
    assert scores["precision_others"] == pytest.approx(2 / 3)
    assert scores["recall_others"] == pytest.approx(2 / 6)
    assert scores["macro_published"] == pytest.approx((2 / 6 + 2 / 3) / 2)
    assert scores["macro_f1"] == pytest.approx(4 / 9)
    assert scores["accuracy"] == pytest.approx(4 / 9)
    assert scores["right_exact_dup"] == 1
    assert scores["right_near_dup"] == 0
    assert scores["right_non_dup"] == 0.5


def test_core_texts_are_title_and_abstract_in_lower_case(tmp_path):
    rows = core_rows()
    rows[5] |= {"processed_title": "A Title", "processed_abstract": "And ITS Abstract"}
    rows[6] |= {"processed_title": "Alone", "processed_abstract": None}
    texts = core_task([write(tmp_path / "core.parquet", rows)]).documents["text"].to_pylist()
    assert texts[5:7] == ["a title and its abstract", "alone "]


def test_core_labels_in_csv_are_texts_of_lists(tmp_path):
    rows = [{**row, "labelled_duplicates": str(row["labelled_duplicates"])} for row in core_rows()]
    columns = list(rows[0])
    lines = [",".join(columns)] + [
        ",".join('"' + str(row[name] or "").replace('"', '""') + '"' for name in columns)
        for row in rows
    ]
    (tmp_path / "core.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    from_csv = core_task([str(tmp_path / "core.csv")])
    from_parquet = core_task([write(tmp_path / "core.parquet", core_rows())])
    assert from_csv.documents["text"].to_pylist() == from_parquet.documents["text"].to_pylist()
    result = nd.dedup(from_csv.documents, threshold=0.7)
    assert from_csv.score(result) == from_parquet.score(result)


def test_core_says_when_labels_name_documents_that_are_missing(tmp_path):
    task = core_task([write(tmp_path / "core.parquet", core_rows()[1:])])
    assert task.notes[0].startswith("1 labels name documents")
    # Its duplicate is not there, so document 2 cannot be right, as by the published protocol.
    assert task.score(nd.dedup(task.documents, threshold=0.7))["tp"] == 0


def core_by_sets(truth: list[set[int]], found: np.ndarray) -> dict[str, float]:
    """The published protocol, document by document."""
    classes = {"tp": 0, "fp": 0, "fn": 0, "tn": 0}
    right = 0
    for place, duplicates in enumerate(truth):
        mates = {
            other
            for other in range(len(found))
            if other != place and found[other] == found[place] >= 0
        }
        right += mates == duplicates
        if mates:
            classes["tp" if duplicates and duplicates <= mates else "fp"] += 1
        else:
            classes["fn" if duplicates else "tn"] += 1
    return {**classes, "accuracy": right / len(truth)}


def test_core_scores_agree_with_sets_on_random_clusters():
    for seed in range(50):
        chooser = np.random.default_rng(seed)
        count = int(chooser.integers(1, 20))
        true, found = (chooser.integers(-1, 6, size=count) for _ in range(2))
        truth = [
            {b for b in range(count) if b != a and true[a] == true[b] >= 0} for a in range(count)
        ]
        pairs = np.array([(a, b) for a in range(count) for b in truth[a]], np.int64).reshape(-1, 2)
        named = np.array([len(those) for those in truth])
        labels = CoreLabels(pairs[:, 0], pairs[:, 1], named, (None,) * count)
        scores = core_scores(labels, found)
        for key, value in core_by_sets(truth, found).items():
            assert scores[key] == pytest.approx(value), f"seed {seed}, {key}"


def test_the_published_rows_are_consistent():
    """Where text-dedup says macro F1, it has the mean of the two precisions."""
    for row in published.CORE:
        duplicates = row.precision_duplicates, row.recall_duplicates
        four = (*duplicates, row.precision_others, row.recall_others)
        assert all(0 < rate <= 1 for rate in (*four, row.macro_published, row.accuracy))
        if row.source == published.TEXT_DEDUP:
            mean = (row.precision_duplicates + row.precision_others) / 2
            assert row.macro_published == pytest.approx(mean, abs=2e-4)
        elif row.source == published.RETSIM:
            assert row.macro_published == pytest.approx(macro_f1(*four), abs=2e-3)
    assert all(-0.5 <= row.ari <= 1 for row in published.NEWS_COPY)


def news_rows() -> list[dict[str, Any]]:
    articles = []
    for number, (seed, changed) in enumerate([(1, 0), (1, 2), (1, 4), (2, 0), (2, 1), (3, 0)]):
        body = words(seed, 60)
        body[10 : 10 + changed] = [f"smudge{place}" for place in range(changed)]
        body[30] = body[30][:3] + "-\n" + body[30][3:]
        articles.append(
            {
                "headline": f"Headline {number}",
                "article": " ".join(body).capitalize() + ". “End”",
                "id": f"scan-{number}",
                "idx": number,
                "cluster": {1: 0, 2: 3, 3: 5}[seed],
                "duplicates": [number],
            }
        )
    return articles


def rand_by_pairs(truth: list[int], found: list[int]) -> float:
    """The adjusted Rand index by looking at every pair."""
    every = [(a, b) for b in range(len(truth)) for a in range(b)]
    true = {(a, b) for a, b in every if truth[a] == truth[b]}
    said = {(a, b) for a, b in every if found[a] == found[b] >= 0}
    expected = len(true) * len(said) / len(every)
    return (len(true & said) - expected) / ((len(true) + len(said)) / 2 - expected)


def test_news_copy_is_scored_by_the_adjusted_rand_index(tmp_path):
    task = news_copy_task([write(tmp_path / "test-00000.parquet", news_rows())])
    assert task.documents["text"][0].as_py() == cleaned(news_rows()[0]["article"])
    for threshold in (0.5, 0.8, 0.92):
        result = nd.dedup(task.documents, features="word:2", threshold=threshold)
        found = clusters_by_place(result)
        wanted = rand_by_pairs([row["cluster"] for row in news_rows()], found.tolist())
        assert task.score(result)["ari"] == pytest.approx(wanted)
    # At 0.92, one change in sixty words is still a duplicate, and two are not.
    assert found.tolist() == [-1, -1, -1, 0, 0, -1]
    assert task.score(result)["recall"] == pytest.approx(1 / 4)
    assert task.score(result)["precision"] == 1


def test_news_copy_reads_the_split_test_of_a_folder(tmp_path):
    write(tmp_path / "test-00000-of-00001.parquet", news_rows())
    write(tmp_path / "val-00000-of-00001.parquet", news_rows()[:2])
    assert news_copy_task([str(tmp_path)]).documents.num_rows == len(news_rows())


def test_a_benchmark_runs_defaults_tuned_and_fixed_settings(tmp_path):
    done = benchmark("core", [write(tmp_path / "core.parquet", core_rows())])
    assert [row.method for row in done.rows] == [DEFAULTS, TUNED, FIXED]
    assert done.rows[0].settings == {}
    assert done.rows[1].tune_seconds > 0
    assert "features" in done.rows[1].settings
    assert done.rows[2].settings == {"features": "word:2", "threshold": 0.3, "cluster": "dense"}
    assert done.documents == 9
    assert len(done.published) == len(published.CORE)
    told = done.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["rows"][0]["scores"]["tn"] >= 2
    done.save(tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8")) == told


def test_more_settings_can_be_scored(tmp_path):
    data = [write(tmp_path / "core.parquet", core_rows())]
    done = benchmark("core", data, others={"mine.toml": {"features": "word:1", "threshold": 0.7}})
    assert done.rows[-1].method == "neardup, mine.toml"
    assert done.rows[-1].scores["tp"] == 2


def labelled(folder: Path, *, same: list[tuple[str, str]], different: list[tuple[str, str]]) -> str:
    folder.mkdir(exist_ok=True)
    texts = {
        "a": "sony walkman player blue 16 gb",
        "b": "sony walkman player 16 gb blue edition",
        "c": "canon camera lens 50 mm",
        "d": "canon camera lens 85 mm",
        "e": "wooden kitchen table",
        "f": "table for the kitchen",
    }
    rows = [{"id": id, "text": text} for id, text in texts.items()]
    (folder / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, pairs in (("pairs", same), ("non_pairs", different)):
        if pairs:
            text = "".join(f"{a},{b}\n" for a, b in pairs)
            (folder / f"{name}.csv").write_text(f"a,b\n{text}")
    return str(folder)


def score(folder: str, **settings: object) -> dict[str, object]:
    task = task_of(folder, (), {})
    return dict(task.score(nd.dedup(task.documents, **settings)))


def test_a_folder_with_complete_labels(tmp_path):
    """Clusters {a, b} and {c, d}; the truth is {a, b} and {e, f}."""
    folder = labelled(tmp_path / "labels", same=[("a", "b"), ("f", "e")], different=[])
    scores = score(folder, features="word:1", threshold=0.6)
    assert (scores["precision"], scores["recall"], scores["f1"]) == (0.5, 0.5, 0.5)
    assert (scores["removed"], scores["clusters"], scores["largest"]) == (2, 2, 2)


def test_a_folder_with_labels_of_both_kinds_counts_labelled_pairs_only(tmp_path):
    """The cluster {c, d} is unknown to the labels, and counts neither way."""
    folder = labelled(
        tmp_path / "labels", same=[("a", "b"), ("e", "f")], different=[("a", "c"), ("b", "e")]
    )
    scores = score(folder, features="word:1", threshold=0.6)
    assert (scores["precision"], scores["recall"]) == (1, 0.5)
    assert scores["f1"] == pytest.approx(2 / 3)
    labelled(tmp_path / "labels", same=[("a", "b")], different=[("c", "d"), ("b", "e")])
    assert score(folder, features="word:1", threshold=0.6)["precision"] == 0.5


def test_nothing_found_has_no_precision(tmp_path):
    folder = labelled(tmp_path / "labels", same=[("a", "b")], different=[])
    scores = score(folder, features="word:5", threshold=1.0)
    assert math.isnan(scores["precision"])
    assert (scores["recall"], scores["f1"]) == (0, 0)


def test_a_folder_is_run_in_all_ways(tmp_path):
    folder = labelled(tmp_path / "labels", same=[("a", "b")], different=[])
    done = benchmark(folder)
    assert [row.method for row in done.rows] == [DEFAULTS, TUNED, FIXED]
    assert done.published == ()
    assert any("complete" in note for note in done.notes)


def refused(what: str, data: list[str], names: dict[str, str] | None = None) -> str:
    with pytest.raises((InputError, SettingError)) as caught:
        benchmark(what, data, names=names or {})
    return str(caught.value)


def test_missing_data_are_named():
    assert "pinecone/core-2020-05-10-deduplication" in refused("core", [])
    assert "NEWS-COPY-eval" in refused("news-copy", [])
    assert "is no folder" in refused("no/such/folder", [])


def test_a_missing_column_is_named(tmp_path):
    for name in ("processed_abstract", "labelled_duplicates", "core_id", "cat"):
        rows = [{key: row[key] for key in row if key != name} for row in core_rows()]
        assert name in refused("core", [write(tmp_path / "core.parquet", rows)])
    rows = [{"article": "an article"}]
    assert "cluster" in refused("news-copy", [write(tmp_path / "news.parquet", rows)])
    rows = [{"article": "an article", "cluster": "first"}]
    assert "whole numbers" in refused("news-copy", [write(tmp_path / "news.parquet", rows)])
    rows = [{"article": "an article", "cluster": 1}, {"article": "another", "cluster": None}]
    assert "empty cells" in refused("news-copy", [write(tmp_path / "news.parquet", rows)])


def test_a_wrong_file_is_named(tmp_path):
    wrong = tmp_path / "wrong.parquet"
    wrong.write_bytes(b"this is no Parquet file")
    assert "wrong.parquet" in refused("core", [str(wrong)])
    assert "none.parquet" in refused("core", [str(tmp_path / "none.parquet")])
    swapped = write(tmp_path / "news.parquet", news_rows())
    problem = refused("core", [swapped])
    assert "processed_title" in problem
    assert "--text" not in problem
    assert "pinecone" in problem


def test_an_empty_file_is_refused(tmp_path):
    empty = pa.Table.from_pylist(core_rows()).slice(0, 0)
    pq.write_table(empty, tmp_path / "empty.parquet")
    assert "no documents" in refused("core", [str(tmp_path / "empty.parquet")])
    empty = pa.Table.from_pylist(news_rows()).slice(0, 0)
    pq.write_table(empty, tmp_path / "empty.parquet")
    assert "no documents" in refused("news-copy", [str(tmp_path / "empty.parquet")])


def test_rows_that_cannot_be_read_are_not_left_out(tmp_path):
    rows = [*news_rows(), {"article": None, "cluster": 9}]
    assert "complete" in refused("news-copy", [write(tmp_path / "news.parquet", rows)])


def test_a_folder_without_labels_is_refused(tmp_path):
    folder = Path(labelled(tmp_path / "labels", same=[("a", "b")], different=[]))
    assert "leave out" in refused(str(folder), ["more.parquet"])
    (folder / "pairs.jsonl").touch()
    assert "leave one" in refused(str(folder), [])
    (folder / "pairs.jsonl").unlink()
    (folder / "pairs.csv").write_text("a,b\nx,y\n")
    assert "ids of both must be the same" in refused(str(folder), [])
    (folder / "pairs.csv").unlink()
    assert "pairs.parquet" in refused(str(folder), [])
    assert "leave out --text" in refused("core", ["x.parquet"], {"text": "title"})
