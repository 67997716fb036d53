"""`nd.contamination`: what is found, whatever the form of the corpus and the benchmark."""

import json
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import neardup as nd
from neardup.kernels.reference import contamination as twin

QUESTION = "Natalia sold clips to 48 of her friends in April, and she sold half as many in May."

OTHER = "A robe takes two bolts of blue fiber and half that much white fiber, in total how many?"


def page(text, number=0):
    return (
        f"Page {number}. Some words of its own come first.\n\n{text}\n\nAnd others follow it here."
    )


def items_of(found):
    return found.items.to_pylist()


words = st.lists(st.sampled_from(["a", "b", "c", "d", "ü", "東", "ไ"]), max_size=30).map(" ".join)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    corpus=st.lists(words, min_size=1, max_size=5),
    items=st.lists(words, min_size=1, max_size=5),
    min_words=st.integers(1, 9),
)
def test_everything_is_as_the_definition_says(corpus, items, min_words):
    found = nd.contamination(corpus, items, min_words=min_words)
    made = [twin.Item.of([item], min_words, min(5, min_words)) for item in items]
    firsts, words_of = twin.same_as(made), list(map(len, twin.counted(made, 100)))
    by_document = [twin.scan(made, 100, document) for document in corpus]
    hits = [
        {"item": str(hit["item"]), "document": number, "start": hit["start"], "end": hit["end"]}
        for number, (some, _) in enumerate(by_document)
        for hit in some
    ]
    assert found.hits.select(["item", "document", "start", "end"]).to_pylist() == hits
    for number, row in enumerate(items_of(found)):
        own = [one for _, totals in by_document for one in totals if one["item"] == firsts[number]]
        covered = max((one["covered"] for one in own), default=0)
        assert row["documents"] == len(own)
        assert row["words"] == words_of[number]
        assert row["share"] == covered / max(1, words_of[number])
        assert row["longest"] == max((one["longest"] for one in own), default=0)
        assert row["same_as"] == (None if firsts[number] == number else str(firsts[number]))
    for row in found.hits.to_pylist():
        text = corpus[row["document"]]
        assert row["words"] == row["item_end"] - row["item_start"]
        part = text.encode()[row["start_byte"] : row["end_byte"]].decode()
        assert part == text[row["start"] : row["end"]]


def test_shares_over_one_and_over_all_documents():
    one, two = QUESTION.split(", and ")
    found = nd.contamination([page(one), page(f"and {two}")], [QUESTION, OTHER])
    first, second = items_of(found)
    assert first["documents"] == 2
    assert 0 < first["share"] < 1
    assert first["share_of_all"] == 1
    assert first["document"] == 0
    assert second == {
        **second,
        "documents": 0,
        "share": 0,
        "share_of_all": 0,
        "longest": 0,
        "document": None,
    }
    (row,) = found.benchmarks
    assert (row["items"], row["hit"], row["half"], row["whole"]) == (2, 1, 1, 0)


def test_documents_say_which_item_they_have_most_of():
    found = nd.contamination([page("nothing"), page(f"{OTHER} {QUESTION[:60]}")], [QUESTION, OTHER])
    (row,) = found.documents.to_pylist()
    assert (row["document"], row["items"], row["item"], row["item_share"]) == (1, 2, "1", 1.0)
    assert 0 < row["covered"] < row["words"]
    assert row["share"] == row["covered"] / row["words"]


@pytest.mark.parametrize(
    "disguise",
    [str.upper, lambda text: text.replace(" ", "\n"), lambda text: text.replace(",", " --")],
)
def test_disguises_do_not_matter(disguise):
    assert items_of(nd.contamination([page(disguise(QUESTION))], [QUESTION]))[0]["share"] == 1


def test_short_items_hit_only_as_a_whole():
    items = ["What is the capital of France?", "of the", "one two three four"]
    corpus = ["what is the capital of Germany", "Say: what is the CAPITAL\nof France, then"]
    whole, short, four = items_of(nd.contamination(corpus, items))
    assert (whole["documents"], whole["share"], whole["words"]) == (1, 1.0, 6)
    assert (short["words"], short["documents"]) == (0, 0)
    assert four["words"] == 0
    assert nd.contamination(corpus, items).benchmarks[0]["too_short"] == 2


def test_columns_are_fields_that_runs_do_not_cross():
    table = pa.table(
        {
            "question": ["one two three four five six seven eight nine"],
            "choices": [["ten eleven twelve thirteen", "a b c d e f g h i j"]],
            "answer": [None],
            "number": [3],
        },
        schema=pa.schema(
            [
                ("question", pa.string()),
                ("choices", pa.list_(pa.string())),
                ("answer", pa.string()),
                ("number", pa.int64()),
            ]
        ),
    )
    corpus = ["one two three four five six seven eight nine ten eleven", "A B C D E F G H I J"]
    found = nd.contamination(corpus, {"exam": table})
    (row,) = items_of(found)
    assert (row["benchmark"], row["words"], row["documents"]) == ("exam", 19, 2)
    assert found.benchmarks[0]["columns"] == ["question", "choices", "answer"]
    assert found.hits["words"].to_pylist() == [9, 10]
    only = nd.contamination(corpus, table, benchmark_text="question")
    assert items_of(only)[0]["words"] == 9
    assert only.benchmarks[0]["columns"] == ["question"]


def test_nested_columns_and_files(tmp_path):
    rows = [
        {"q": QUESTION, "choices": {"text": ["x", OTHER], "label": ["A", "B"]}},
        {"q": None, "choices": None},
    ]
    lines = "\n".join(map(json.dumps, rows))
    (tmp_path / "exam.v1.jsonl").write_text(lines, encoding="utf-8")
    found = nd.contamination([page(OTHER)], str(tmp_path / "exam.v1.jsonl"))
    first, second = items_of(found)
    assert (first["benchmark"], first["item"], first["documents"]) == ("exam.v1", "0", 1)
    assert second["words"] == 0


def test_files_of_one_name_are_told_apart(tmp_path):
    for name in ("mmlu", "arc"):
        (tmp_path / name).mkdir()
        table = pa.table({"id": [f"{name}-1"], "text": [QUESTION]})
        pq.write_table(table, tmp_path / name / "test.parquet")
    paths = [tmp_path / "mmlu" / "test.parquet", tmp_path / "arc" / "test.parquet"]
    found = nd.contamination([page(QUESTION)], paths)
    assert [one["name"] for one in found.benchmarks] == ["mmlu/test", "arc/test"]
    assert found.items["item"].to_pylist() == ["mmlu-1", "arc-1"]
    assert found.items["documents"].to_pylist() == [1, 1]


def test_identical_items_are_counted_alike():
    found = nd.contamination([page(QUESTION)], [QUESTION, OTHER, QUESTION.upper()])
    assert found.items["same_as"].to_pylist() == [None, None, "0"]
    assert found.items["share"].to_pylist() == [1, 0, 1]
    assert found.hits["item"].to_pylist() == ["0"]
    assert found.benchmarks[0]["whole"] == 2


def test_words_of_a_template_are_told():
    template = "Answer the following question by choosing one of the options below"
    items = [f"{template}: is {number} plus two even or odd or prime?" for number in range(120)]
    found = nd.contamination([template, page(items[5])], items)
    assert found.items["documents"].to_pylist() == [int(number == 5) for number in range(120)]
    # The words of the template do not count: an item is whole without them.
    alone = nd.contamination(["So: is 5 plus two even or odd or prime?"], items)
    assert (alone.items["share"][5].as_py(), alone.items["share_of_all"][5].as_py()) == (1, 1)
    assert set(found.items["words"].to_pylist()) == {8}
    common = found.summary["common"]
    assert common["runs"] > 0
    assert common["examples"][0] == {
        "words": "Answer the following question by choosing one of",
        "items": 120,
    }
    loose = nd.contamination([template], items, max_items=1000)
    assert set(loose.items["documents"].to_pylist()) == {1}


def make_corpus(path, documents, rows_per_file=50):
    path.mkdir()
    for first in range(0, len(documents), rows_per_file):
        rows = [
            {"id": f"d{first + place}", "text": text}
            for place, text in enumerate(documents[first : first + rows_per_file])
        ]
        (path / f"{first:05}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return str(path)


def some_documents(count, planted):
    chance = random.Random(5)
    vocabulary = [f"word{number}" for number in range(500)]
    documents = []
    for number in range(count):
        text = " ".join(chance.choices(vocabulary, k=60))
        documents.append(page(f"{text}. {chance.choice(planted)}", number))
    return documents


def test_threads_and_batches_do_not_matter(tmp_path):
    documents = some_documents(400, [QUESTION, OTHER, QUESTION[:70], "nothing"])
    corpus = make_corpus(tmp_path / "corpus", documents)
    runs = []
    for number, (source, threads) in enumerate(
        [
            (corpus, 1),
            (corpus, 4),
            (pa.table({"id": [f"d{i}" for i in range(400)], "text": documents}), 1),
        ]
    ):
        out = tmp_path / f"out{number}"
        nd.contamination(source, [QUESTION, OTHER], output=out, threads=threads, remove="passages")
        names = ("hits", "items", "documents", "kept", "removed_passages")
        tables = [pq.read_table(out / f"{name}.parquet") for name in names]
        runs.append([table.to_pylist() for table in tables])
    assert runs[0] == runs[1]
    assert runs[0] == runs[2]


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    """Nothing of a batch is alive once the next ones are read."""
    import gc
    import weakref

    from neardup.collection.source import FileSource
    from neardup.parts.contamination.items import open_benchmarks
    from neardup.parts.contamination.run import find_contamination
    from neardup.parts.contamination.settings import ContaminationSettings

    corpus = make_corpus(tmp_path / "corpus", some_documents(160, [QUESTION, "nothing"]), 20)
    chosen = ContaminationSettings.of(threads=1)
    alive, most = weakref.WeakSet(), 0

    class Watched(FileSource):
        def batches(self, progress=None):
            nonlocal most
            for batch in super().batches(progress):
                alive.add(batch)
                yield batch
                gc.collect()
                most = max(most, len(alive))

    source = Watched([corpus], chosen.reader)
    found = find_contamination(source, open_benchmarks([QUESTION], chosen), chosen, output=None)
    assert found.summary["documents"] == 160
    assert most <= 3


def test_hits_are_written_in_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr("neardup.parts.growing_table._ROW_GROUP", 10)
    corpus = make_corpus(tmp_path / "corpus", [page(QUESTION, number) for number in range(100)], 5)
    nd.contamination(corpus, [QUESTION], output=tmp_path / "out")
    file = pq.ParquetFile(tmp_path / "out" / "hits.parquet")
    assert file.metadata.num_rows == 100
    assert file.metadata.num_row_groups == 10


def test_the_worst_items_are_exact_however_many_there_are(monkeypatch):
    monkeypatch.setattr("neardup.parts.contamination.totals._EXAMPLES", 3)
    chance = random.Random(2)
    items = [" ".join(f"i{number}w{word}" for word in range(40)) for number in range(60)]
    corpus = []
    for item in items:
        corpus += [" ".join(item.split()[:size]) for size in chance.sample(range(8, 40), 3)]
    chance.shuffle(corpus)
    table = pa.chunked_array([[text] for text in corpus])
    found = nd.contamination(pa.table({"text": table}), items)
    rows = sorted(items_of(found), key=lambda row: (-row["share"], int(row["item"])))
    assert [(one.item, one.share) for one in found.worst] == [
        (row["item"], row["share"]) for row in rows[:3]
    ]
    assert all(one.run.split()[0].startswith(f"i{one.item}w") for one in found.worst)


def test_one_huge_item_and_one_huge_document():
    chance = random.Random(1)
    long = " ".join(f"w{chance.randrange(50_000)}" for _ in range(300_000))
    found = nd.contamination([f"start {long} end", "short"], [long, QUESTION])
    first, second = items_of(found)
    assert (first["share"], first["longest"], first["words"]) == (1.0, 300_000, 300_000)
    assert len(found.worst[0].run) < 3000
    assert second["documents"] == 0


@pytest.mark.parametrize("corpus", [[], [""], ["", None]])
def test_a_corpus_without_words(corpus, tmp_path):
    corpus = pa.table({"text": pa.array(corpus, pa.string())})
    found = nd.contamination(corpus, [QUESTION], output=tmp_path / "out", remove="documents")
    assert found.summary["documents"] == len(corpus)
    assert len(found.hits) == len(found.documents) == 0
    assert pq.read_table(tmp_path / "out" / "kept.parquet").num_rows == len(corpus)
    assert "No item occurs" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("files", [1, 2])
def test_a_folder_may_have_columns_of_other_names(files, tmp_path):
    for number in range(files):
        row = {"question": QUESTION, "answer": "72"}
        (tmp_path / f"{number}.jsonl").write_text(json.dumps(row) + "\n")
    found = nd.contamination([page(QUESTION)], f"{tmp_path}/")
    assert [item["documents"] for item in items_of(found)] == [1] * files


def test_bad_benchmarks_are_refused(tmp_path):
    with pytest.raises(nd.InputError, match="has no items"):
        nd.contamination(["a"], [])
    with pytest.raises(nd.InputError, match="no column of texts"):
        nd.contamination(["a"], pa.table({"number": [1, 2]}))
    with pytest.raises(nd.InputError, match="no column 'question'; its columns are 'text'"):
        nd.contamination(["a"], pa.table({"text": ["a"]}), benchmark_text="question")
    with pytest.raises(nd.InputError, match="holds int64, not texts"):
        nd.contamination(["a"], pa.table({"q": ["a"], "n": [1]}), benchmark_text="q+n")
    (tmp_path / "bad.jsonl").write_bytes(b'{"text": "\xff\xfe"}\n')
    with pytest.raises(nd.InputError, match="cannot read the only row"):
        nd.contamination(["a"], str(tmp_path / "bad.jsonl"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_words": 0}, "min_words=0 must be a whole number"),
        ({"min_words": 8.0}, "min_words=8.0 must be a whole number"),
        ({"max_items": 0}, "max_items=0 must be"),
        ({"remove": "words"}, "remove='words' is unknown; choose documents or passages"),
        ({"remove": "documents"}, "name it with output"),
        ({"remove_share": 0.5}, "remove_share is for remove"),
        ({"remove": "documents", "remove_share": 0}, "above 0 and at most 1"),
        ({"benchmark_text": "a++b"}, "must name columns"),
        ({"text": "a+b"}, "names fields"),
        ({"format": "xml"}, "xml"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(nd.SettingError, match=message):
        nd.contamination(["a"], [QUESTION], **settings)


def test_the_result_in_a_notebook():
    found = nd.contamination([page(QUESTION)], {"<b>": [QUESTION]})
    assert repr(found) == "ContaminationResult(1 of 1 items in 1 of 1 documents, 1 whole)"
    assert "&lt;b&gt;" in found._repr_html_()
    assert "<b>" not in found._repr_html_().replace("<b>ContaminationResult", "")


def test_rejected_rows_are_listed(tmp_path):
    (tmp_path / "corpus.jsonl").write_bytes(b'{"text": "fine"}\n{"text": 3}\nnonsense\n')
    (tmp_path / "exam.jsonl").write_text(
        json.dumps({"text": QUESTION}) + '\n{"text": []}\n', encoding="utf-8"
    )
    found = nd.contamination(
        str(tmp_path / "corpus.jsonl"), str(tmp_path / "exam.jsonl"), output=tmp_path / "out"
    )
    assert found.summary["rejected"] == 3
    lines = (tmp_path / "out" / "rejected.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["file"].rpartition("/")[2] for line in lines] == [
        "exam.jsonl",
        "corpus.jsonl",
        "corpus.jsonl",
    ]


def test_ids_may_be_numbers():
    table = pa.table({"id": np.array([70, 80]), "text": ["nothing", page(QUESTION)]})
    found = nd.contamination(table, [QUESTION])
    assert found.hits["document"].to_pylist() == [80]
    assert found.items["document"].to_pylist() == [80]


def test_the_plot_of_shares_counts_every_item():
    from neardup.report.plots.histograms import share_plot

    assert share_plot(np.zeros(0), 5) is None
    svg = share_plot(np.array([0.05, 0.1, 0.99, 1.0, 1.0]), 9)
    assert "5 of 9 items" in svg
    assert "2 are whole" in svg
    assert "0.95 to 1.00: 3 items" in svg


def test_items_keep_their_ids_beside_other_columns(tmp_path):
    path = tmp_path / "quiz.jsonl"
    question = "What is the airspeed velocity of an unladen swallow in the rain?"
    path.write_text(json.dumps({"id": "q1", "question": question, "answer": "eleven"}) + "\n")
    found = nd.contamination([f"He asked: {question}"], str(path))
    assert found.items["item"].to_pylist() == ["q1"]
    assert found.items["share"].to_pylist() == [1.0]
