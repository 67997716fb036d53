"""Pairs to label: spread over similarities, each once, no exact copies, always the same."""

from collections import Counter

import numpy as np
import pytest
from tests.lab.tune import made

import neardup as nd
from neardup.lab.tune.measures import Measure
from neardup.lab.tune.propose import proposed_pairs
from neardup.labels import read_labels, write_pairs_to_label

CHOSEN = Measure("word:1", "tfidf", "weighted-jaccard")


def proposed(table, number=200, known=None):
    return proposed_pairs(made.pool(table), CHOSEN, 10, number, known)


def keys(pairs):
    return list(zip(pairs.a.to_pylist(), pairs.b.to_pylist(), strict=True))


def test_pairs_are_unique_and_no_exact_copies():
    table = made.people(200)
    twice = table.slice(0, 50).set_column(0, "id", [[f"copy{n}" for n in range(50)]])
    pairs = proposed(nd_concat(table, twice))
    assert len(pairs) == len(set(keys(pairs))) == 200
    assert not set(keys(pairs)) & {(b, a) for a, b in keys(pairs)}
    assert all(
        a != b for a, b in zip(pairs.a_text.to_pylist(), pairs.b_text.to_pylist(), strict=True)
    )
    assert not any(str(id).startswith("copy") for pair in keys(pairs) for id in pair)


def nd_concat(*tables):
    import pyarrow as pa

    return pa.concat_tables(tables)


def test_texts_and_similarities_are_those_of_the_pair():
    table = made.people(200)
    texts = dict(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))
    pairs = proposed(table, 40)
    assert pairs.a_text.to_pylist() == [texts[id] for id in pairs.a.to_pylist()]
    assert pairs.b_text.to_pylist() == [texts[id] for id in pairs.b.to_pylist()]
    pool = made.pool(table)
    places = {id: place for place, id in enumerate(pool.ids.to_pylist())}
    a, b = (np.array([places[id] for id in side.to_pylist()]) for side in (pairs.a, pairs.b))
    assert pairs.similarity == pytest.approx(pool.similarities(CHOSEN, a, b))


def test_a_part_is_spread_as_well():
    pairs = proposed(made.people(400), 120)
    for part in (pairs.why[:60], pairs.why):
        counts = Counter(part)
        assert len(counts) >= 15  # tenths of three measures
        assert max(counts.values()) <= 2 * len(part) / len(counts)
    assert "word:1 tfidf weighted-jaccard below 0.1" in pairs.why[:60]
    assert {" ".join(why.split()[:3]) for why in pairs.why} == {
        "word:1 tfidf weighted-jaccard",
        "char:3 set jaccard",
        "word:1 tfidf cosine",
    }


def test_the_proposal_is_always_the_same():
    first, again = (proposed(made.titles(), 80) for _ in range(2))
    assert keys(first) == keys(again)


def test_what_is_labelled_is_not_asked_again():
    table = made.titles()
    first = proposed(table, 80)
    known = read_labels(made.labelled(table, first)).at(made.pool(table).ids)
    more = proposed(table, 80, known)
    assert len(more) == 80
    assert not set(keys(first)) & set(keys(more))


def test_fewer_pairs_than_asked_for_are_all_there_are():
    pairs = proposed(["a b c", "a b d", "x y z"], 50)
    assert keys(pairs)[0] == (0, 1)
    assert set(keys(pairs)) <= {(0, 1), (0, 2), (1, 2)}


@pytest.mark.parametrize("texts", [["one"], ["a b c"] * 9, ["a b c", "d e f"]])
def test_without_similar_documents_there_is_nothing_to_label(texts):
    with pytest.raises(nd.InputError, match="no pairs to label"):
        proposed(texts)


@pytest.mark.parametrize("number", [0, -1, True, 1.5])
def test_a_number_is_needed(number):
    with pytest.raises(nd.SettingError, match="give a number from 1 on"):
        proposed(made.titles(), number)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_the_file_is_read_back_as_labels(tmp_path, suffix):
    import pyarrow as pa

    table = made.people(200)
    pairs = proposed(table, 60)
    path = tmp_path / f"pairs.{suffix}"
    write_pairs_to_label(path, pairs, about={})
    with pytest.raises(nd.InputError, match="no labelled pair"):
        read_labels(path)
    answers = made.labelled(table, pairs)["same"].to_pylist()
    filled = pairs.table().set_column(2, "same", pa.array(answers))
    write_as(path, filled)
    labels = read_labels(path)
    assert labels.same.tolist() == answers
    assert labels.a.to_pylist() == pairs.a.to_pylist()


def write_as(path, table):
    import json

    import pyarrow.csv as csv
    import pyarrow.parquet as pq

    if path.suffix == ".csv":
        csv.write_csv(table, path)
    elif path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
