import doctest
import unicodedata

from hypothesis import given, strategies as st

from neardup import visible as visible_module
from neardup.visible import visible


@given(st.text())
def test_no_control_character_is_left(text):
    shown = visible(text)
    assert not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in shown)
    assert not any(unicodedata.bidirectional(char) in ("RLO", "LRO", "RLE") for char in shown)


def test_readable_text_stays_as_it_is():
    text = "Łódź 東京 नमस्ते 👩‍👩‍👧 ✈️ [red]bold[/red]"
    assert visible(text) == text


def test_controls_are_named():
    assert visible("\x1b\x7f\x9b\ufeff\n") == "␛␡⟨U+009B⟩⟨U+FEFF⟩␊"


def test_example_in_the_docstring():
    result = doctest.testmod(visible_module)
    assert result.attempted
    assert not result.failed
