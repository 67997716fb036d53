import pytest
from hypothesis import given, strategies as st

from neardup.errors import SettingError
from neardup.features.spec import FeatureKind, FeatureSpec


@given(st.sampled_from(["word", "char"]), st.integers(1, 2**31 - 1))
def test_a_spec_is_read_back_from_its_name(unit, size):
    spec = FeatureSpec((FeatureKind(unit, size),))
    assert FeatureSpec.parse(str(spec)) == spec
    assert FeatureSpec.parse(f" {spec} ") == spec
    assert FeatureSpec.parse(spec) is spec


@pytest.mark.parametrize(
    "text",
    [
        *("", "word", "word:", "words:3", "WORD:3", "char: 4", "word:3:4", "word:3\nx"),
        *("word:0", "word:-1", "word:1.5", "word:٣", f"word:{2**31}", "word:" + "9" * 30),
    ],
)
def test_anything_else_is_refused_with_an_example(text):
    with pytest.raises(SettingError, match="word:3") as caught:
        FeatureSpec.parse(text)
    assert repr(text) in str(caught.value)
