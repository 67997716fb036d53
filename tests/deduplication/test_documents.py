"""`Result.documents` and `Result.kept_rows`: what became of every document of the input."""

import pyarrow as pa
import pytest
from tests.deduplication.planted import planted_texts

import neardup as nd

BASE = " ".join(f"w{number}" for number in range(30))
ROWS = [
    {"id": "a", "text": BASE},
    {"id": "b", "text": "something else"},
    {"id": "c", "text": BASE + " more"},
    {"id": "d", "text": None},
    {"id": "e", "text": BASE + "!"},
]


def test_every_document_has_a_row_in_the_order_of_the_input():
    found = nd.dedup(ROWS).documents.to_pydict()
    assert found == {
        "id": ["a", "b", "c", "d", "e"],
        "kept": [True, True, False, True, False],
        "cluster": [0, None, 0, None, 0],
        "duplicate_of": [None, None, "a", None, "a"],
        "similarity": [None, None, 28 / 29, None, 1.0],
    }


@pytest.mark.parametrize(
    "settings",
    [{}, {"cluster": "components"}, {"keep": "longest"}, {"keep": "none"}, {"keep": "each:2"}],
    ids=str,
)
def test_it_agrees_with_the_other_tables(settings, tmp_path):
    texts = planted_texts(100, share=0.4, seed=3)
    result = nd.dedup(texts, pairs="all", threshold=0.7, **settings)
    assert len(result.clusters) > 40
    documents, places = result.documents, result.kept_rows.tolist()
    assert documents["id"].to_pylist() == list(range(len(texts)))
    assert result.kept["text"].to_pylist() == [texts[place] for place in places]
    assert [place for place, kept in enumerate(documents["kept"].to_pylist()) if kept] == places
    in_clusters = documents.filter(documents["cluster"].is_valid())
    order = [("cluster", "ascending"), ("id", "ascending")]
    names = result.clusters.column_names
    assert in_clusters.sort_by(order).select(names) == result.clusters
    result.save(tmp_path / "out")
    again = nd.Result.load(tmp_path / "out")
    assert again.documents == documents


def test_beside_another_collection_it_says_where_the_other_document_is():
    rows = pa.table({"text": [BASE, "new", "new too"]})
    result = nd.dedup(rows, against=pa.table({"text": ["old", BASE]}))
    assert result.kept_rows.tolist() == [1, 2]
    assert result.documents.to_pylist()[0] == {
        "id": 0,
        "kept": False,
        "cluster": 0,
        "duplicate_of": 1,
        "similarity": 1.0,
        "duplicate_of_other": True,
    }
    assert result.documents["duplicate_of_other"].to_pylist() == [True, None, None]


@pytest.mark.parametrize("rows", [[], ["only one"]], ids=["none", "one"])
def test_few_documents(rows):
    result = nd.dedup(rows)
    assert result.documents["kept"].to_pylist() == [True] * len(rows)
    assert result.kept_rows.tolist() == list(range(len(rows)))
