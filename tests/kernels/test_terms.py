"""The term kernels against their twins: terms of texts, MD5, and nd1 hashes of terms."""

import hashlib
from itertools import chain, pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from tests.kernels.hostile_texts import TEXTS

from neardup import kernels
from neardup.kernels import HashKey, _native
from neardup.kernels.reference import terms as reference, text
from neardup.kernels.reference.keyed import KeyedHash
from neardup.kernels.terms import ONE_UNIT, Source, Vocabulary, find_terms, hash_terms, md5

KINDS = st.lists(
    st.tuples(st.sampled_from(["word", "char"]), st.sampled_from([1, 2, 3, 7, 2**31 - 1])),
    min_size=1,
    max_size=3,
)
NAMES = st.sampled_from([[None], ["title"], ["title", "body"], ["标题", "b", ""]])
KEY = HashKey.derive("test", b"secret")
SHORT = st.text("ab c.東京", max_size=12)


def found_terms(documents, names, kinds, isa="auto"):
    columns = [pa.array(list(texts), pa.large_string()) for texts in zip(*documents, strict=True)]
    words = [kernels.find_sets(column, [("word", 1)])[2] for column in columns]
    sources = [
        Source(column, words[field], unit, size, field)
        for field, column in enumerate(columns)
        for unit, size in kinds
    ]
    prefixes = [reference.field_prefix(name).encode() for name in names]
    return find_terms(sources, prefixes, len(documents), isa=isa)


@given(
    NAMES, KINDS, st.lists(st.lists(st.one_of(TEXTS, SHORT), min_size=3, max_size=3), min_size=1)
)
def test_terms_are_those_of_the_twin(names, kinds, documents):
    documents = [texts[: len(names)] for texts in documents]
    expected = reference.find_terms(documents, names, kinds)
    for isa in kernels.available_isas():
        found = found_terms(documents, names, kinds, isa)
        assert list(found.vocabulary) == list(expected.vocabulary)
        ranges = list(pairwise(found.offsets.tolist()))
        assert [found.places[a:b].tolist() for a, b in ranges] == expected.places
        assert [found.counts[a:b].tolist() for a, b in ranges] == expected.counts


@pytest.mark.parametrize("kinds", [[("word", 3)], [("char", 4)], [("word", 1), ("char", 2)]])
def test_texts_longer_than_a_piece_have_the_terms_of_the_twin(kinds):
    chance = np.random.RandomState(5)
    parts = np.array(["Word", "東", "京都", " ", ", ", "É", "x" * 40, "\u00a0 \n", "🎉", "ⓐ"])
    documents = [["".join(chance.choice(parts, 20_000))], [" " * 40_000 + "a" * 50_000 + " "]]
    expected = reference.find_terms(documents, [None], kinds)
    found = found_terms(documents, [None], kinds)
    assert list(found.vocabulary) == list(expected.vocabulary)
    assert found.places.tolist() == list(chain(*expected.places))
    assert found.counts.tolist() == list(chain(*expected.counts))


def test_sentences_count_together_with_the_shingles_of_their_words():
    texts = pa.array(["Ab cd. Ab cd.", "", "Ef"], pa.large_string())
    sentences = pa.array(["Ab cd.", "Ab cd.", "Ef"], pa.large_string())
    words = np.array([4, 0, 1], np.uint32)
    sources = [
        Source(texts, words, "word", 2),
        Source(sentences, words, "word", 2**31 - 1, 0, np.array([0, 2, 2, 3])),
    ]
    found = find_terms(sources, [b""], 3)
    assert list(found.vocabulary) == ["ab cd", "cd ab", "ef"]
    assert found.offsets.tolist() == [0, 2, 2, 3]
    assert found.counts.tolist() == [4, 1, 2]


@given(st.lists(st.binary(max_size=200), max_size=40), st.sampled_from([1, 2]))
def test_md5_is_that_of_hashlib(terms, limbs):
    expected = [hashlib.md5(term, usedforsecurity=False).digest()[: 8 * limbs] for term in terms]
    for isa in kernels.available_isas():
        rows = md5(Vocabulary.of(terms), limbs, isa=isa)
        assert [row.astype(">u8").tobytes() for row in rows] == expected


def test_md5_pads_every_length_of_a_block():
    terms = [bytes([length % 251]) * length for length in range(300)]
    rows = md5(Vocabulary.of(terms), 2)
    expected = [hashlib.md5(term, usedforsecurity=False).hexdigest() for term in terms]
    assert [row.astype(">u8").tobytes().hex() for row in rows] == expected


@given(st.lists(st.text(max_size=40), max_size=20), st.sampled_from([None, KEY]))
def test_terms_hash_as_one_unit(terms, key):
    twin = KeyedHash(key) if key else text
    rows = hash_terms(Vocabulary.of([term.encode() for term in terms]), ONE_UNIT, 3, key=key)
    features = [twin.feature_hash([term]) for term in terms]
    assert rows.tolist() == [[twin.widen(f, place) for place in range(3)] for f in features]


@given(
    KINDS, st.lists(st.one_of(TEXTS, SHORT), min_size=1, max_size=4), st.sampled_from([None, KEY])
)
def test_terms_of_texts_hash_as_shingles(kinds, texts, key):
    documents = [[one] for one in texts]
    found, expected = (
        find(documents, [None], kinds) for find in (found_terms, reference.find_terms)
    )
    twin = KeyedHash(key) if key else text
    hashes = hash_terms(found.vocabulary, found.units, key=key)[:, 0]
    assert hashes.tolist() == [twin.feature_hash(shingle) for shingle in expected.shingles]


def test_hashes_do_not_depend_on_threads():
    terms = Vocabulary.of([str(i).encode() for i in range(20_000)])
    assert np.array_equal(md5(terms, 2, threads=1), md5(terms, 2, threads=4))
    one, four = (hash_terms(terms, ONE_UNIT, 2, threads=threads) for threads in (1, 4))
    assert np.array_equal(one, four)


def test_a_vocabulary_is_a_sequence():
    terms = Vocabulary.of([b"to", "是".encode(), b""])
    assert terms[1] == "是"
    assert list(terms[1:]) == ["是", ""]
    assert list(terms.take(np.array([2, 0]))) == ["", "to"]
    strings = pa.array(["a", "to", "是"], pa.large_string())[1:]
    assert list(Vocabulary.of_strings(strings)) == ["to", "是"]


@pytest.mark.parametrize(("begin", "length"), [(-1, 1), (0, 9), (4, -1), (9, 0), (2**62, 2**62)])
def test_terms_outside_the_data_are_refused(begin, length):
    outside = np.zeros(8, np.uint8), np.array([begin]), np.array([length])
    with pytest.raises(ValueError, match="outside the data"):
        _native.md5(*outside, limbs=1, threads=1, isa="auto")
    with pytest.raises(ValueError, match="outside the data"):
        hash_terms(Vocabulary(*outside), ONE_UNIT)


@pytest.mark.parametrize("strings", [[0, 2], [1, 0], [-1, 1]])
def test_documents_outside_the_strings_are_refused(strings):
    texts = pa.array(["a"], pa.large_string())
    source = Source(texts, np.ones(1, np.uint32), "word", 1, 0, np.array(strings))
    with pytest.raises(ValueError, match="documents"):
        find_terms([source], [b""], 1)
