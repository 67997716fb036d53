"""The sample of texts is what examples/README.md says."""

import itertools
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import neardup as nd
from neardup.features.hashed import text_features
from neardup.features.spec import FeatureSpec, TextColumn
from neardup.pairs.similarity import jaccard
from neardup.samples.notices import notices
from neardup.samples.write import json_lines

EXAMPLES = Path(__file__).parents[2] / "examples"
ROWS = [
    json.loads(line)
    for line in (EXAMPLES / "sample.jsonl").read_text(encoding="utf-8").splitlines()
]
PLACE = {row["id"]: place for place, row in enumerate(ROWS)}


def original_of(row):
    while row["copy_of"]:
        row = ROWS[PLACE[row["copy_of"]]]
    return row["id"]


@pytest.fixture(scope="module")
def features():
    texts = TextColumn(pa.array([row["text"] for row in ROWS]))
    return text_features([texts], FeatureSpec.parse("word:3"))


@pytest.fixture(scope="module")
def sets(features):
    parts = np.split(features.hashes, features.offsets[1:-1])
    return [frozenset(part.tolist()) for part in parts]


@pytest.fixture(scope="module")
def near(sets):
    """All pairs above 0.2."""
    found = {}
    for a, b in itertools.combinations(range(len(sets)), 2):
        similarity = jaccard(sets[a], sets[b])
        if similarity > 0.2:
            found[a, b] = similarity
    return found


def test_the_example_is_the_sample():
    assert json_lines(notices()).encode() == (EXAMPLES / "sample.jsonl").read_bytes()


def test_it_has_all_kinds():
    assert len(ROWS) == len(PLACE) == 355
    assert {row["lang"] for row in ROWS} == {"en", "de", "es", "ru", "zh", "ar", ""}
    for change in ("copy", "case", "word", "sentence", "order"):
        langs = {row["lang"] for row in ROWS if row["change"] == change}
        assert len(langs) == 6, (change, langs)


def test_changes_change_the_text_and_copies_do_not():
    for row in ROWS:
        if row["copy_of"]:
            same = row["text"] == ROWS[PLACE[row["copy_of"]]]["text"]
            assert same == (row["change"] == "copy"), row


def test_texts_are_short_or_have_no_words(features):
    for row, words in zip(ROWS, features.words.tolist(), strict=True):
        assert words == 0 if row["source"] == "blank" else 3 <= words <= 80, row


def test_copies_are_near_what_they_were_made_from(sets):
    for row in ROWS:
        if row["copy_of"]:
            similarity = jaccard(sets[PLACE[row["id"]]], sets[PLACE[row["copy_of"]]])
            assert similarity >= 0.8, row["id"]
            assert similarity == 1 or row["change"] not in ("copy", "case"), row["id"]


def test_nothing_else_is_near(near):
    strangers = {
        pair: similarity
        for pair, similarity in near.items()
        if len({original_of(ROWS[place]) for place in pair}) == 2
    }
    assert {ROWS[place]["source"] for pair in strangers for place in pair} == {"bulletin"}
    assert 0.5 < max(strangers.values()) < 0.65


def test_the_ends_of_the_chains_are_apart(sets):
    for id_ in ("en-19", "en-20"):
        assert jaccard(sets[PLACE[id_]], sets[PLACE[f"{id_}v4"]]) < 0.8


def test_copies_are_later():
    for row in ROWS:
        if row["copy_of"]:
            assert row["date"] > ROWS[PLACE[original_of(row)]]["date"]


def test_clusters_are_the_originals_with_their_copies():
    found = nd.dedup(EXAMPLES / "sample.jsonl", keep="min:date", cluster="components")
    copies = {row["id"]: original_of(row) for row in ROWS if row["copy_of"]}
    rows = found.clusters.to_pylist()
    assert {row["id"]: row["duplicate_of"] for row in rows if not row["kept"]} == copies


def test_chains_of_versions_are_several_stars():
    stars = nd.dedup(EXAMPLES / "sample.jsonl", keep="min:date").clustering
    removed = {ROWS[place]["id"] for place in stars.removed}
    survivors = {row["id"] for row in ROWS if row["copy_of"]} - removed
    assert survivors
    assert {ROWS[PLACE[id_]]["change"] for id_ in survivors} == {"version"}
    assert not np.isnan(stars.similarity[~stars.kept]).any()
