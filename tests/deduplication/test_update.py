"""`dedup --against seen.index --update`: collections that come delivery by delivery."""

import json
import os
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.needs_posix import READS_EVERYTHING

import neardup as nd
from neardup.cli.app import app
from neardup.errors import InputError, NeardupError, SettingError
from neardup.index.intake import Documents

MANY = pytest.mark.usefixtures("folder")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(name, texts, ids=None):
    """A file of documents, with these ids or without any."""
    path = Path(name)
    path.parent.mkdir(exist_ok=True, parents=True)
    lines = [{"text": text} for text in texts]
    if ids is not None:
        lines = [{"id": id, **line} for id, line in zip(ids, lines, strict=True)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def documents(seed, count):
    """Texts with planted edits and exact copies of earlier ones, and empty ones."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        kind = chance.random()
        if found and kind < 0.35:
            words = list(chance.choice(found))
            for _ in range(chance.randrange(3)):
                if words:
                    words[chance.randrange(len(words))] = f"x{chance.randrange(50)}"
        elif kind < 0.4:
            words = []
        else:
            words = [f"w{chance.randrange(300)}" for _ in range(chance.randrange(2, 50))]
        found.append(words)
    return [" ".join(words) for words in found]


def run(*arguments):
    return CliRunner().invoke(app, ["dedup", *map(str, arguments)])


def done(*arguments):
    ran = run(*arguments, "--quiet")
    assert ran.exit_code == 0, ran.output + repr(ran.exception)


def refused(*arguments):
    """The sentence of a run that is refused; neither an output nor an index is left."""
    before = sorted(os.listdir())
    ran = run(*arguments)
    assert isinstance(ran.exception, NeardupError), ran.exception
    assert sorted(os.listdir()) == before
    return str(ran.exception)


def kept_in(out):
    return pq.read_table(f"{out}/kept.parquet")["text"].to_pylist()


def count(index):
    with nd.Index(index, create=False) as opened:
        return len(opened)


RECIPES = [
    {},
    {"threads": 1, "memory": "1KB"},
    {"weights": "count"},
    {"features": "word:1"},
    {"features": "char:4", "pairs": "all"},
    {"similarity": "hamming", "candidates": "auto"},
]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    seed=st.integers(0, 10**9),
    size=st.integers(1, 80),
    cuts=st.lists(st.floats(0, 1), max_size=3),
    threshold=st.sampled_from([0.5, 0.7, 0.8, 0.9, 1.0]),
    recipe=st.sampled_from(RECIPES),
    with_ids=st.booleans(),
    repeated=st.booleans(),
)
def test_deliveries_leave_the_same_as_all_at_once(
    tmp_path_factory, seed, size, cuts, threshold, recipe, with_ids, repeated
):
    texts = documents(seed, size)
    if recipe.get("similarity") == "hamming":
        threshold = round(10 * (1 - threshold))
    whole = nd.dedup(texts, threshold=threshold, **recipe)
    expected = {
        removed: (of, similarity)
        for removed, of, similarity in zip(
            *(whole.clusters[name].to_pylist() for name in ("id", "duplicate_of", "similarity")),
            strict=True,
        )
        if of is not None
    }
    folder = tmp_path_factory.mktemp("deliveries")
    index = folder / "seen.index"
    ends = sorted({round(cut * size) for cut in cuts} | {size} - {0})
    found, names, begin = {}, {}, 0
    for number, end in enumerate(ends):
        ids = [f"d{place}" for place in range(begin, end)] if with_ids else None
        file = written(folder / f"{number}.jsonl", texts[begin:end], ids)
        for place in range(begin, end):
            names[str(file), f"d{place}" if with_ids else str(place - begin)] = place
            names[str(file), f"{file}:{place - begin}"] = place

        def update(file=file):
            return nd.dedup(file, against=index, update=True, threshold=threshold, **recipe)

        result = update()
        if repeated:
            again = update()
            assert again.removed.equals(result.removed)
            assert again.kept.equals(result.kept)
        removed = result.removed
        places = np.flatnonzero(~result.keeps) + begin
        for place, of, source, similarity in zip(
            places.tolist(),
            *(
                removed[name].to_pylist()
                for name in ("duplicate_of", "duplicate_of_source", "similarity")
            ),
            strict=True,
        ):
            found[place] = (names[source, str(of)], similarity)
        begin = end
    assert found.keys() == expected.keys()
    assert count(index) == size - len(expected)
    for place, (of, similarity) in found.items():
        assert similarity == pytest.approx(expected[place][1])
        assert of == expected[place][0]


def test_which_document_of_which_delivery(folder):
    texts = [f"the page number {n} has words {n} like none of all the others {n}" for n in range(4)]
    written("jan.jsonl", texts[:2], ["a", "b"])
    written("feb.jsonl", [texts[1], texts[2], texts[2] + "!"], ["c", "d", "e"])
    done("jan.jsonl", "-o", "jan", "--against", "seen.index", "--update")
    done("feb.jsonl", "-o", "feb", "--against", "seen.index", "--update", "--pairs", "all")
    removed = pq.read_table("feb/removed.parquet")
    assert removed["id"].to_pylist() == ["c", "e"]
    assert removed["duplicate_of"].to_pylist() == ["b", "d"]
    assert removed["duplicate_of_source"].to_pylist() == ["jan.jsonl", "feb.jsonl"]
    assert removed["duplicate_of_added"].is_valid().to_pylist() == [True, False]
    assert removed["duplicate_of_added"].type == pa.timestamp("ms", "UTC")
    clusters = pq.read_table("feb/clusters.parquet").to_pylist()
    assert [row["duplicate_of_source"] for row in clusters] == ["jan.jsonl", None, "feb.jsonl"]
    pairs = pq.read_table("feb/pairs.parquet")
    assert pairs.select(["a", "b", "b_source"]).to_pylist() == [
        {"a": "c", "b": "b", "b_source": "jan.jsonl"},
        {"a": "d", "b": "e", "b_source": "feb.jsonl"},
    ]
    summary = json.loads(Path("feb/summary.json").read_text())
    assert (summary["source"], len(summary["delivery"])) == ("feb.jsonl", 16)
    assert (summary["repeats_index"], summary["repeats_input"]) == (1, 1)
    assert summary["repeated"] == [{"source": "jan.jsonl", "documents": 1}]
    assert summary["within"] is True
    assert "in the index, from jan.jsonl" in Path("feb/report.html").read_text()
    first = json.loads(Path("jan/summary.json").read_text())
    assert (first["repeats_index"], first["repeated"]) == (0, [])
    assert "duplicate_of_source" in pq.read_schema("jan/removed.parquet").names
    with nd.Index("seen.index") as index:
        assert list(index.ids()) == ["a", "b", "d"]
        about = index.get("d").metadata
        assert about == {"source": "feb.jsonl", "delivery": summary["delivery"]}
        assert index.settings.complete


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_the_columns_in_other_formats(folder, format):
    text = "some words that are all in both of the two deliveries"
    written("1.jsonl", [text])
    written("2.jsonl", [text])
    for name in "12":
        line = [f"{name}.jsonl", "-o", name, "--against", "i", "--update", "--format", format]
        done(*line)
    said = Path(f"2/removed.{format}").read_text()
    assert "duplicate_of_added" in said
    assert "1.jsonl:0" in said
    assert "20" in said


def test_a_document_of_the_delivery_wins_if_it_is_more_similar(folder):
    words = [f"w{n}" for n in range(100)]
    old, new, edited = (
        " ".join([*words[:end], *(f"z{n}" for n in range(end, 100))]) for end in (90, 75, 78)
    )
    nd.dedup([old], against="i", update=True, threshold=0.6)
    result = nd.dedup([new, edited], against="i", update=True, threshold=0.72)
    alone = nd.dedup([old, new, edited], threshold=0.72)
    assert alone.clusters["duplicate_of"].to_pylist() == [None, 1]
    assert result.removed["duplicate_of"].to_pylist() == ["0"]
    assert result.removed["duplicate_of_source"].to_pylist() == ["memory"]
    assert result.removed["similarity"].to_pylist() == alone.removed["similarity"].to_pylist()


def test_repeating_a_run_changes_nothing(folder):
    texts = documents(1, 60)
    written("jan.jsonl", texts[:30])
    written("feb.jsonl", texts[30:])
    line = ["feb.jsonl", "-o", "feb", "--against", "i", "--update", "--overwrite"]
    done("jan.jsonl", "-o", "jan", "--against", "i", "--update")
    done(*line)
    before = {name: Path("feb", name).read_bytes() for name in ("kept.parquet", "removed.parquet")}
    documents_before = count("i")
    ran = run(*line)
    assert "0 added" in ran.output
    assert "there already" in ran.output
    for name, data in before.items():
        assert Path("feb", name).read_bytes() == data
    assert count("i") == documents_before


@pytest.mark.parametrize("recipe", [{}, {"similarity": "hamming", "threshold": 3}])
def test_a_file_of_the_same_name_is_another_delivery(folder, recipe):
    """Every day the same name, and mostly the same documents with the same ids."""
    texts = documents(2, 40)
    kept = []
    for day in range(3):
        written("export.jsonl", texts[: 20 + 10 * day], range(20 + 10 * day))
        kept += nd.dedup("export.jsonl", against="i", update=True, **recipe).kept["id"].to_pylist()
    kept = list(dict.fromkeys(kept))  # empty documents are kept every day
    assert kept == nd.dedup("export.jsonl", **recipe).kept["id"].to_pylist()
    assert count("i") == len(kept)


@pytest.mark.parametrize("with_ids", [False, True])
def test_the_output_is_complete_before_the_index_is_changed(folder, monkeypatch, with_ids):
    texts = documents(3, 60)
    ids = range(60) if with_ids else None
    written("old.jsonl", texts[:20], None if ids is None else ids[:20])
    written("new.jsonl", texts[20:], None if ids is None else ids[20:])
    line = ["-o", "out", "--against", "i", "--update", "--overwrite"]
    done("old.jsonl", *line)
    before = count("i")
    real = nd.Index.add_counted

    def killed(self, batches, **more):
        assert Path("out/summary.json").exists()
        some = next(iter(batches))
        half = Documents(
            some.ids.slice(0, 7),
            [type(some.held[0])(some.held[0].texts.slice(0, 7))],
            some.metadata.slice(0, 7),
            some.made,
        )
        real(self, [half], **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(nd.Index, "add_counted", killed)
    assert run("new.jsonl", *line).exit_code != 0
    first = kept_in("out")
    assert count("i") == before + 7
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    done("new.jsonl", *line)
    assert kept_in("out") == first
    assert count("i") == before + len(first)


def test_deliveries_without_ids_replace_nothing(folder):
    texts = [f"page {n} of {n} with {n} words that no other page has {n * 7}" for n in range(40)]
    written("jan/rows.jsonl", texts[:20])
    written("feb/rows.jsonl", texts[20:])
    for month in ("jan", "feb", "feb"):
        os.chdir(folder / month)
        done("rows.jsonl", "-o", "out", "--against", "../update.index", "--update", "--overwrite")
        done("rows.jsonl", "-o", "out", "--index", "../index.index", "--overwrite")
    os.chdir(folder)
    assert (count("update.index"), count("index.index")) == (40, 40)
    for part in (texts[:20], texts[20:], texts[20:]):
        lines = "".join(json.dumps({"text": text}) + "\n" for text in part)
        line = ["dedup", "-", "-o", "out", "--against", "input.index", "--update", "--overwrite"]
        assert CliRunner().invoke(app, line, input=lines).exit_code == 0
        nd.dedup(part, against="memory.index", update=True)
    assert (count("input.index"), count("memory.index")) == (40, 40)


@pytest.mark.parametrize("how", [["--against", "i", "--update"], ["--index", "i"]])
def test_documents_of_another_delivery_are_replaced_only_if_asked(folder, how):
    texts = [f"page {n} of {n} with {n} words that no other page has {n * 7}" for n in range(9)]
    written("a.jsonl", texts[:3], [1, 2, 3])
    written("b.jsonl", texts[3:6], [3, 4, 5])
    done("a.jsonl", "-o", "a", *how)
    said = refused("b.jsonl", "-o", "b", *how)
    assert said == (
        "i has other documents from a.jsonl under the id 3, which this run would replace; nothing "
        "was written: give the documents other ids, or use --replace"
    )
    assert count("i") == 3
    done("b.jsonl", "-o", "b", *how, "--replace")
    with nd.Index("i") as index:
        assert len(index) == 5
        assert index.query(texts[3])[0].id == 3
        assert not index.query(texts[2])
    with pytest.raises(InputError, match="2 ids, the first 1, which"):
        nd.dedup([{"id": 1, "text": "x y z"}, {"id": 2, "text": "p q r"}], against="i", update=True)


def test_a_new_version_replaces_the_old_one(folder):
    text = " ".join(f"w{n}" for n in range(60))
    nd.dedup([{"id": "page", "text": text}], against="i", update=True)
    new = [{"id": "page", "text": text + " edited"}]
    assert len(nd.dedup(new, against="i", update=True).kept) == 0
    assert len(nd.dedup(new, against="i", update=True, replace=True).kept) == 1
    with nd.Index("i") as index:
        assert (len(index), index.query(text)[0].similarity < 1) == (1, True)


def test_an_index_is_asked_and_not_read(folder, monkeypatch):
    texts = documents(5, 80)
    kept = nd.dedup(texts[:50], against="i", update=True)
    monkeypatch.setattr(nd.Index, "entries", None)
    for within in (False, True):
        found = nd.dedup(texts[50:], against="i", within=within)
        files = nd.dedup(texts[50:], against=kept.kept, within=within)
        assert found.keeps.tolist() == files.keeps.tolist()
        assert found.removed["similarity"].equals(files.removed["similarity"])
        every = nd.dedup(texts[50:], against="i", within=within, pairs="all", threshold=0.9)
        listed = nd.dedup(texts[50:], against=kept.kept, within=within, pairs="all", threshold=0.9)
        columns = ["a", "distance", "similarity"]
        assert every.pairs.select(columns).equals(listed.pairs.select(columns))
        assert len(every.rethreshold(0.95).removed) == len(listed.rethreshold(0.95).removed)
    assert "complete" in found.summary["reason"]


def test_stored_texts_are_shown(folder):
    text = "some words that the index stores as a text of its own"
    with nd.Index("texts", store_text=True) as index:
        index.add("a", text, {"source": "by hand"})
    with nd.Index("none") as index:
        index.add(7, text)
    result = nd.dedup([text], against="texts")
    assert result.weakest()["text_b"].to_pylist() == [text]
    assert result.removed["duplicate_of_source"].to_pylist() == ["by hand"]
    result = nd.dedup([text], against="none")
    assert result.weakest()["text_b"].to_pylist() == ["(the index stores no texts)"]
    assert result.removed["duplicate_of"].to_pylist() == ["7"]
    table = pa.table({"id": [5], "text": [text]})
    assert nd.dedup(table, against="none").removed["duplicate_of"].to_pylist() == [7]
    assert result.removed["duplicate_of_source"].to_pylist() == [None]
    assert "an expected 0.999" in result.summary["reason"]


def test_bands_within_and_an_index(folder):
    texts = documents(6, 60)
    nd.dedup(texts[:30], against="i", update=True, bits=640)
    recipe = {"bits": 640, "candidates": "bands:40x16", "threshold": 0.9}
    found = nd.dedup(texts[30:], against="i", within=True, **recipe)
    assert (
        found.keeps.tolist()
        == nd.dedup(
            texts[30:], against=nd.dedup(texts[:30]).kept, within=True, **recipe
        ).keeps.tolist()
    )


def test_a_resumed_run_is_the_same_delivery(folder, monkeypatch):
    written("in.jsonl", documents(7, 30))
    line = ["in.jsonl", "-o", "out", "--index", "i", "--overwrite"]
    done(*line)

    def stopped(*arguments, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("neardup.deduplication.save.write_rows", stopped)
        assert run(*line, "--resume").exit_code != 0
    done(*line, "--resume")
    summary = json.loads(Path("out/summary.json").read_text())
    assert summary["resumed"] == ["features", "pairs"]
    with nd.Index("i") as index:
        assert len(index) == summary["kept"]
        assert {index.get(id).metadata["delivery"] for id in index.ids()} == {summary["delivery"]}


@MANY
@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--against", "i", "--update", "--threshold", 0.7], "i finds documents of jaccard ≥ 0.8"),
        (["--against", "i", "--threshold", 0.7], "but the threshold is 0.7; use at least 0.8"),
        (["--against", "i", "--floor", 0.5], "but the floor is 0.5; use at least 0.8"),
        (["--against", "i", "--similarity", "cosine"], "i finds documents by jaccard, but"),
        (["--against", "i", "--similarity", "hamming", "--threshold", 3], "by jaccard, but"),
        (["--against", "i", "--update", "--bits", 128], "nd1/word:3/set/128"),
        (["--against", "i", "--update", "--cluster", "components"], "use cluster=star"),
        (["--against", "i", "--within", "--cluster", "components"], "use cluster=star"),
        (["--against", "i", "--update", "--cluster", "dense"], "cluster=dense:0.25 cannot be"),
        (["--against", "i", "--within", "--cluster", "dense:0.5"], "use cluster=star"),
        (["--against", "i", "--update", "--keep", "each:2"], "use keep=first"),
        (["--against", "i", "--update", "--keep", "none"], "use keep=first"),
        (["--against", "i", "--update", "--resume"], "repeat the same command"),
        (["--against", "i", "--update", "--index", "j"], "leave out --index"),
        (["--against", "i", "--against", "in.jsonl"], "i is an index, which cannot be combined"),
        (["--against", "i", "--against", "in.jsonl", "--update"], "--update needs one index"),
        (["--against", "in.jsonl", "--update"], "in.jsonl is not an index"),
        (["--against", "none/i", "--update"], "there is no folder"),
        (["--against", "new", "--update", "--similarity", "cosine"], "use jaccard"),
        (["--against", "new", "--update", "--weights", "tfidf"], "needs a table to weigh by"),
        (["--update"], "--update needs one index; name it with --against"),
        (["--replace"], "use --update or --index"),
    ],
)
def test_what_cannot_be_is_refused(more, says):
    written("in.jsonl", ["some words in a row"])
    nd.Index("i").close()
    assert says in refused("in.jsonl", "-o", "out", *more)


@pytest.mark.skipif(READS_EVERYTHING, reason="root may write anywhere")
def test_a_write_protected_index_is_refused(folder):
    written("in.jsonl", ["some words in a row"])
    nd.Index("i").close()
    os.chmod("i", 0o500)
    assert "i cannot be written" in refused("in.jsonl", "-o", "out", "--against", "i", "--update")


@MANY
def test_python_refuses_the_same():
    with pytest.raises(SettingError, match="needs an index; give its folder as against"):
        nd.dedup(["a b c"], update=True)
    with pytest.raises(SettingError, match="needs an index"):
        nd.dedup(["a b c"], against=["d e f"], update=True)
    with pytest.raises(SettingError, match=r"replace=True is for update=True"):
        nd.dedup(["a b c"], against="i", replace=True)
    with pytest.raises(SettingError, match=r"use at least 0\.8"):
        nd.Index("i").close()
        nd.dedup(["a b c"], against="i", update=True, threshold=0.5)


@MANY
def test_no_documents_and_empty_documents():
    nd.dedup([], against="i", update=True)
    result = nd.dedup(["", "!", "a b c"], against="i", update=True)
    assert (len(result.kept), count("i")) == (3, 3)
    assert len(nd.dedup(["", "a b c"], against="i", update=True).kept) == 1
    assert nd.dedup([], against="i").summary["documents"] == 0
