"""Markup: whatever is not markup is escaped."""

from hypothesis import given, strategies as st

from neardup.report.markup import Markup, fill, joined


@given(st.text())
def test_text_cannot_become_markup(text):
    filled = fill("<p title='{text}'>{text}</p>", text=text)
    inside = filled.removeprefix("<p title='").removesuffix("</p>")
    assert inside.count("'>") == 1
    for sign in "<>\"'":
        assert inside.replace("'>", "", 1).count(sign) == 0


def test_markup_is_filled_in_once():
    bold = fill("<b>{text}</b>", text="{text} & {other}")
    assert bold == "<b>{text} &amp; {other}</b>"
    assert fill("<p>{bold}</p>", bold=bold) == f"<p>{bold}</p>"
    assert joined([bold, Markup("<br>")]) == f"{bold}<br>"
    assert isinstance(joined([]), Markup)
