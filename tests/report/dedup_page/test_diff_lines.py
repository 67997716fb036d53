"""A diff that keeps line breaks and indentation."""

from __future__ import annotations

from hypothesis import given, strategies as st

from neardup.report.dedup_page.diff import side_by_side
from neardup.visible import visible_lines

CODE = """\
import os

def join(x):
    if x:
        return os.path.join(x, "a")
    return None
"""


def shown(rows, side):
    return "\n".join("".join(piece.text for piece in getattr(row, side)) for row in rows)


def test_indentation_and_empty_lines_are_kept():
    rows = side_by_side(CODE, CODE.replace('"a"', '"b", "c"'), keep_lines=True).rows
    assert shown(rows, "left") == CODE.rstrip("\n")
    assert shown(rows, "right") == CODE.replace('"a"', '"b", "c"').rstrip("\n")


def test_rows_begin_where_both_texts_begin_a_line():
    rows = side_by_side(CODE, CODE.replace("if x:", "if x and y:"), keep_lines=True).rows
    assert [[piece.text for piece in row.right] for row in rows] == [
        ["import os\n\ndef join(x):"],
        ["    if x ", "and y", ":"],
        ['        return os.path.join(x, "a")\n    return None'],
    ]
    assert [row.continues for row in rows] == [False, True, True]


def test_a_single_column_has_both_sides_of_a_change():
    (row,) = side_by_side("the Red fox", "the old Fox", keep_lines=True).rows
    assert [(piece.mark, piece.text) for piece in row.inline] == [
        ("same", "the "),
        ("left", "Red"),
        ("right", "old"),
        ("same", " "),
        ("variant-left", "fox"),
        ("variant-right", "Fox"),
    ]


def test_long_equal_stretches_are_folded_by_whole_lines():
    lines = [f"    call_{place}(one, two)" for place in range(100)]
    changed = [*lines[:-1], "    call_99(one, three)"]
    rows = side_by_side("\n".join(lines), "\n".join(changed), keep_lines=True).rows
    (note,) = [row.note for row in rows if row.note]
    kept = shown([row for row in rows if not row.note], "left").split("\n")
    assert set(kept) <= set(lines)
    assert note == f"… {3 * (len(lines) - len(kept))} words alike …"


def test_bidi_and_control_characters_are_visible():
    rows = side_by_side("a \u202eb\x1b", "a\r\n\tb", keep_lines=True).rows
    assert "⟨U+202E⟩" in shown(rows, "left")
    assert "␛" in shown(rows, "left")
    assert shown(rows, "right") == "a\n\tb"


@given(st.text("ab .\n\t\u202e東", max_size=60), st.text("ab .\n\t\u202e東", max_size=60))
def test_every_sign_of_short_texts_is_shown(left, right):
    diff = side_by_side(left, right, keep_lines=True)
    for side, text in (("left", left), ("right", right)):
        assert "".join(shown(diff.rows, side).split()) == "".join(visible_lines(text).split())
