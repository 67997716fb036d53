"""Settings by labels: the best by brute force, honest rates, and given settings that stay."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from tests.lab.tune import made

import neardup as nd
from neardup.evaluation.scores import pair_counts
from neardup.lab.tune.by_labels import (
    THRESHOLDS,
    choose_by_labels,
    cluster_f1,
    clusters_at,
    f1_by_threshold,
    folds_of,
    peak_of,
    smoothed_f1,
    too_many,
)
from neardup.lab.tune.measures import Measure, measures_for
from neardup.labels import PlacedLabels, read_labels

WORDS = Measure("word:1", "set", "jaccard")
similarities = st.lists(st.floats(0, 1).map(lambda x: round(x, 3)), min_size=1, max_size=30)


@given(similarities, st.data())
def test_f1_is_that_of_counting(values, data):
    same = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))))
    values = np.array(values)
    found = f1_by_threshold(values[None], same)[0]
    for rate, threshold in zip(found, THRESHOLDS, strict=True):
        reach = values >= threshold - 1e-9
        right = np.sum(reach & same)
        assert rate == pytest.approx(2 * right / max(1, reach.sum() + same.sum()))


def test_a_lucky_threshold_loses_to_a_plateau():
    # At 0.5 alone all labels are right; from 0.7 to 0.9 nearly all.
    similarity = np.array([[0.5] + [0.95] * 20 + [0.495] * 10 + [0.65] * 0])
    same = np.array([True] * 21 + [False] * 10)
    plain, smooth = f1_by_threshold(similarity, same)[0], smoothed_f1(similarity, same)[0]
    assert THRESHOLDS[plain.argmax()] == 0.5
    assert plain.max() == 1
    assert 0.55 < THRESHOLDS[smooth.argmax()] < 0.9
    assert smooth.max() < 1


def test_of_a_gap_between_the_kinds_the_middle_is_taken():
    assert peak_of(np.array([0.1, 0.5, 0.9, 0.9, 0.9004, 0.9, 0.9, 0.2])) == 4
    assert peak_of(np.array([0.9, 0.1, 0.95, 0.1])) == 2
    assert peak_of(np.array([0.7])) == 0
    texts = [f"a{n} b{n} c{n} d{n}" for n in range(20)]
    texts += [f"a{n} b{n} c{n} e{n}" for n in range(20)]
    rows = [(n, n + 20, True) for n in range(20)] + [(n, n + 1, False) for n in range(19)]
    a, b, same = zip(*rows, strict=True)
    labels = pa.table({"a": list(map(str, a)), "b": list(map(str, b)), "same": list(same)})
    tuning = nd.tune(texts, labels=labels, features="word:1", weights="set")
    assert 0.2 < tuning.settings["threshold"] < 0.5  # 3 of 5 words are the same, or none


def test_the_mean_of_neighbours_ends_at_the_ends():
    similarity, same = np.array([[0.02, 0.3, 0.999]]), np.array([False, True, True])
    plain, smooth = f1_by_threshold(similarity, same)[0], smoothed_f1(similarity, same)[0]
    assert len(smooth) == len(plain)
    assert smooth[0] == pytest.approx(plain[0])
    assert smooth[-1] == pytest.approx(plain[-1])
    assert smooth[50] == pytest.approx(plain[44:57].mean())


def test_a_threshold_that_joins_everything_is_marked_down():
    a, b = np.triu_indices(100, 1)
    pairs = made.pool_pairs(a, b, np.full(len(a), 0.3), 100)
    less = too_many(pairs, 100)
    assert (less[THRESHOLDS > 0.3] == 0).all()
    assert less[THRESHOLDS == 0.3] == pytest.approx(0.04 * np.log2(99 / 2))
    # Below the least similarity nothing is known: at least as much is taken off.
    assert (less[THRESHOLDS < 0.1] >= less[THRESHOLDS == 0.3]).all()
    few = made.pool_pairs([0], [1], [0.3], 100)
    assert (too_many(few, 100)[THRESHOLDS >= 0.1] == 0).all()


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=60))
def test_labels_that_share_documents_are_in_one_fold(pairs):
    pairs = sorted({(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]})
    if not pairs:
        return
    a, b = np.array(pairs, np.int64).T
    fold = folds_of(PlacedLabels(a, b, np.ones(len(a), np.bool_)))
    assert set(fold.tolist()) <= set(range(5))
    group = nd_components(a, b)
    sizes = np.bincount(group)
    if sizes.max() <= len(a) / 5:
        assert all(len(set(fold[group == one])) <= 1 for one in range(len(sizes)))
    counts = np.bincount(fold, minlength=5)
    assert counts.max() - counts.min() <= max(1, sizes.max())


def nd_components(a, b):
    """The number of the group of each pair, by joining until nothing changes."""
    group = np.arange(41)
    for _ in range(41):
        for one, other in zip(a, b, strict=True):
            group[one] = group[other] = min(group[one], group[other])
    return group[a]


def separable(count=30, seed=2):
    """Pairs of texts that share six of eight words, and pairs that share two."""
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for number in range(2 * count):
        words = [f"w{n}" for n in random.integers(0, 5000, 8)]
        shared = 6 if number < count else 2
        other = words[:shared] + [f"w{n}" for n in random.integers(0, 5000, 8 - shared)]
        labels.append((str(len(texts)), str(len(texts) + 1), number < count))
        texts += [" ".join(words), " ".join(other)]
    a, b, same = zip(*labels, strict=True)
    return texts, pa.table({"a": list(a), "b": list(b), "same": list(same)})


def test_labels_that_can_be_separated_are():
    texts, labels = separable()
    tuning = nd.tune(texts, labels=labels)
    assert tuning.labels.f1 == 1
    assert tuning.labels.labels == 60
    assert tuning.labels.same == 30
    assert not tuning.guessed
    assert not tuning.shown
    found = nd.dedup(texts, pairs="all", **tuning.settings)
    assert found.summary["removed"] == 30
    assert len(tuning.labels.runner_ups) == 3
    assert "more labels would hardly pay" in tuning.labels.advice


@pytest.mark.parametrize(
    "asked",
    [
        {"threshold": 0.805},
        {"features": "char:4"},
        {"features": "word:1+word:2"},
        {"weights": "idf"},
        {"similarity": "cosine"},
        {"similarity": "jaccard"},
        {"cluster": "components"},
        {"cluster": "dense:0.4"},
        {"features": "word:1", "weights": "count", "similarity": "weighted-jaccard"},
        {"threshold": 0.02, "features": "word:2"},
        {"threshold": 1.0},
    ],
)
def test_what_is_given_stays(asked):
    texts, labels = separable()
    settings = nd.tune(texts, labels=labels, **asked).settings
    assert {name: settings.get(name) for name in asked} == asked


def test_the_rates_of_a_given_threshold_are_its_own():
    texts, labels = separable()
    report = nd.tune(texts, labels=labels, features="word:1", weights="set", threshold=0.9).labels
    assert report.recall == 0  # 6 of 10 words are shared


def test_the_answer_is_always_the_same():
    texts = made.people()
    proposed = made.labelled(texts, proposal(texts, 100))
    told = [nd.tune(texts, labels=proposed, threads=threads).to_dict() for threads in (1, 1, 2, 3)]
    for one in told:  # times differ
        del one["choice"], one["alternatives"], one["reasons"]
    assert told[0] == told[1] == told[2] == told[3]


def proposal(table, count):
    from neardup.lab.tune.propose import proposed_pairs

    return proposed_pairs(
        made.pool(table), Measure("word:1", "tfidf", "weighted-jaccard"), 10, count
    )


@given(st.integers(0, 10**6), st.sampled_from(["star", "components", "dense", "dense:0.6"]))
def test_clusters_are_those_of_dedup(seed, rule):
    random = np.random.default_rng(seed)
    texts = [
        " ".join(f"w{n}" for n in random.integers(0, 12, random.integers(0, 6))) for _ in range(25)
    ]
    if not any(texts):
        return
    threshold = float(random.choice([0.2, 0.34, 0.5, 0.75]))
    pairs = made.pool(texts).pairs(WORDS, 0.1)
    found = clusters_at(pairs, threshold, rule)
    result = nd.dedup(texts, features="word:1", threshold=threshold, cluster=rule)
    expected = np.arange(len(texts))
    for row in result.clusters.to_pylist():
        expected[int(row["id"])] = -1 - row["cluster"]
    same = pair_counts(np.unique(found, return_inverse=True)[1], _numbered(expected))
    assert same.right == same.found == same.true


def _numbered(clusters):
    return np.unique(clusters, return_inverse=True)[1]


def test_too_many_pairs_to_list_still_have_a_choice():
    random = np.random.default_rng(4)
    # Every two share nine of ten words: 60 pairs for each document are passed at any threshold.
    texts = ["a b c d e f g h i " + f"x{n}" for n in range(700)]
    chosen = [tuple(pair) for pair in random.permutation(700).reshape(-1, 2)[:40]]
    labels = pa.table(
        {
            "a": [str(a) for a, _ in chosen],
            "b": [str(b) for _, b in chosen],
            "same": [number % 2 == 0 for number in range(40)],
        }
    )
    tuning = nd.tune(texts, labels=labels, features="word:1", weights="set")
    assert tuning.settings["threshold"] > 0.1
    assert tuning.labels.f1 < 0.8


@pytest.mark.parametrize(("same", "different", "said"), [(4, 9, "4 .* same"), (9, 1, "1 pair .*")])
def test_both_kinds_are_needed(same, different, said):
    texts, labels = separable()
    rows = [*range(same), *range(30, 30 + different)]
    with pytest.raises(nd.SettingError, match=said):
        nd.tune(texts, labels=labels.take(rows))


def test_labels_that_are_all_the_same_are_refused():
    texts, labels = separable()
    with pytest.raises(nd.InputError, match="only pairs that are the same"):
        nd.tune(texts, labels=labels.slice(0, 30))


def test_unknown_ids_are_counted_and_named():
    texts, labels = separable()
    more = pa.table({"a": ["x1", "3"], "b": ["x2", "x3"], "same": [True, False]})
    tuning = nd.tune(texts, labels=pa.concat_tables([labels, more]))
    assert tuning.labels.unknown == 2
    assert tuning.labels.labels == 60
    assert any("2 labels name documents that are not" in one for one in tuning.problems)
    assert any("'x1'" in one for one in tuning.problems)


def test_without_a_known_id_there_is_no_choice():
    texts, _ = separable()
    labels = pa.table({"a": ["x1"] * 2, "b": ["x2", "x3"], "same": [True, False]})
    with pytest.raises(nd.InputError, match=r"no two documents of the input.*'x1'.*--id"):
        nd.tune(texts, labels=labels)


def test_labels_of_exact_copies_alone_say_little():
    texts = ["one two three four five"] * 20 + [f"w{n} x{n} y{n}" for n in range(20)]
    a = [*range(0, 20, 2), *range(20, 40, 2)]
    labels = pa.table(
        {"a": [str(n) for n in a], "b": [str(n + 1) for n in a], "same": [n < 20 for n in a]}
    )
    tuning = nd.tune(texts, labels=labels)
    assert tuning.labels.f1 == 1
    assert 0 < tuning.settings["threshold"] <= 1


def test_terms_and_keywords_are_tuned_by_labels():
    texts, labels = separable()
    terms = [dict.fromkeys(text.split(), 1.0) for text in texts]
    assert nd.tune(terms, features="terms", labels=labels).labels.f1 == 1
    tuning = nd.tune(texts, features="keywords:6", labels=labels)
    assert tuning.settings["features"] == "keywords:6"
    with pytest.raises(nd.SettingError, match="does not compare given terms"):
        nd.tune(terms, features="terms", labels=labels, fit="model.json")


def test_long_documents_are_compared_by_letters_only_if_that_is_better():
    letters = [one for one in measures_for(300, {}) if not one.features.startswith("word")]
    assert [str(one) for one in letters] == ["char:4 set jaccard"]
    assert letters[0].bonus < min(one.bonus for one in measures_for(300, {}) if one != letters[0])
    assert "char:3" in {one.features for one in measures_for(10, {})}
    assert [str(one) for one in measures_for(10, {"weights": "idf", "features": "word:1"})] == [
        "word:1 idf weighted-jaccard",
        "word:1 idf cosine",
    ]


def test_more_labels_pay_where_the_choice_still_changes():
    from neardup.lab.tune.by_labels import _advice

    assert "would pay" in _advice(((50, 0.7), (100, 0.8), (150, 0.86)), 200)
    assert "about 200 more might add 0.10" in _advice(((50, 0.7), (100, 0.8), (150, 0.86)), 200)
    assert "hardly pay" in _advice(((50, 0.9), (100, 0.9), (150, 0.9)), 200)
    assert "too few" in _advice(((2, 0.9),), 10)


def test_the_choice_by_places_is_that_of_tune():
    texts, labels = separable()
    pool = made.pool(texts)
    placed = read_labels(labels).at(pool.ids)
    choice = choose_by_labels(pool, placed, measures_for(8, {}))
    by_table = nd.tune(texts, labels=labels).settings
    assert choice.settings["threshold"] == by_table["threshold"]
    assert choice.measure.features == by_table["features"]


def test_labels_do_not_choose_clusters_that_chains_hold_together():
    """The labels name 20 pairs of a chain of 200, whose ends have nothing in common."""
    chain = [(n, n + 1) for n in range(199)]
    a, b = np.array(chain).T
    pairs = made.pool_pairs(a, b, np.full(len(a), 0.5), 400)
    near = [(n, n + 2) for n in range(0, 40, 2)]  # the same, but only connected
    far = [(n, 399 - n) for n in range(20)]
    one, other = np.array(near + far).T
    same = np.array([True] * len(near) + [False] * len(far))
    labels = PlacedLabels(one, other, same)
    assert cluster_f1(pairs, labels, 0.5, "components") == 0
    cliques = [(4 * n + i, 4 * n + j) for n in range(50) for i in range(4) for j in range(i)]
    a, b = np.array(cliques).T
    pairs = made.pool_pairs(a, b, np.full(len(a), 0.5), 400)
    labels = PlacedLabels(a[:40], b[:40], np.ones(40, bool))
    assert cluster_f1(pairs, labels, 0.5, "components") == 1
