"""JSON lines in every spelling: all escapes, numbers and white space, and broken ones."""

from hypothesis import strategies as st

_SPACE = st.sampled_from(["", "", "", " ", "  ", "\t", "\r", " \t "])
_PIECES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters='"\\'), max_size=6),
    st.sampled_from([r"\n", r"\"", r"\\", r"\/", r"\b\f\r\t", r"A", r"é", r"中"]),
    st.sampled_from([r"\ud83d\ude00", r"\uD834\uDd1e", r"\u0000", "\x7f", "é", "😀", " ", ""]),
    st.integers(0, 140).map(lambda size: "x" * size),
)
STRINGS = st.lists(_PIECES, max_size=5).map(lambda pieces: f'"{"".join(pieces)}"')
WHOLE = st.one_of(
    st.integers(-(2**63) + 1, 2**63 - 1).map(str), st.integers(0, 50).map(str), st.just("-0")
)
FRACTIONS = st.one_of(
    st.floats(-1e200, 1e200).map(repr),
    st.builds("{}.{}".format, WHOLE, st.integers(0, 10**12)),
    st.builds(
        "{}{}{}".format, WHOLE, st.sampled_from(["e", "E+", "e-", "E-0"]), st.integers(0, 99)
    ),
)
# Unusual values, valid or not.
ODD_NUMBERS = st.one_of(
    st.integers().map(str),
    st.from_regex(r"-?[0-9]{1,45}(\.[0-9]{0,3})?([eE][+-]?[0-9]{0,4})?", fullmatch=True),
    st.sampled_from([str(2**63 + i) for i in (-1, 0, 1)] + [str(-(2**63) - i) for i in (0, 1)]),
    st.sampled_from(["1e400", "1e-400", "-", "+1", ".5", "1.", "01", "1e", "NaN", "Infinity"]),
)
BOOLEANS = st.sampled_from(["true", "false"])
NULLS = st.just("null")


@st.composite
def _joined(draw, parts, opening, closing):
    pieces = [f"{draw(_SPACE)}{part}{draw(_SPACE)}" for part in draw(parts)]
    return opening + (",".join(pieces) or draw(_SPACE)) + closing


@st.composite
def _pair(draw, keys, values):
    return f"{draw(keys)}{draw(_SPACE)}:{draw(_SPACE)}{draw(values)}"


NESTED = st.recursive(
    STRINGS | WHOLE | FRACTIONS | BOOLEANS | NULLS,
    lambda inner: (
        _joined(st.lists(inner, max_size=3), "[", "]")
        | _joined(st.lists(_pair(STRINGS, inner), max_size=3), "{", "}")
    ),
    max_leaves=6,
)
KINDS = {
    "string": STRINGS,
    "whole": WHOLE,
    "fraction": FRACTIONS,
    "boolean": BOOLEANS,
    "null": NULLS,
}
ANY_KIND = [*KINDS.values(), NESTED, NESTED | ODD_NUMBERS]


@st.composite
def object_lines(draw, columns):
    """Lines of objects; `columns` maps the JSON source of each key to a strategy for its values."""
    lines = []
    for _ in range(draw(st.integers(1, 5))):
        pairs = [draw(_pair(st.just(key), values)) for key, values in columns.items()]
        lines.append(draw(_SPACE) + draw(_joined(st.just(pairs), "{", "}")) + draw(_SPACE))
    return lines


@st.composite
def messy_lines(draw, keys):
    """Lines of objects with some of these keys, in any order, with equal or different kinds."""
    lines = []
    values = {key: draw(st.sampled_from(ANY_KIND)) for key in keys}
    for _ in range(draw(st.integers(1, 6))):
        chosen = draw(st.lists(st.sampled_from(keys), max_size=len(keys) + 1))
        chosen = chosen if draw(st.booleans()) else list(values)
        lines += draw(object_lines({key: values[key] for key in chosen}))
        if draw(st.integers(0, 9)) == 0:
            lines.append(draw(st.sampled_from(["", " \r", "\x0b", "[]", "7", '"x"', "null", "{}"])))
    return lines


@st.composite
def mutated(draw, content):
    """Bytes with some of them changed, inserted or removed, or none."""
    changed = bytearray(content)
    for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2]))):
        place = draw(st.integers(0, len(changed)))
        byte = draw(
            st.sampled_from(b'"\\{}[],:\n\r\t\x00\x1f 0-.eutn\x80\xc3\xff') | st.integers(0, 255)
        )
        changed[place : place + draw(st.integers(0, 2))] = [byte] * draw(st.integers(0, 1))
    return bytes(changed)
