import pytest

from neardup import compare
from neardup.comparison.diff_text import DiffCounts, DiffStyle, diff_text


def shown(a, b, **style):
    return diff_text(compare(a, b).diff, DiffStyle(colour=False, **style)).plain


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("the red fox", "the old fox", "the [-red-]{+old+} fox"),
        ("the big red fox", "the fox", "the [-big red-] fox"),
        ("the fox", "the fox runs", "the fox {+runs+}"),
        ("Yes, it is", "yes it is", "[-Yes,-]{+yes+} it is"),
        ("a\tb\r\nc\n\n\n\nd", "a b c e", "a b c\n\n[-d-]{+e+}"),
        ("[red]x[/red] y", "[red]x[/red] z", "[red]x[/red] [-y-]{+z+}"),
        ("old \x1b[2J", "new \x1b[2J", "[-old-]{+new+} ␛[2J"),
        ("", "all new", "{+all new+}"),
        ("same", "same", "same"),
    ],
)
def test_marks(a, b, expected):
    assert shown(a, b) == expected


def test_long_equal_stretches_are_shortened_to_context():
    words = [f"w{i}" for i in range(100)]
    changed = ["x" if word == "w50" else word for word in words]
    text = shown(" ".join(words), " ".join(changed), context=2)
    assert text == "⋯ 48 words alike ⋯\nw48 w49 [-w50-]{+x+} w51 w52\n⋯ 47 words alike ⋯"
    assert shown(" ".join(words), " ".join(changed), context=2, full=True) == (
        " ".join(words).replace("w50", "[-w50-]{+x+}")
    )


def test_no_context_at_all():
    words = " ".join(f"w{i}" for i in range(20))
    assert shown(words, words + " new", context=0) == "⋯ 20 words alike ⋯ {+new+}"


def test_long_changes_lose_their_middle():
    words = " ".join(f"w{i}" for i in range(50))
    assert shown("", words, longest=4) == "{+w0 w1 ⋯ 46 words more ⋯ w48 w49+}"
    assert shown("", words, longest=4, full=True) == "{+" + words + "+}"


def test_the_number_of_changes_is_bounded():
    a = " ".join(f"same{i} a{i}" for i in range(9))
    b = " ".join(f"same{i} b{i}" for i in range(9))
    text = shown(a, b, most=2)
    assert text.count("[-") == 2
    assert text.endswith("⋯ 7 more differences ⋯")
    assert shown(a, b, most=2, full=True).count("[-") == 9


def test_colour_replaces_the_marks():
    text = diff_text(compare("the red fox", "the old fox").diff, DiffStyle(colour=True))
    assert text.plain == "the red old fox"
    styles = {text.plain[span.start : span.end]: str(span.style) for span in text.spans}
    assert styles == {"red": "red strike", "old": "green"}


def test_counts_in_words():
    counts = DiffCounts.of(compare("Big red fox", "big old foxes run").diff)
    assert counts == DiffCounts(changes=1, words_a=2, words_b=3, variants=1)
    assert str(counts) == "1 change (2 words of A, 3 of B); case or punctuation in 1 place"
    assert str(DiffCounts.of(compare("a", "a").diff)) == "the same words throughout"
