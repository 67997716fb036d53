import pytest
from hypothesis import given, strategies as st

from neardup.errors import SettingError
from neardup.features.spec import Field, Fields, record_fields

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
