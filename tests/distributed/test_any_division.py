"""The result depends on the documents alone, and not on how they are divided among tasks."""

from __future__ import annotations

import json

from hypothesis import given, settings, strategies as st
from tests.distributed.both_engines import assert_same_output, run_distributed, run_local
from tests.distributed.planted import write_parquet

from neardup.distributed.run import Sizes
from neardup.engines.exchange import InProcess

words = st.sampled_from(["a", "b", "c", "d", "e", "ü", "天", "地", "😀", "1"])
texts = st.lists(words, max_size=12).map(" ".join)


@st.composite
def collections(draw):
    """Texts, of which many are copies of others or differ in one word."""
    base = draw(st.lists(texts, min_size=1, max_size=8))
    found = list(base)
    for place, word in draw(st.lists(st.tuples(st.integers(0, 7), st.none() | words), max_size=25)):
        text = base[place % len(base)]
        found.append(text if word is None else f"{text} {word}")
    return draw(st.permutations(found))


def lines_of(rows):
    return [json.dumps(row, ensure_ascii=False) for row in rows]


@settings(max_examples=40)
@given(
    collections(),
    st.builds(
        Sizes,
        st.integers(1, 400),
        st.integers(1, 200),
        st.sampled_from([1, 15, 1 << 24]),
        st.sampled_from([1, 1 << 25]),
    ),
    st.integers(1, 5),
    st.sampled_from(["star", "components", "dense"]),
    st.sampled_from(["first", "longest", "each:2", "none"]),
    st.sampled_from([0.4, 0.8]),
    st.sampled_from(["word:1", "char:3"]),
    st.sampled_from(["set", "count", "tfidf"]),
    st.sampled_from(["evidence", "all"]),
)
def test_any_division_gives_the_same(
    tmp_path_factory,
    documents,
    sizes,
    cores,
    cluster,
    keep,
    threshold,
    features,
    weights,
    pairs,
):
    folder = tmp_path_factory.mktemp("run")
    (folder / "a.jsonl").write_text("\n".join(lines_of([{"text": one} for one in documents])))
    chosen = {
        "cluster": cluster,
        "keep": keep,
        "threshold": threshold,
        "features": features,
        "weights": weights,
        "pairs": pairs,
    }
    run_local(folder / "a.jsonl", folder / "local", **chosen)
    run_distributed(
        folder / "a.jsonl",
        folder / "other",
        engine=InProcess(cores),
        sizes=sizes,
        **chosen,
    )
    assert_same_output(folder / "local", folder / "other")


@settings(max_examples=15)
@given(
    collections(),
    collections(),
    st.integers(1, 9),
    st.integers(1, 2000),
    st.integers(1, 100),
    st.booleans(),
)
def test_any_division_of_two_collections_gives_the_same(
    tmp_path_factory, documents, others, group, split_bytes, bin_features, within
):
    folder = tmp_path_factory.mktemp("run")
    rows = [{"id": number, "text": one} for number, one in enumerate(documents)]
    write_parquet(folder / "a.parquet", rows, group)
    (folder / "b.jsonl").write_text("\n".join(lines_of([{"text": one} for one in others])))
    chosen = {"against": folder / "b.jsonl", "within": within, "features": "word:1"}
    run_local(folder / "a.parquet", folder / "local", **chosen)
    sizes = Sizes(split_bytes, bin_features)
    run_distributed(folder / "a.parquet", folder / "other", sizes=sizes, **chosen)
    assert_same_output(folder / "local", folder / "other")
