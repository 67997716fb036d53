"""The scorer of a model: complete by its rule, the same score in any order, shown as a sum."""

import math
from itertools import pairwise

import numpy as np
import pytest
from tests.scoring.people import NAMES, labelled, people, records_of

import neardup as nd
from neardup.collection.model import CandidateRule
from neardup.collection.rarity import Rarity
from neardup.features.spec import Fields
from neardup.kernels.set_join import TooManyPairsError, join_similar
from neardup.scoring import by_model
from neardup.scoring.by_model import InputTable, ModelScorer, candidates_by
from neardup.scoring.fit_scorer import f1_with_interval, fit_scorer
from neardup.scoring.parts import Among

COLUMNS, PERSON = people()
RECORDS = records_of(COLUMNS)
RARITY = Rarity.of([RECORDS.table().to_batches()[0].columns])


@pytest.fixture(scope="module")
def fitted():
    return fit_scorer(RECORDS, *labelled(PERSON), fields=Fields.named(NAMES))


@pytest.mark.parametrize(
    "rule",
    [
        CandidateRule("word:1 tfidf weighted-jaccard", 0.1),
        CandidateRule("word:1 tfidf weighted-jaccard", 0.5),
        CandidateRule("char:3 jaccard", 0.15),
    ],
)
@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("small", [False, True])
def test_every_pair_that_reaches_the_rule_is_a_candidate(monkeypatch, rule, across, small):
    if small:  # groups that are joined one by one
        monkeypatch.setattr(by_model, "_LEAST_GROUP", 50)
    places = np.arange(len(RECORDS))
    among = Among(places[::2], places[1::2]) if across else Among(places)
    right = RECORDS if across else None
    found = set()
    for a, b in candidates_by(rule, RARITY, RECORDS, right, among, memory=1):
        found |= set(zip(a.tolist(), b.tolist(), strict=True))
    theirs = places if among.right is None else among.right
    x, y = (one.ravel() for one in np.meshgrid(among.left, theirs, indexing="ij"))
    if not across:
        x, y = x[x < y], y[x < y]
    values = InputTable("+".join(NAMES), RARITY, 1).values(RECORDS, right, x, y)
    similarity = values[:, {"w": 1, "c": 5}[rule.name[0]]]
    reach = similarity >= rule.at_least
    assert found == set(zip(x[reach].tolist(), y[reach].tolist(), strict=True))
    assert found


def test_too_many_pairs_for_the_memory_are_found_in_halves(monkeypatch):
    rule = CandidateRule("char:3 jaccard", 0.05)
    among = Among(np.arange(len(RECORDS)))
    whole = list(candidates_by(rule, RARITY, RECORDS, None, among, memory=1 << 30))
    refused = []

    def join(*arguments, most_pairs, **more):
        if len(arguments[0]) > 80:
            refused.append(1)
            raise TooManyPairsError(most_pairs)
        return real(*arguments, most_pairs=most_pairs, **more)

    real = join_similar
    monkeypatch.setattr(by_model, "join_similar", join)
    halves = list(candidates_by(rule, RARITY, RECORDS, None, among, memory=1 << 30))
    assert refused
    assert len(halves) > 1
    every = sorted(pair for a, b in halves for pair in zip(a.tolist(), b.tolist(), strict=True))
    assert every == list(zip(whole[0][0].tolist(), whole[0][1].tolist(), strict=True))


def test_a_score_is_the_sum_that_explains_it(fitted):
    scorer = fitted.scorer
    a, b, _ = labelled(PERSON, different=40)
    scores = scorer.scores(RECORDS, None, a, b)
    rows = [dict(zip(NAMES, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]
    for x, y, score in zip(a.tolist(), b.tolist(), scores.tolist(), strict=True):
        shown, parts = scorer.explain(rows[x], rows[y])
        assert shown == score
        assert parts[0].name == "intercept"
        odds = math.fsum(part.adds for part in parts)
        assert score == pytest.approx(1 / (1 + math.exp(-odds)), abs=1e-9)
        of_fields = {part.name: part for part in parts if part.a is not None}
        assert list(of_fields) == list(NAMES)
        for name, part in of_fields.items():
            is_empty = not (rows[x][name] and rows[y][name])
            assert (part.similarity is None) == is_empty
            assert (part.a, part.b) == (rows[x][name], rows[y][name])


def test_the_order_of_two_documents_does_not_matter(fitted):
    a, b, _ = labelled(PERSON)
    one, other = (fitted.scorer.scores(RECORDS, None, *ab) for ab in ((a, b), (b, a)))
    assert one.tobytes() == other.tobytes()


def test_large_collections_are_compared_portion_by_portion(monkeypatch, fitted):
    a, b, _ = labelled(PERSON)
    held = ModelScorer(fitted.model, RARITY).scores(RECORDS, RECORDS, a, b)
    monkeypatch.setattr(by_model, "_HELD_TEXT", 0)
    monkeypatch.setattr(by_model, "_SCORED_AT_ONCE", 7)
    assert ModelScorer(fitted.model, RARITY, 2).scores(RECORDS, RECORDS, a, b).tolist() == (
        held.tolist()
    )


def test_the_promise_names_the_rule(fitted):
    promise = fitted.scorer.promise(0.5)
    assert str(fitted.model.candidates[0]) in promise
    assert "pairs below that are not scored" in promise


def test_a_fit_finds_the_same_people(fitted):
    scorer, model = fitted.scorer, fitted.model
    a, b = np.triu_indices(len(PERSON), 1)
    same = PERSON[a] == PERSON[b]
    found = scorer.scores(RECORDS, None, a, b) >= model.threshold
    assert 2 * (same & found).sum() / (same.sum() + found.sum()) > 0.95
    learned = model.trained_on
    assert (learned.documents, learned.same, learned.different) == (120, 40, 120)
    assert learned.low <= learned.f1 <= learned.high <= 1
    assert learned.unreachable == 0


def test_the_evidence_is_out_of_fold(fitted):
    a, b, same = labelled(PERSON)
    assert len(fitted.probabilities) == len(fitted.found) == len(same)
    in_sample = fitted.scorer.scores(RECORDS, None, a, b)
    assert (in_sample != fitted.probabilities).mean() > 0.5
    f1 = 2 * (same & fitted.found).sum() / (same.sum() + fitted.found.sum())
    assert fitted.model.trained_on.f1 == pytest.approx(f1, abs=1e-5)


def test_the_same_labels_give_the_same_bytes(fitted):
    again = fit_scorer(RECORDS, *labelled(PERSON), fields=Fields.named(NAMES), threads=2)
    assert again.model.to_json() == fitted.model.to_json()


def test_a_model_of_one_text_has_no_fields():
    texts = records_of({"text": [" ".join(row) for row in zip(*COLUMNS.values(), strict=True)]})
    model = fit_scorer(texts, *labelled(PERSON)).model
    assert model.text is None
    assert not any(one.name.startswith("field") for one in model.inputs)


def test_weights_move_the_threshold_and_the_f1():
    a, b, same = labelled(PERSON)
    fields = Fields.named(NAMES)
    random = np.random.default_rng(3)
    noisy = same ^ (random.random(len(same)) < 0.15)
    plain = fit_scorer(RECORDS, a, b, noisy, fields=fields).model
    weighted = fit_scorer(RECORDS, a, b, noisy, np.where(same, 1.0, 30.0), fields=fields).model
    assert weighted.trained_on.f1 < plain.trained_on.f1
    assert weighted.intercept != plain.intercept


def test_too_few_labels_are_refused():
    a, b, same = labelled(PERSON)
    with pytest.raises(nd.SettingError, match="at least 10 pairs that are the same"):
        fit_scorer(RECORDS, a[same], b[same], same[same], fields=Fields.named(NAMES))


def test_the_interval_is_wider_with_fewer_labels_and_never_certain():
    widths = []
    for count in (20, 200, 2000):
        same = np.arange(count) % 2 == 0
        f1, low, high = f1_with_interval(same, same, np.ones(count))
        assert f1 == 1
        assert low < high <= 1
        widths.append(high - low)
    assert all(one > other for one, other in pairwise(widths))


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_holds_the_truth_mostly(seed):
    """Simulated: precision 0.8 and recall 0.9; F1 = 0.847."""
    random = np.random.default_rng(seed)
    held = 0
    for _ in range(60):
        same = random.random(200) < 0.5
        found = np.where(same, random.random(200) < 0.9, random.random(200) < 0.225)
        _, low, high = f1_with_interval(same, found, np.ones(200))
        held += low <= 2 * 0.8 * 0.9 / 1.7 <= high
    assert held >= 52


@pytest.mark.parametrize(("name", "least"), [("citations", 0.97), ("products", 0.68)])
def test_200_labels_are_enough(shared_data, name, least):
    """F1 on all labelled pairs; the best single similarity reaches 0.95 and 0.695."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    table = pq.read_table(shared_data / name / "docs.parquet")
    records = records_of({"text": table["text"].combine_chunks()})
    sides = [
        pq.read_table(shared_data / name / f"{kind}.parquet") for kind in ("pairs", "non_pairs")
    ]
    a, b = (
        np.concatenate([pc.index_in(side[end], table["id"]).to_numpy() for side in sides])
        for end in ("a", "b")
    )
    a, b = np.minimum(a, b).astype(np.int64), np.maximum(a, b).astype(np.int64)
    same = np.arange(len(a)) < len(sides[0])
    rarity = Rarity.of(batch.columns for batch in records.table().to_batches())
    words = InputTable(None, rarity, 1).values(records, None, a, b)[:, 1]
    stratum = np.minimum(words * 10, 9).astype(int)
    random = np.random.default_rng(0)
    rows, weights = [], []
    for one in range(10):
        own = random.permutation(np.flatnonzero(stratum == one))[:20]
        rows.append(own)
        weights.append(np.full(len(own), (stratum == one).sum() / max(1, len(own))))
    drawn = np.concatenate(rows)
    found = fit_scorer(records, a[drawn], b[drawn], same[drawn], np.concatenate(weights))
    got = found.scorer.scores(records, None, a, b) >= found.model.threshold
    assert 2 * (same & got).sum() / (same.sum() + got.sum()) > least
