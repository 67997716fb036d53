import json

import pytest
from hypothesis import given, strategies as st

import neardup as nd
from neardup.errors import SchemeMismatchError, SettingError
from neardup.fingerprints import Scheme
from neardup.settings import RECIPE

SCHEMES = st.builds(
    Scheme.of,
    st.builds("{}:{}".format, st.sampled_from(["word", "char"]), st.integers(1, 2**31 - 1)),
    st.sampled_from(["set", "count"]),
    st.integers(1, 4096),
    st.just("nd1"),
    st.sampled_from([">0", ">=0"]),
)


@given(SCHEMES)
def test_a_scheme_is_read_back_from_its_name(scheme):
    assert Scheme.parse(str(scheme)) == scheme


def test_names():
    assert str(Scheme.of()) == "nd1/word:3/set/64"
    assert str(Scheme.of("char:4", "count", 42, tie=">=0")) == "nd1/char:4/count/42/>=0"
    assert Scheme.parse("nd1/word:3/set/64/>0") == Scheme.of()


@given(SCHEMES)
def test_room_for_the_bits(scheme):
    assert 64 * (scheme.row_words - 1) < scheme.bits <= 64 * scheme.row_words
    assert 8 * (scheme.row_bytes - 1) < scheme.bits <= 8 * scheme.row_bytes


@pytest.mark.parametrize(
    "name",
    [
        *("", "nd1", "nd1/word:3/set", "nd1/word:3/set/x", "nd1/word:3/set/-1", "nd1/word:3/set/²"),
        *("nd1/word:3/set/64/>0/more", "nd2/word:3/set/64", "nd1/word:3/bag/64", "nd1/word/set/64"),
        *("nd1/word:3/set/0", "nd1/word:3/set/9999", "nd1/word:3/set/64/=0"),
    ],
)
def test_other_names_are_refused(name):
    with pytest.raises(SettingError):
        Scheme.parse(name)


@given(SCHEMES, SCHEMES)
def test_two_schemes_do_not_mix(a, b):
    a.require_same(a)
    if a != b:
        with pytest.raises(SchemeMismatchError) as caught:
            a.require_same(b)
        assert str(a) in str(caught.value)
        assert str(b) in str(caught.value)


def test_a_mismatch_names_both():
    a, b = nd.fingerprint(["a"]), nd.fingerprint(["a"], features="char:4", bits=128)
    with pytest.raises(nd.SchemeMismatchError, match=r"nd1/word:3/set/64.*nd1/char:4/set/128"):
        nd.hamming(a, b)


@pytest.mark.parametrize(
    "recipe",
    [
        {},
        {"features": "char:4", "weights": "count", "bits": 42, "tie": ">=0"},
        {"features": "terms", "hash": "md5"},
        {"projection": "sphere:8x16"},
    ],
)
def test_the_recipe_makes_the_same_scheme(recipe):
    scheme = Scheme.of(**recipe)
    assert tuple(scheme.recipe) == RECIPE
    assert json.loads(json.dumps(scheme.recipe)) == scheme.recipe
    assert Scheme.of(**scheme.recipe) == scheme
