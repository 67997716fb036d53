"""`tune` foresees what `dedup` finds, and says what cannot be done."""

import json

import numpy as np
import pytest
from tests.lab.tune.test_sample import texts_with_pairs

import neardup as nd
from neardup.collection.settings import settings_in
from neardup.lab.tune.options import random_pairs, scaled
from neardup.lab.tune.pairs import SamplePairs, chance_to_agree
from neardup.settings import seconds_of


def edited_texts(count, seed=3):
    """Families of three texts with from one to six words of sixty changed."""
    random = np.random.default_rng(seed)
    texts = []
    for _ in range(count):
        words = random.integers(0, 30_000, 60)
        for edits in random.integers(1, 7, 3):
            edited = words.copy()
            edited[random.permutation(60)[:edits]] = random.integers(0, 30_000, edits)
            texts.append(" ".join(f"w{word}" for word in edited))
    return texts


def pairs_of(result):
    found = set()
    for batch in result.all_pairs.batches():
        found |= set(zip(batch.a.tolist(), batch.b.tolist(), strict=True))
    return found


def test_with_memory_the_join_on_the_features_is_taken():
    texts = edited_texts(200)
    tuning = nd.tune(texts, threshold=0.7, features="word:3")
    assert tuning.settings["candidates"] == "exact"
    assert tuning.choice.recall.value == 1
    assert len(tuning.alternatives) == 2
    assert tuning.similar_pairs == len(nd.exact_pairs(texts, 0.7))
    assert pairs_of(nd.dedup(texts, pairs="all", **tuning.settings))


@pytest.mark.parametrize("sample", [20_000, 1000])
def test_bands_find_what_was_foreseen(sample):
    texts = edited_texts(800)
    tuning = nd.tune(
        texts, threshold=0.6, recall=0.9, features="word:2", candidates="bands", sample=sample
    )
    assert tuning.settings["candidates"].startswith("bands:")
    truth = pairs_of(nd.dedup(texts, features="word:2", threshold=0.6, pairs="all"))
    result = nd.dedup(texts, pairs="all", **tuning.settings)
    recall = len(pairs_of(result) & truth) / len(truth)
    assert recall >= 0.9
    assert recall == pytest.approx(tuning.choice.recall.value, abs=0.05)
    assert tuning.choice.recall.low <= tuning.choice.recall.value <= tuning.choice.recall.high
    assert result.found.candidates == pytest.approx(tuning.choice.candidate_pairs, rel=0.5)
    assert tuning.similar_pairs == pytest.approx(len(truth), rel=0.25)
    assert all(option.candidates.startswith("bands:") for option in tuning.alternatives)


def test_without_pairs_it_says_what_the_recall_rests_on():
    tuning = nd.tune(texts_with_pairs(200, 0)[:20], threshold=0.9)
    assert any("similar pairs were found in the sample" in problem for problem in tuning.problems)
    assert all(option.recall.high == 1 for option in (tuning.choice, *tuning.alternatives))


@pytest.mark.parametrize(
    ("words", "features", "weights"),
    [
        (300, "word:3", "set"),
        (60, "word:2", "set"),
        (40, "word:1", "tfidf"),
        (4, "word:1", "tfidf"),
    ],
)
@pytest.mark.parametrize("threshold", [None, 0.2, 0.8])
def test_shorter_texts_have_shorter_features_at_any_threshold(words, features, weights, threshold):
    random = np.random.default_rng(5)
    texts = [" ".join(f"word{n:05}" for n in random.integers(0, 9999, words)) for _ in range(50)]
    tuning = nd.tune(texts, threshold=threshold)
    assert tuning.settings["features"] == features
    assert tuning.settings["weights"] == weights


def test_features_that_were_chosen_stay_with_a_word_about_short_texts():
    tuning = nd.tune(["a few short words"] * 9, threshold=0.8, features="word:3")
    assert tuning.settings["features"] == "word:3"
    assert any("only exact and nearly exact copies" in problem for problem in tuning.problems)


def test_very_short_texts_at_a_low_threshold_cannot_be_served():
    random = np.random.default_rng(1)
    texts = [" ".join(f"w{n}" for n in random.integers(0, 40, 4)) for _ in range(300)]
    tuning = nd.tune(texts, threshold=0.3, features="word:1")
    assert any("cannot be told apart" in problem for problem in tuning.problems)
    assert "cannot be told apart" in str(tuning)


def test_a_small_budget_looks_at_fewer_documents():
    texts = texts_with_pairs(4000, 0)
    tuning = nd.tune(texts, features="word:3", budget=0.02)
    assert tuning.documents == 4000
    assert tuning.sampled < 3000


def test_terms_and_tfidf_are_tuned_too():
    terms = [{f"t{n}": 1.0 + n % 3 for n in range(i % 50, i % 50 + 30)} for i in range(200)]
    assert nd.tune(terms, features="terms", threshold=0.9).settings["similarity"] == "cosine"
    tuning = nd.tune(edited_texts(60), features="word:1", weights="tfidf", threshold=0.7)
    assert tuning.settings["weights"] == "tfidf"
    assert tuning.similar_in_sample > 0


def test_a_hash_with_few_bits_has_few_bands():
    chosen = {"features": "word:2", "hash": "md5", "candidates": "bands"}
    tuning = nd.tune(edited_texts(100), threshold=0.95, recall=0.5, **chosen)
    assert all(option.bits <= 128 for option in (tuning.choice, *tuning.alternatives))
    with pytest.raises(nd.SettingError, match="no bands of md5"):
        nd.tune(edited_texts(100), threshold=0.5, recall=0.999, **chosen)
    with pytest.raises(nd.SettingError, match="choose auto or bands"):
        nd.tune(edited_texts(10), candidates="blocks:3")


def test_the_file_is_read_back(tmp_path):
    tuning = nd.tune(edited_texts(50), threshold=0.7, keep="longest", text="te\"xt's")
    tuning.save(tmp_path / "settings.toml")
    assert settings_in(tmp_path / "settings.toml") == tuning.settings
    assert json.loads(json.dumps(tuning.to_dict()))["settings"] == tuning.settings


@pytest.mark.parametrize("texts", [[], ["", "…", None]])
def test_without_a_word_there_is_nothing_to_tune(texts):
    with pytest.raises(nd.InputError, match="nothing to tune"):
        nd.tune(texts)


@pytest.mark.parametrize(
    ("settings", "about"),
    [
        ({"budget": "soon"}, "budget"),
        ({"budget": "0s"}, "budget"),
        ({"sample": 1}, "sample"),
        ({"similarity": "hamming", "threshold": 3}, "needs no tuning"),
        ({"recall": 1.5}, "recall"),
    ],
)
def test_bad_settings_are_sentences(settings, about):
    with pytest.raises(nd.SettingError, match=about):
        nd.tune(["one two three"], **settings)


def test_amounts_of_time():
    amounts = [seconds_of(amount, "budget") for amount in ("60s", "1.5m", 7, "1h")]
    assert amounts == [60, 90, 7, 3600]


def test_work_grows_with_the_number_among_copies_and_with_its_square_among_others():
    assert scaled(100, 50, 3) == 300
    assert scaled(100, 25, 3) == 900
    assert scaled(100, 60, 3) == 300


def test_the_chance_to_agree_has_no_bias():
    random = np.random.default_rng(2)
    agreements = random.binomial(256, 0.6, 200_000)
    assert chance_to_agree(agreements, 256, 8).mean() == pytest.approx(0.6**8, rel=0.02)
    assert chance_to_agree(np.array([256, 3]), 256, 4).tolist() == [1, 0]


def test_pairs_of_one_cluster_count_for_fewer():
    def interval(cluster, found):
        n = len(found)
        pairs = SamplePairs(
            *(np.zeros(n, np.int64), np.zeros(n, np.int64), np.ones(n), np.ones(n)),
            np.asarray(cluster),
            *(1e6, 0.0, n, np.zeros((n, 8), np.bool_)),
        )
        return pairs.share_found(np.asarray(found))

    found = [True] * 90 + [False] * 10
    alone, together = interval(range(100), found), interval([0] * 90 + [1] * 10, found)
    assert alone.value == together.value == pytest.approx(0.9)
    assert alone.low == pytest.approx(0.826, abs=0.002)  # Wilson's, for 90 of 100
    assert together.low < alone.low
    assert interval(range(100), [True] * 100).low == pytest.approx(0.963, abs=0.002)


def test_random_pairs_of_unrelated_texts_agree_by_halves():
    from tests.lab.tune.test_sample import sampled

    from neardup.collection.settings import DedupSettings
    from neardup.collection.source import fingerprinter_of

    sample = sampled(texts_with_pairs(800, 0), 10_000)
    found = random_pairs(sample, fingerprinter_of(DedupSettings.of(bits=512).scheme, 1))
    assert found.mean_distance == pytest.approx(0.5, abs=0.01)
    assert found.agreement(8) == pytest.approx(2**-8, rel=0.2)


def test_on_a_real_collection_what_is_foreseen_comes(shared_data):
    path = shared_data / "tang_poems" / "docs.parquet"
    tuning = nd.tune(path, candidates="bands", sample=10_000, threshold=0.9)
    exact = {**tuning.settings, "candidates": "exact"}
    truth = pairs_of(nd.dedup(path, pairs="all", **exact))
    result = nd.dedup(path, pairs="all", **tuning.settings)
    recall = len(pairs_of(result) & truth) / len(truth)
    assert recall >= 0.95
    assert recall == pytest.approx(tuning.choice.recall.value, abs=0.05)
    assert 1 / 2 < result.found.candidates / tuning.choice.candidate_pairs < 2
