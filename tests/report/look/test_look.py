"""The stylesheet: text can be read in both themes, and nothing is loaded from elsewhere."""

import re

import pytest

from neardup.report.look import stylesheet

TOKENS = {
    name: colours
    for name, *colours in re.findall(
        r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", stylesheet()
    )
}
THEMES = ("light", "dark")
# What text without a background of its own stands on.
SURFACES = ("page", "card", "sunk")
# Not text: 3:1 is enough for the parts of plots and controls that carry meaning.
SHAPES = ("bar", "bar-second", "bar-hover", "mark", "axis", "edge", "focus", "accent")


def luminance(colour):
    """Relative luminance, as WCAG 2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ratio(*colours):
    dark, light = sorted(map(luminance, colours))
    return (light + 0.05) / (dark + 0.05)


def contrast(one, other, theme):
    place = THEMES.index(theme)
    return ratio(TOKENS[one][place], TOKENS[other][place])


def rules():
    """Each rule: its selector and its declarations; blocks of media queries are flattened."""
    for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", stylesheet()):
        declared = dict(
            part.split(":", 1) for part in re.split(r";\s*", body.strip()) if ":" in part
        )
        yield selector.strip(), {name.strip(): value.strip() for name, value in declared.items()}


def text_pairs():
    """Every colour of text with every background that it is seen on."""
    for selector, declared in rules():
        text = re.fullmatch(r"var\(--([\w-]+)\)", declared.get("color", ""))
        if text is None and selector == ".plot":
            text = re.fullmatch(r"var\(--([\w-]+)\)", declared["fill"])
        if text is None:
            continue
        own = re.fullmatch(r"var\(--([\w-]+)\)", declared.get("background", ""))
        for surface in (own[1],) if own else SURFACES:
            yield selector, text[1], surface


def test_contrast_is_that_of_the_standard():
    assert ratio("#000000", "#ffffff") == pytest.approx(21)
    assert ratio("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
def test_text_has_enough_contrast(theme):
    pairs = list(text_pairs())
    assert len(pairs) > 60
    low = [
        f"{selector}: {text} on {surface}"
        for selector, text, surface in pairs
        if contrast(text, surface, theme) < 4.5
    ]
    assert low == []


@pytest.mark.parametrize("theme", THEMES)
def test_shapes_have_enough_contrast(theme):
    low = [
        f"{shape} on {surface}"
        for shape in SHAPES
        for surface in ("page", "card")
        if contrast(shape, surface, theme) < 3
    ]
    assert low == []


def test_rules_take_their_colours_from_the_tokens():
    for selector, declared in rules():
        if ":root" in selector:
            continue
        for name, value in declared.items():
            assert not re.search(r"#[0-9a-f]{3,8}\b|rgb|hsl", value), (selector, name, value)


def test_every_token_that_is_used_exists():
    used = set(re.findall(r"var\(--([\w-]+)\)", stylesheet())) - {"by-1", "by-2"}
    defined = set(re.findall(r"--([\w-]+):", stylesheet()))
    assert used <= defined
    assert set(TOKENS) <= used


def test_the_theme_can_be_chosen():
    chosen = {selector: declared for selector, declared in rules() if "data-theme" in selector}
    assert chosen[':root[data-theme="light"]'] == {"color-scheme": "light"}
    assert chosen[':root[data-theme="dark"]'] == {"color-scheme": "dark"}


def test_nothing_is_loaded_from_elsewhere():
    assert not re.search(r"url\(|@import|@font-face|https?:|expression|</", stylesheet())
    assert "/*" not in stylesheet()
    assert stylesheet().count("{") == stylesheet().count("}")


def test_changes_are_marked_by_more_than_colour():
    marks = {
        selector: declared["text-decoration"]
        for selector, declared in rules()
        if "text-decoration" in declared
    }
    assert (marks["del"], marks["ins"]) == ("line-through", "underline")
    assert marks[".variant"] == "underline dotted"


def test_motion_and_focus_are_considered():
    moving = stylesheet().partition("@media (prefers-reduced-motion: no-preference)")
    assert "transition" not in moving[0]
    assert "transition" in moving[2]
    assert ":focus-visible { outline: 2px solid var(--focus)" in stylesheet()


def test_it_stays_small():
    """It is written into every report."""
    assert len(stylesheet().encode()) < 20_000
