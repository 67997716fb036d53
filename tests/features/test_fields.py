import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import neardup as nd
from neardup.errors import SettingError
from neardup.features.hashed import text_features
from neardup.features.spec import (
    FeatureSpec,
    Field,
    FieldKind,
    Fields,
    TextColumn,
    record_fields,
)
from neardup.features.terms import text_terms
from neardup.fingerprints import Scheme

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9).filter(
    lambda name: name == name.strip()
)
WEIGHTS = st.integers(1, 99).map(lambda n: n / 4)


@given(st.dictionaries(NAMES, WEIGHTS, min_size=1, max_size=4))
def test_fields_are_read_back_from_their_name(weights):
    fields = Fields(tuple(Field(name, weight) for name, weight in weights.items()))
    assert Fields.parse(str(fields)) == fields
    assert "/" not in str(fields)


def test_weights_and_spaces():
    assert Fields.parse("name*2 + street + city*0.5").fields == (
        Field("name", 2.0),
        Field("street"),
        Field("city", 0.5),
    )


def test_one_plain_name_is_no_record():
    assert record_fields(None) is None
    assert record_fields("body") is None
    assert record_fields("title*3") == Fields((Field("title", 3.0),))


@pytest.mark.parametrize("spec", ["+", "a+", "a*0", "*2", "a**", "a+a", "a*2+a"])
def test_other_specs_are_refused(spec):
    with pytest.raises(SettingError, match="text="):
        Fields.parse(spec)


KINDS = ("char:3", "word:1", "exact", "number", "number:0.05", "number:2", "date", "date:3")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["dob", "a:b", "a+b*c", "first name", "é"])
def test_a_field_with_a_kind_is_written_as_it_is_read(kind, name):
    field = Field(name, 2.5, FieldKind.parse(kind))
    fields = Fields((field, Field("other")))
    assert Fields.parse(str(fields)) == fields
    scheme = Scheme.of("word:1", fields=fields)
    assert Scheme.parse(str(scheme)) == scheme


def test_one_column_with_a_kind_is_a_record_of_one_field():
    assert record_fields("title:char:3").fields == (Field("title", 1.0, FieldKind("char", 3)),)
    assert record_fields("dc:title") is None
    spaced = record_fields(" name : char:3 * 2 + dob:exact ")
    assert str(spaced) == "name:char:3*2+dob:exact"


@pytest.mark.parametrize(
    "wrong", ["a:exat+b", "a:char:0+b", "a:number:x+b", "a:date:1.5+b", "a:+b", "a:word:1:2+b"]
)
def test_a_wrong_kind_is_explained_with_an_example(wrong):
    with pytest.raises(SettingError, match=r"'name:char:3\*2 \+ dob:exact'"):
        record_fields(wrong)


def test_names_of_schemes_without_kinds_are_unchanged():
    scheme = Scheme.of("word:1", "tfidf", fields=Fields.parse("name*2+city"))
    assert str(scheme) == "nd1/word:1/tfidf/64/fields:name*2+city"
    assert scheme.counted == "word:1/fields:name+city"


def test_values_that_mean_the_same_are_one_feature():
    fields = Fields.parse("dob:date + price:number + code:exact")
    records = [
        {"dob": "19810130", "price": "1,000", "code": "AB 1"},
        {"dob": "1981-01-30T10:00", "price": "$1000.00", "code": " ab  1 "},
        {"dob": "1981-01-31", "price": "-1000", "code": "ab1"},
    ]
    for hash in ("nd1", "md5"):
        same, other, third = nd.fingerprint(records, text=str(fields), hash=hash).hex()
        assert same == other != third


def test_features_as_strings_and_as_hashes_are_the_same():
    columns = [
        TextColumn(pa.array(["1981-01-30", "n/a"]), Field("dob", 1, FieldKind("date"))),
        TextColumn(pa.array(["Ann Lee", "Bob"]), Field("name", 2, FieldKind("char", 2))),
        TextColumn(pa.array(["1 Main Street", ""]), Field("street")),
    ]
    spec = FeatureSpec.parse("word:1")
    hashed, terms = text_features(columns, spec), text_terms(columns, spec)
    for row in range(2):
        ours, theirs = (
            sorted(found.hashes[slice(*found.offsets[row : row + 2])].tolist())
            for found in (hashed, terms)
        )
        assert ours == theirs
    assert hashed.words.tolist() == terms.words.tolist()
