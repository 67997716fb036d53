"""The corpus without contaminated documents or passages, and what was cut out put back."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

import neardup as nd
from neardup.parts.contamination.removal import MarkedRanges, Marks, sentences_around
from neardup.parts.cutting import put_back

QUESTION = "Natalia sold clips to 48 of her friends in April, and she sold half as many in May."

SHORT = "How many clips did Natalia sell altogether?"


def restored(corpus, kept, passages):
    parts = {}
    for row in passages.to_pylist():
        parts.setdefault(row["document"], []).append((row["start"], row["text"]))
    return [put_back(text, parts.get(number, [])) for number, text in enumerate(kept)] == corpus


def run(tmp_path, corpus, items, **chosen):
    out = tmp_path / "out"
    found = nd.contamination(corpus, items, output=out, overwrite=True, **chosen)
    rows = {name.stem: name for name in out.iterdir()}
    return found, rows


sentences = st.sampled_from(
    [
        "It was so. ",
        QUESTION,
        f"“{QUESTION.upper()}” he said. ",
        SHORT,
        "\n\n",
        "東京は日本の首都です。",
        "Ünï 😀 çödé! ",
        QUESTION[:70] + " it ends otherwise. ",
        "",
    ]
)


@settings(deadline=None, max_examples=40)
@given(corpus=st.lists(st.lists(sentences, max_size=6).map("".join), min_size=1, max_size=6))
def test_what_is_cut_out_can_be_put_back(tmp_path_factory, corpus):
    found, files = run(tmp_path_factory.mktemp("run"), corpus, [QUESTION, SHORT], remove="passages")
    kept = pq.read_table(files["kept"])["text"].to_pylist()
    passages = pq.read_table(files["removed_passages"])
    assert restored(corpus, kept, passages)
    for row in passages.to_pylist():
        text = corpus[row["document"]]
        assert text[row["start"] : row["end"]] == row["text"]
        assert text.encode()[row["start_byte"] : row["end_byte"]].decode() == row["text"]
    # Nothing that would be removed is left, unless removing has joined two halves.
    again = nd.contamination(kept, [QUESTION, SHORT]).documents.to_pylist()
    left = {row["document"] for row in again if row["item_share"] >= 0.5}
    assert left <= set(passages["document"].to_pylist())
    assert found.summary["removed_passages"] == len(passages)


def test_whole_sentences_go_and_nothing_else(tmp_path):
    before, after = "First there is this. ", "And then there is that."
    corpus = [f"{before}He asked: {QUESTION} {after}", "Clean, as before.", QUESTION]
    _, files = run(tmp_path, corpus, [QUESTION], remove="passages")
    kept = pq.read_table(files["kept"])
    assert kept["text"].to_pylist() == [before + after, corpus[1], ""]
    passages = pq.read_table(files["removed_passages"]).to_pylist()
    assert [row["text"] for row in passages] == [f"He asked: {QUESTION} ", QUESTION]
    assert "removed" not in files


def test_other_columns_stay_as_they_are(tmp_path):
    table = pa.table({"id": ["a", "b"], "text": [f"So. {QUESTION}", "no"], "n": [1, 2]})
    _, files = run(tmp_path, table, [QUESTION], remove="passages")
    kept = pq.read_table(files["kept"]).to_pylist()
    assert kept == [{"id": "a", "text": "So. ", "n": 1}, {"id": "b", "text": "no", "n": 2}]
    assert pq.read_table(files["removed_passages"])["document"].to_pylist() == ["a"]


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv"])
def test_documents_go_with_the_reason(tmp_path, format):
    table = pa.table({"id": ["a", "b", "c"], "text": ["no", QUESTION, QUESTION[:39]]})
    found, files = run(tmp_path, table, {"exam": [QUESTION]}, remove="documents", format=format)
    assert found.summary["removed_documents"] == 1
    if format == "parquet":
        kept = pq.read_table(files["kept"]).to_pylist()
        (removed,) = pq.read_table(files["removed"]).to_pylist()
        assert removed == {
            "id": "b",
            "text": QUESTION,
            "benchmark": "exam",
            "item": "0",
            "item_share": 1.0,
        }
    elif format == "jsonl":
        kept = [json.loads(line) for line in files["kept"].read_text("utf-8").splitlines()]
        assert json.loads(files["removed"].read_text("utf-8"))["benchmark"] == "exam"
    else:
        assert files["kept"].read_text("utf-8").splitlines()[0] == '"id","text"'
        assert "exam" in files["removed"].read_text("utf-8")
        return
    assert [row["id"] for row in kept] == ["a", "c"]
    assert {row["document"]: row["removed"] for row in found.documents.to_pylist()} == {
        "b": True,
        "c": False,
    }


def test_the_share_decides(tmp_path):
    half = QUESTION[:60]
    for share, gone in ((0.9, 0), (0.5, 1), (0.3, 1)):
        found, _ = run(tmp_path, [half], [QUESTION], remove="documents", remove_share=share)
        assert found.summary["removed_documents"] == gone


def test_rows_whose_types_show_late(tmp_path):
    rows = [{"text": f"page {number} {'x ' * 3000}"} for number in range(1500)]
    rows[3]["text"] += QUESTION
    rows[-1] |= {"text": f"So. {QUESTION}", "note": "late"}
    lines = "\n".join(map(json.dumps, rows))
    (tmp_path / "corpus.jsonl").write_text(lines, encoding="utf-8")
    _, files = run(tmp_path, str(tmp_path / "corpus.jsonl"), [QUESTION], remove="passages")
    kept = pq.read_table(files["kept"])
    assert kept["note"].to_pylist()[-1] == "late"
    assert restored(
        [row["text"] for row in rows],
        kept["text"].to_pylist(),
        pq.read_table(files["removed_passages"]),
    )
    _, files = run(tmp_path, str(tmp_path / "corpus.jsonl"), [QUESTION], remove="documents")
    assert pq.read_table(files["removed"])["note"].to_pylist() == [None, "late"]
    assert len(pq.read_table(files["kept"])) == 1498


def test_columns_of_the_reason_take_other_names_if_theirs_are_taken(tmp_path):
    table = pa.table({"text": [QUESTION], "item": ["mine"]})
    _, files = run(tmp_path, table, [QUESTION], remove="documents")
    (row,) = pq.read_table(files["removed"]).to_pylist()
    assert (row["item"], row["item_1"]) == ("mine", "0")


@given(st.lists(st.sets(st.integers(0, 40), max_size=4), min_size=1, max_size=30), st.data())
def test_marks_are_read_in_pieces(tmp_path_factory, documents, data):
    path = tmp_path_factory.mktemp("marks") / "marks.parquet"
    rows = [row for row, begins in enumerate(documents) for _ in begins]
    begins = [begin for some in documents for begin in sorted(some)]
    numbers = np.array(begins, np.int64)
    marks = Marks(np.array(rows, np.int64), numbers, numbers + 1, numbers, numbers / 2)
    pq.write_table(marks.table(), path, row_group_size=3)
    reader = MarkedRanges(path, len(documents))
    for _ in range(2):
        found, first = [], 0
        while first < len(documents):
            count = data.draw(st.integers(1, len(documents) - first))
            some = reader.of(first, count)
            found += zip((some.row + first).tolist(), some.start_byte.tolist(), strict=True)
            first += count
        assert found == list(zip(rows, begins, strict=True))
        reader.require_end()
        reader.restart()
    with pytest.raises(nd.InputError, match="the corpus changed"):
        reader.of(0, len(documents) + 1)
    with pytest.raises(nd.InputError, match="the corpus changed"):
        reader.require_end()


def test_ranges_grow_to_sentences():
    text = "One two. Three four. Five six. Seven."
    texts = pa.array(["", text, text], pa.large_string())
    rows, begins, ends = (np.array(some) for some in ([1, 1, 2], [4, 22, 0], [12, 24, 3]))
    found = sentences_around(texts, rows, begins, ends)
    assert [column.tolist() for column in found] == [[1, 2], [0, 0], [31, 9]]
