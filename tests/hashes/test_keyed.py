"""Keyed families: names, where the key comes from, and that it is never stored or shown."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

import neardup as nd
from neardup.errors import InputError, SchemeMismatchError, SettingError
from neardup.fingerprints import Scheme
from neardup.hashes import hash_family
from neardup.hashes.keyed import KeyedNd1, key_variable, keyed_by_name
from neardup.hashes.nd1 import feature_rows, hashes_in_field, shingle_hashes
from neardup.kernels.hash_key import PRIME, HashKey
from neardup.kernels.reference.keyed import KeyedHash

SECRET = bytes.fromhex("7c1f09b2a3d4e5f60718293a4b5c6d7e")
OTHER = bytes.fromhex("00112233445566778899aabbccddeeff")
KEY = HashKey.derive("crawl", SECRET)
WORDS = st.integers(0, 2**64 - 1)
KEYS = st.builds(
    HashKey,
    *(WORDS, WORDS),
    st.sampled_from([2, PRIME - 1, KEY.shingle_base]),
    *(WORDS, WORDS, WORDS, WORDS),
)


@pytest.fixture
def in_environment(monkeypatch):
    monkeypatch.setenv("NEARDUP_KEY_CRAWL", SECRET.hex())


def test_the_key_is_found_in_the_environment(in_environment):
    family = hash_family("nd1:crawl")
    assert family == KeyedNd1("crawl", SECRET)
    assert hash_family(family.name) == family
    assert family.name.startswith("nd1:crawl#")
    assert family.fit is None


def test_a_changed_environment_is_noticed(in_environment, monkeypatch):
    before = hash_family("nd1:crawl")
    monkeypatch.setenv("NEARDUP_KEY_CRAWL", OTHER.hex())
    assert hash_family("nd1:crawl") != before


def test_names_and_variables():
    assert key_variable("web-crawl_2") == "NEARDUP_KEY_WEB_CRAWL_2"


@pytest.mark.parametrize(
    "name",
    ["nd1:", "nd1:Crawl", "nd1:a b", "nd1:ä", "nd1:a/b", "nd1:" + 33 * "x", "nd1:a#12", "nd1:-a"],
)
def test_bad_names_are_refused(name):
    with pytest.raises(SettingError, match="name of a key"):
        hash_family(name)


@pytest.mark.parametrize("digits", [SECRET.hex(), SECRET.hex()[:24], SECRET.hex().upper()])
def test_a_key_in_place_of_its_name_is_refused_and_not_repeated(digits):
    with pytest.raises(SettingError) as refused:
        hash_family("nd1:" + digits)
    assert digits.lower() not in str(refused.value).lower()


def test_a_missing_key_is_a_sentence():
    with pytest.raises(SettingError, match=r"nd1:crawl needs its key: set NEARDUP_KEY_CRAWL to"):
        hash_family("nd1:crawl")
    with pytest.raises(SettingError, match="the key it was made with"):
        hash_family("nd1:crawl#01234567")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("  ", "needs its key"),
        ("geheim", "not a key in hex"),
        ("0123456789abcde", "not a key in hex"),
        ("00 11", "not a key in hex"),
        ("0011223344556677", "a key of 8 bytes"),
        (130 * "0f", "a key of 130 bytes"),
        (16 * "ab", "repeats the same few bytes"),
        (b"passwordpassword".hex(), "repeats the same few bytes"),
    ],
)
def test_keys_that_are_none_are_refused_and_not_repeated(value, message, monkeypatch):
    monkeypatch.setenv("NEARDUP_KEY_CRAWL", value)
    with pytest.raises(SettingError, match=message) as refused:
        hash_family("nd1:crawl")
    assert not value.strip() or value not in str(refused.value)


def test_a_secret_in_python_is_bytes():
    with pytest.raises(SettingError, match="of type str"):
        nd.keyed("crawl", SECRET.hex())
    with pytest.raises(SettingError, match="name of a key"):
        nd.keyed("crawl#01234567", SECRET)


def test_another_key_of_the_same_name_is_refused_with_both_names(monkeypatch):
    mine, theirs = KeyedNd1("crawl", SECRET), KeyedNd1("crawl", OTHER)
    monkeypatch.setenv("NEARDUP_KEY_CRAWL", OTHER.hex())
    with pytest.raises(SchemeMismatchError) as refused:
        keyed_by_name(mine.name)
    assert mine.name in str(refused.value)
    assert theirs.name in str(refused.value)


def test_fingerprints_of_two_keys_do_not_mix():
    texts = ["to be or not to be"]
    a, b = (nd.fingerprint(texts, hash=KeyedNd1("crawl", key)) for key in (SECRET, OTHER))
    with pytest.raises(SchemeMismatchError) as refused:
        nd.hamming(a, b)
    assert str(a.scheme) in str(refused.value)
    assert str(b.scheme) in str(refused.value)


def test_name_and_key_both_make_the_bits():
    families = [KeyedNd1("a", SECRET), KeyedNd1("b", SECRET), KeyedNd1("a", OTHER)]
    assert len({family.value("cat") for family in families}) == 3
    assert len({family.name.split("#")[1] for family in families}) == 3


def test_no_repr_shows_the_key():
    family = nd.keyed("crawl", SECRET)
    numbers = [str(word) for word in KEY.words.tolist()] + [hex(w) for w in KEY.words.tolist()]
    for shown in (repr(family), str(family), repr(KEY), str(KEY), repr(KeyedHash(KEY))):
        assert not any(secret in shown for secret in [SECRET.hex(), repr(SECRET), *numbers])


def test_a_pickle_is_the_name_alone(monkeypatch):
    family = KeyedNd1("pickled", SECRET)
    packed = pickle.dumps(family)
    assert SECRET not in packed
    assert KEY.words.tobytes() not in packed
    with pytest.raises(SettingError, match="needs its key"):
        pickle.loads(packed)
    monkeypatch.setenv("NEARDUP_KEY_PICKLED", SECRET.hex())
    assert pickle.loads(packed) == family
    assert copy.deepcopy(family) is family
    assert copy.copy(family) is family


def test_a_key_given_in_python_is_known_by_its_full_name():
    family = nd.keyed("given-here", SECRET)
    assert hash_family(family.name) is family
    with pytest.raises(SettingError, match="needs its key"):
        hash_family("nd1:given-here")


def test_a_scheme_is_read_without_the_key():
    name = KeyedNd1("nowhere", SECRET).name
    scheme = Scheme.parse(f"{name}/word:3/set/64")
    assert scheme.hash == name
    assert scheme.is_keyed
    with pytest.raises(SettingError, match="is not a scheme name"):
        Scheme.parse("nd1:nowhere/word:3/set/64")


TERMS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=60)


@given(TERMS, KEYS)
def test_arrays_of_terms_are_hashed_as_the_twin_hashes_one(terms, key):
    keyed = KeyedHash(key)
    rows = feature_rows(terms, 130, key)
    for term, row in zip(terms, rows.tolist(), strict=True):
        feature = keyed.feature_hash([term])
        wide = [keyed.widen(feature, place) for place in range(3)]
        assert row == [*wide[:2], wide[2] >> 62 << 62]


@given(st.lists(TERMS.filter(len), max_size=40), KEYS)
def test_arrays_of_shingles_are_hashed_as_the_twin_hashes_one(shingles, key):
    keyed = KeyedHash(key)
    features = shingle_hashes(shingles, key)
    assert features.tolist() == [keyed.feature_hash(shingle) for shingle in shingles]
    inside = hashes_in_field(features, "title", key)
    expected = [keyed.feature_in_field(feature, "title") for feature in features.tolist()]
    assert inside.tolist() == expected


@given(st.lists(WORDS, min_size=1), KEYS)
def test_every_number_is_taken_modulo_the_prime(features, key):
    """Features may be any 64-bit numbers, including the prime and those above it."""
    every = np.array([*features, PRIME - 1, PRIME, 2**64 - 1], np.uint64)
    keyed = KeyedHash(key)
    expected = [keyed.feature_in_field(feature, "") for feature in every.tolist()]
    assert hashes_in_field(every, "", key).tolist() == expected


def test_half_a_surrogate_pair_is_refused():
    with pytest.raises(InputError, match="surrogate"):
        KeyedNd1("crawl", SECRET).value("\ud800")
