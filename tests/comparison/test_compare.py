import dataclasses
import json
import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import neardup as nd
from neardup.kernels.reference import text as reference
from neardup.pairs.similarity import containment, cosine, inclusion, jaccard, weighted_jaccard

A = "The quick brown fox jumps over the lazy dog."
B = "The quick red fox jumps over the lazy dog!"
TEXTS = st.one_of(
    st.text(), st.lists(st.sampled_from(["a", "B", "c", " ", "東", "."])).map("".join)
)
SPECS = st.tuples(st.sampled_from(["word", "char"]), st.integers(1, 5))


def features(text, unit, size):
    if not reference.words(text):
        return Counter()
    return Counter(reference.shingles(reference.units(text, unit), size))


@settings(deadline=None)  # the first text loads the Unicode tables
@given(TEXTS, TEXTS, SPECS, st.sampled_from(["set", "count"]), st.sampled_from([1, 63, 64, 65]))
def test_numbers_are_those_of_the_reference(a, b, spec, weights, bits):
    unit, size = spec
    found = nd.compare(a, b, features=f"{unit}:{size}", weights=weights, bits=bits)
    in_a, in_b = features(a, unit, size), features(b, unit, size)
    assert (found.a.words, found.b.words) == (len(reference.words(a)), len(reference.words(b)))
    assert (found.a.features, found.b.features) == (len(in_a), len(in_b))
    assert found.shared == len(in_a.keys() & in_b.keys())
    assert found.only_a == len(in_a.keys() - in_b.keys())
    assert found.only_b == len(in_b.keys() - in_a.keys())
    join = " ".join if unit == "word" else "".join
    assert set(found.a.examples) <= {join(feature) for feature in in_a.keys() - in_b.keys()}
    assert bool(found.b.examples) == bool(found.only_b)
    if not in_a or not in_b:
        assert found.reason
        assert found.distance is found.jaccard is found.cosine is found.estimated_cosine is None
        assert found.containment is found.inclusion_a is found.inclusion_b is None
        assert found.differing_bits == ()
        return
    if weights == "set":
        assert found.jaccard == pytest.approx(jaccard(in_a.keys(), in_b.keys()))
        in_a, in_b = dict.fromkeys(in_a, 1), dict.fromkeys(in_b, 1)
    else:
        assert found.jaccard == pytest.approx(weighted_jaccard(in_a, in_b))
    assert found.cosine == pytest.approx(cosine(in_a, in_b))
    assert found.inclusion_a == inclusion(in_a, in_b)
    assert found.inclusion_b == inclusion(in_b, in_a)
    assert found.containment == containment(in_a, in_b)
    prints = nd.fingerprint([a, b], features=f"{unit}:{size}", weights=weights, bits=bits)
    digits_a, digits_b = (f"{prints[i]:0{bits}b}" for i in (0, 1))
    assert found.differing_bits == tuple(i for i in range(bits) if digits_a[i] != digits_b[i])
    assert found.distance == len(found.differing_bits)
    assert [found.a.hex, found.b.hex] == prints.hex()


@settings(deadline=None)  # the first text loads the Unicode tables
@given(TEXTS, TEXTS)
def test_the_diff_holds_both_texts(a, b):
    found = nd.compare(a, b)
    assert "".join(edit.a for edit in found.diff) == a
    assert "".join(edit.b for edit in found.diff) == b
    assert found.diff_complete


def test_a_text_is_like_itself_whatever_its_case():
    found = nd.compare(A, A.upper())
    assert (found.distance, found.jaccard, found.cosine, found.estimated_cosine) == (0, 1, 1, 1)
    assert found.only_a == found.only_b == 0
    assert {edit.op for edit in found.diff} == {"variant", "equal"}


def test_the_estimate_comes_from_the_bits():
    found = nd.compare(A, B, bits=256)
    assert found.estimated_cosine == pytest.approx(math.cos(math.pi * found.distance / 256))
    assert found.estimated_cosine == pytest.approx(found.cosine, abs=0.25)


def test_to_dict_is_plain_and_whole():
    found = nd.compare(A, B, features="word:2", weights="count", bits=72, tie=">=0")
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["scheme"] == "nd1/word:2/count/72/>=0"
    assert plain["settings"] == {
        "features": "word:2",
        "weights": "count",
        "bits": 72,
        "hash": "nd1",
        "tie": ">=0",
    }
    assert plain["a"] == {
        "words": 9,
        "features": 8,
        "fingerprint": found.a.hex,
        "empty": False,
        "examples": ["quick brown"],
    }
    assert len(found.a.hex) == 18
    assert (plain["shared"], plain["only_a"], plain["only_b"]) == (6, 2, 2)
    assert plain["distance"] == len(plain["differing_bits"]) == found.distance
    assert plain["jaccard"] == pytest.approx(6 / 10)
    assert plain["cosine"] == pytest.approx(6 / 8)
    assert plain["reason"] is None
    assert plain["diff"][1] == {"op": "replace", "a": "brown", "b": "red"}
    assert plain["diff_complete"] is True


def test_an_empty_document_has_a_reason_and_no_numbers():
    plain = nd.compare("...", "a word").to_dict()
    assert plain["reason"] == "A is empty: a document without a word can never match"
    assert plain["a"]["empty"]
    assert not plain["b"]["empty"]
    for number in ("distance", "differing_bits", "jaccard", "cosine", "estimated_cosine"):
        assert plain[number] is None
    assert "A and B are empty" in repr(nd.compare("", "!", features="char:2"))


def test_printing_is_compact():
    found = nd.compare(A, B)
    assert repr(found) == (
        f"<Comparison nd1/word:3/set/64: distance {found.distance} of 64 bits, "
        f"jaccard {found.jaccard:.4f}, cosine {found.cosine:.4f}>"
    )
    first, line_a, line_b = str(found).splitlines()
    assert first in repr(found)
    assert line_a == f"A  {found.a.hex}  9 words, 7 features, 3 of them only here"
    assert found.b.hex in line_b


def test_a_comparison_cannot_be_changed():
    found: Any = nd.compare(A, B)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.shared = 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"features": "words:3"}, "not a feature spec"),
        ({"weights": "bag"}, "weights='bag'"),
        ({"bits": 0}, "bits=0"),
        ({"hash": "crc"}, "hash='crc'"),
        ({"tie": "<0"}, "tie='<0'"),
    ],
)
def test_settings_that_cannot_work_are_named(settings, message):
    with pytest.raises(nd.SettingError, match=message):
        nd.compare(A, B, **settings)


def test_only_text_can_be_compared():
    with pytest.raises(nd.SettingError, match="b must be a str, not bytes"):
        nd.compare(A, b"bytes")  # type: ignore[call-overload]
    with pytest.raises(nd.InputError, match=r"U\+DC80"):
        nd.compare(A, "\udc80")
