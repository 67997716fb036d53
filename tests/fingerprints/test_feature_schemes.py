"""Schemes of more than shingles: unions, sentences, keywords, tf-idf, records."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from tests.kernels.hostile_texts import TEXTS

import neardup as nd
from neardup.features.hashed import text_features
from neardup.features.spec import FeatureSpec, TextColumn
from neardup.features.terms import text_terms
from neardup.fingerprints import Scheme
from neardup.kernels.reference import text as reference

POEM = "The cat sat. The dog ran away!\n\nNobody knew why, not even the cat. It was late."
SOME = [POEM, "the cat sat", "", "猫坐在垫子上。狗跑了。", "A cat; a mat.", None]


def by_hand(features, bits=64):
    """The fingerprint of {feature hash: weight}."""
    digests = [feature >> (64 - bits) for feature in features]
    return reference.weigh(list(features.values()), digests, bits=bits, ties_up=False)[0]


def shingle_counts(text, *shingles):
    return dict(reference.feature_counts(text, shingles))


@given(text=TEXTS)
def test_a_union_has_the_features_of_all(text):
    features = shingle_counts(text, ("word", 1), ("word", 3), ("char", 4))
    spec = "word:1+word:3+char:4"
    assert nd.fingerprint([text], spec, "count")[0] == by_hand(features)
    assert nd.fingerprint([text], spec, "set")[0] == by_hand(dict.fromkeys(features, 1))


def test_a_union_has_one_name():
    assert str(Scheme.of("word:3+word:1+word:3")) == "nd1/word:1+word:3/set/64"
    assert nd.fingerprint([POEM], "word:3+word:1") == nd.fingerprint([POEM], "word:1+word:3")
    assert nd.fingerprint([POEM], "word:3+word:3") == nd.fingerprint([POEM], "word:3")


@pytest.mark.parametrize("spec", ["keywords:5+word:1", "terms+word:1"])
def test_what_has_weights_of_its_own_stands_alone(spec):
    with pytest.raises(nd.SettingError, match="stands alone"):
        nd.fingerprint([POEM], spec)


def test_a_sentence_is_a_feature():
    sentences = ["nobody knew why not even the cat", "the dog ran away"]
    features = {reference.feature_hash(sentence.split()): 1 for sentence in sentences}
    assert nd.fingerprint([POEM], "sentences:2")[0] == by_hand(features)
    edges = ["the cat sat the dog ran away", "the cat sat", "the dog ran away"]
    edges += ["nobody knew why not even the cat", "it was late"]
    features = {reference.feature_hash(sentence.split()): 1 for sentence in edges}
    assert nd.fingerprint([POEM], "edges")[0] == by_hand(features)


@settings(max_examples=60)
@given(
    st.lists(TEXTS, max_size=3), st.sampled_from(["word:1+char:2", "sentences:2", "edges+word:2"])
)
def test_strings_and_hashes_name_the_same_features(texts, spec):
    """What idf tables are looked up by does not depend on the hash of the scheme."""
    columns = [TextColumn(pa.array(texts, pa.large_string()))]
    by_hash = text_features(columns, FeatureSpec.parse(spec))
    by_name = text_terms(columns, FeatureSpec.parse(spec))
    for i in range(len(texts)):
        own = slice(by_hash.offsets[i], by_hash.offsets[i + 1])
        named = slice(by_name.offsets[i], by_name.offsets[i + 1])
        if spec == "word:1+char:2":  # a word may be spelt like two characters: one string
            assert set(by_name.hashes[named].tolist()) <= set(by_hash.hashes[own].tolist())
            continue
        found = Counter(dict(zip(by_hash.hashes[own].tolist(), by_hash.counts[own], strict=True)))
        named_counts = zip(by_name.hashes[named].tolist(), by_name.counts[named], strict=True)
        assert found == Counter(dict(named_counts))
    assert by_hash.words.tolist() == by_name.words.tolist()


def documents_of(texts, spec=("word", 1)):
    return [shingle_counts(text or "", spec) for text in texts]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(
    ("weights", "frequency"), [("tfidf", lambda count: count), ("idf", lambda _: 1)]
)
def test_weights_by_rarity(threads, weights, frequency):
    documents = documents_of(SOME)
    total = sum(map(bool, documents))
    frequencies = Counter(feature for document in documents for feature in document)
    expected = [
        by_hand(
            {f: frequency(n) * math.log(1 + total / frequencies[f]) for f, n in document.items()}
        )
        for document in documents
    ]
    fps = nd.fingerprint(SOME, "word:1", weights, threads=threads)
    assert [fps[i] for i in range(len(SOME))] == expected
    assert fps.empty.tolist() == [not document for document in documents]


def lab_weights(document, frequencies, total):
    largest = max(document.values(), default=1)
    weights = {f: n / largest * math.log2(total / frequencies[f]) for f, n in document.items()}
    length = math.hypot(*weights.values())
    return {f: weight / length for f, weight in weights.items()} if length else weights


def test_the_labs_variant():
    documents = documents_of(SOME)
    total = sum(map(bool, documents))
    frequencies = Counter(feature for document in documents for feature in document)
    expected = [by_hand(lab_weights(document, frequencies, total)) for document in documents]
    fps = nd.fingerprint(SOME, "word:1", "tfidf:lab")
    assert [fps[i] for i in range(len(SOME))] == expected


@pytest.mark.parametrize("weights", ["tfidf", "idf"])
def test_terms_are_weighed_by_rarity_too(weights):
    texts = ["to be or not to be", "to do", "be"]
    terms = [text.split() for text in texts]
    by_terms = nd.fingerprint(terms, "terms", weights)
    assert by_terms.array.tolist() == nd.fingerprint(texts, "word:1", weights).array.tolist()
    counted = [dict(Counter(words)) for words in terms]
    assert nd.fingerprint(counted, "terms", weights) == by_terms


def test_idf_weights_ignore_how_often_a_feature_occurs():
    once, often = ["to be", "or not"], ["to be to to be", "not or or not"]
    assert nd.fingerprint(often, "word:1", "idf") == nd.fingerprint(once, "word:1", "idf")
    given = [{"to": 7.0, "be": 0.5}, {"or": 2.0, "not": 3.0}]
    plain = [list(terms) for terms in given]
    assert nd.fingerprint(given, "terms", "idf") == nd.fingerprint(plain, "terms", "idf")


def test_the_weight_of_a_field_multiplies_its_idf():
    records = [{"a": "x x y", "b": "y"}, {"a": "y", "b": "z"}]
    weights = nd.fingerprint(records, "word:1", "idf", text="a*3+b")
    features = {
        reference.feature_in_field(reference.feature_hash(["x"]), "a"): 3 * math.log(1 + 2 / 1),
        reference.feature_in_field(reference.feature_hash(["y"]), "a"): 3 * math.log(1 + 2 / 2),
        reference.feature_in_field(reference.feature_hash(["y"]), "b"): math.log(1 + 2 / 1),
    }
    assert weights[0] == by_hand(features)


def test_keywords_are_not_weighed_by_idf_alone():
    with pytest.raises(nd.SettingError, match="choose tfidf or set"):
        nd.fingerprint(SOME, "keywords:5", "idf")


@pytest.mark.parametrize("weights", ["tfidf", "idf"])
@pytest.mark.parametrize("hash", ["nd1", "md5"])
def test_a_table_weighs_later_documents_alike(tmp_path, hash, weights):
    together = nd.fingerprint(SOME, "word:1", weights, hash=hash)
    counter = nd.idf(SOME, "word:1")
    counter.save(tmp_path / "idf.parquet")
    alone = nd.fingerprint(SOME[:1], "word:1", weights, hash=hash, idf=tmp_path / "idf.parquet")
    assert alone == together[:1]
    assert str(alone.scheme) == f"{hash}/word:1/{weights}/64/idf:{counter.content}"
    assert Scheme.parse(str(alone.scheme)) == alone.scheme
    other = nd.fingerprint(SOME[:2], "word:1", weights, hash=hash)
    with pytest.raises(nd.SchemeMismatchError, match="idf:"):
        nd.hamming(together, other)


def test_an_iterator_is_weighed_like_a_list():
    assert nd.fingerprint(iter(SOME), "word:2", "tfidf") == nd.fingerprint(SOME, "word:2", "tfidf")


def test_keywords_of_chinese_are_jiebas():
    jieba = pytest.importorskip("jieba.analyse")
    text = "小明硕士毕业于中国科学院计算所，后在日本京都大学深造，使用 Python 3.11。"
    tags = dict(jieba.extract_tags(text, topK=5, withWeight=True))
    assert nd.fingerprint([text], "keywords:5")[0] == nd.fingerprint([tags], "terms")[0]


def test_keywords_of_other_text_are_the_best_by_tfidf():
    texts = ["the cat and the dog", "the dog and the bird", "The end of a long tale, 猫咪猫咪 cat"]
    fps = nd.fingerprint(texts, "keywords:2")
    everywhere, in_two, in_one = (math.log(1 + 3 / n) for n in (3, 2, 1))
    best = {"the": 2 * everywhere / 5, "and": in_two / 5}  # of equal weights the first by name
    assert fps[0] == nd.fingerprint([best], "terms")[0]
    best = {"bird": in_one / 5, "the": 2 * everywhere / 5}
    assert fps[1] == nd.fingerprint([best], "terms")[0]
    best = {"猫咪": 2 * in_one / 8, "end": in_one / 8}
    assert fps[2] == nd.fingerprint([best], "terms")[0]


def test_a_text_without_keywords_is_taken_by_its_words():
    fps = nd.fingerprint(["a b", "c d", "a b", "!"], "keywords:9")
    assert fps[0] == fps[2] != fps[1]
    assert fps.empty.tolist() == [False, False, False, True]


RECORDS: list[dict[str, Any]] = [
    {"name": "Anna Berg", "city": "Berg am See", "zip": 82335},
    {"name": "Berg Anna", "city": None, "zip": None},
    {"name": None, "city": None, "zip": None},
]


def record_features(record, weights):
    features = {}
    for name, weight in weights.items():
        for feature, _ in reference.feature_counts(str(record[name] or ""), [("word", 1)]):
            features[reference.feature_in_field(feature, name)] = weight
    return features


def test_the_features_of_a_field_are_its_own():
    fps = nd.fingerprint(RECORDS, "word:1", text="name*2+city+zip")
    weights = {"name": 2.0, "city": 1.0, "zip": 1.0}
    expected = [by_hand(record_features(record, weights)) for record in RECORDS]
    assert [fps[i] for i in range(3)] == expected
    assert fps.empty.tolist() == [False, False, True]
    assert str(fps.scheme) == "nd1/word:1/set/64/fields:name*2+city+zip"
    assert Scheme.parse(str(fps.scheme)) == fps.scheme


@pytest.mark.parametrize("shape", [pa.Table.from_pylist, pd.DataFrame, pl.DataFrame])
def test_records_come_in_any_shape(shape):
    records = [dict(record, zip=str(record["zip"] or "")) for record in RECORDS]
    table = shape(records)
    expected = nd.fingerprint(records, "word:1", text="name*2+city+zip")
    assert nd.fingerprint(table, "word:1", text="name*2+city+zip") == expected
    one = nd.fingerprint(table, "word:1", text="name")
    assert one == nd.fingerprint([record["name"] for record in RECORDS], "word:1")


def test_records_by_another_hash_keep_their_fields_apart():
    swapped = [{"a": "x", "b": "y"}, {"a": "y", "b": "x"}]
    for hash in ("nd1", "md5"):
        fps = nd.fingerprint(swapped, "word:1", "count", hash=hash, text="a+b")
        assert fps[0] != fps[1]
    weighed = nd.fingerprint(swapped, "word:1", "tfidf", text="a*3+b")
    by_name = nd.fingerprint(swapped, "word:1", "tfidf", hash="md5", text="a*3+b")
    assert weighed.scheme.idf == by_name.scheme.idf


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (["text"], "a record is of type str"),
        ({"name": "x"}, "one record was given"),
        ([{"name": "x"}], "no column 'city'"),
        ([{"name": "x", "city": ["a"]}], "'city' is of Arrow type"),
    ],
)
def test_records_that_are_none_are_refused(records, message):
    with pytest.raises(nd.InputError, match=message):
        nd.fingerprint(records, text="name+city")


def test_terms_have_no_fields():
    with pytest.raises(nd.SettingError, match="takes one column"):
        nd.fingerprint(RECORDS, "keywords:5", text="name+city")


def test_weights_of_the_arxiv_labs(shared_data):
    """Their tf-idf, made anew from the terms: the weights that the vectors of the labs have."""
    table = pq.read_table(shared_data / "arxiv" / "features.parquet")
    terms = table["terms"].combine_chunks()
    counted = pc.value_counts(terms.flatten())
    frequencies = dict(zip(*(field.to_pylist() for field in counted.flatten()), strict=True))
    weights = table["weights"][0].as_py()
    words = table["terms"][0].as_py()
    # The term that is most frequent in the document has tf / max tf = 1; ratios tell the others.
    idf = np.array([math.log2(len(table) / frequencies[word]) for word in words])
    tf = np.array(weights) / idf
    tf /= tf.min()
    assert np.abs(tf - tf.round()).max() < 1e-3
    document = dict(zip(words, tf.round().tolist(), strict=True))
    made = nd.fingerprint([document], "terms", "tfidf:lab", idf=nd.idf(table, "terms"))
    given = nd.fingerprint([dict(zip(words, weights, strict=True))], "terms")
    assert made[0] == given[0]
