"""Records by their fields: every pair that reaches the threshold is found, with the right score."""

from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from neardup.collection.records import Records
from neardup.features.spec import FeatureSpec, Fields
from neardup.scoring.fields import FieldScorer
from neardup.scoring.parts import Among
from neardup.scoring.reference import record_similarity

WORD = FeatureSpec.parse("word:1")
SPECS = (
    "name:char:3*2 + street:word:1 + dob:exact + price:number:0.05",
    "name:char:2 + street + dob:date:2*0.5 + price:number:2",
    "name:exact + street:exact + dob:date + price:number",
    "name:word:1*3 + price:number:0.3",
)
NAMES = ("", "Ann Lee", "ann  LEE", "Anne Lee", "Bob", "Bobby Lee", "?", "李四", "Ann", "lee ann")
STREETS = ("", "1 Main Street", "1 Main St", "12 Main Street", "Elm", "main street 1", "—")
DATES = ("", "19810130", "1981-01-30", "1981-02-01", "1981-02-31", "1999-12-31T10:00", "n/a")
PRICES = (
    "",
    "10",
    "10.0",
    "10.4",
    "$11",
    "12",
    "-10",
    "0",
    "-0.0",
    "1,000",
    "1010",
    "about 10",
    "1e300",
)


def record_lists(most):
    record = st.fixed_dictionaries(
        {
            "name": st.sampled_from(NAMES) | st.text(max_size=4),
            "street": st.sampled_from(STREETS),
            "dob": st.sampled_from(DATES),
            "price": st.sampled_from(PRICES),
        }
    )
    return st.lists(record, min_size=1, max_size=most)


def records_of(rows, names, memory=1 << 30):
    records = Records(names, memory)
    for begin in range(0, len(rows), 3):  # several batches
        some = rows[begin : begin + 3]
        records.add([pa.array([row[name] for row in some]) for name in names])
    return records


def found_pairs(scorer, left, right, threshold, among):
    found = {}
    for a, b in scorer.candidates(left, right, threshold, among=among, memory=1 << 24):
        scores = scorer.scores(left, right, a, b, at_least=threshold)
        for one, other, score in zip(a.tolist(), b.tolist(), scores.tolist(), strict=True):
            assert right is not None or one < other
            if score >= threshold:
                found[one, other] = score
    return found


def different(rows, fields):
    """The first of each group of records that are the same in every field, without empty ones."""
    kept = []
    for place, row in enumerate(rows):
        alone = record_similarity(row, row, fields, WORD) == 1
        same = any(
            record_similarity(row, rows[other], fields, WORD) == 1
            and is_copy(row, rows[other], fields)
            for other in kept
        )
        if alone and not same:
            kept.append(place)
    return kept


def is_copy(a, b, fields):
    scorer = FieldScorer(fields, WORD)
    pair = records_of([a, b], fields.names)
    known = scorer._encoded(pair, None)
    return all(codes[0] == codes[1] for codes in known.codes(0))


thresholds = st.sampled_from((0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.95, 1.0))


@given(record_lists(14), st.sampled_from(SPECS), thresholds)
@settings(max_examples=200, deadline=None)
def test_every_pair_within_a_collection_is_found(rows, spec, threshold):
    fields = Fields.parse(spec)
    places = different(rows, fields)
    records = records_of(rows, fields.names)
    among = Among(np.array(places, np.int64))
    found = found_pairs(FieldScorer(fields, WORD), records, None, threshold, among)
    expected = {}
    for a, b in combinations(places, 2):
        score = record_similarity(rows[a], rows[b], fields, WORD)
        if score >= threshold:
            expected[a, b] = score
    assert found == pytest.approx(expected)


@given(record_lists(9), record_lists(9), st.sampled_from(SPECS), thresholds)
@settings(max_examples=200, deadline=None)
def test_every_pair_between_two_collections_is_found(ours, theirs, spec, threshold):
    fields = Fields.parse(spec)
    mine, others = different(ours, fields), different(theirs, fields)
    among = Among(np.array(mine, np.int64), np.array(others, np.int64))
    left, right = records_of(ours, fields.names), records_of(theirs, fields.names)
    found = found_pairs(FieldScorer(fields, WORD), left, right, threshold, among)
    expected = {}
    for a, b in product(mine, others):
        score = record_similarity(ours[a], theirs[b], fields, WORD)
        if score >= threshold:
            expected[a, b] = score
    assert found == pytest.approx(expected)
