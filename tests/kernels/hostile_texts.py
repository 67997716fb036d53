"""Hostile texts and recipes, full of the cases that the kernels treat specially."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass

from hypothesis import strategies as st

# Word lengths at the boundaries of blocks of 8, 16, 32 and 64 bytes.
BORDER_LENGTHS = (0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)

POOLS = {
    "ascii": "abcxyzABCXYZ0189_ .,-'\n",
    "ascii edges": "@AZ[`az{/09:_^\x00\x08\t\r\x0e\x1c\x1f !~\x7f",
    "length changes": "\u0130\u0131\u017f\u023a\u023e\u2c65\u1e9eß\u2126\u212a\u212b\u2c62",
    "case": "ÄäÿŸΣσςΩωǅǄǆДдЂђѠѡՍ\u10a0\u2d00\u13a0\uab70Ⓐ\U00010400\U0001e900",
    "cyrillic": "АБВЯабвяЀЏѐџРСрсѠѡѾѿҀ҂\u0483ҊҋԀ",
    "latin and greek": "éÉñÑøØłŁžŽčČαΑάΆ\u0345ͅ",
    "han": "一丁不丐中文字東京龥鿿\u4dbf\u4dc0\u3400\ua000\U00020000\U00031350〇〡々〆\u302a",
    "kana": "ぁあんゔゕ\u3099゛ァカヺ・ーヿㇰｦｱﾝﾞ\U0001b000\U0001b150",
    "punctuation": "\u200f‐–—‘’“”…‧\u2028、。〄々〈》】〒！，．／０：？＠Ａ\uff00",
    "solo scripts": "กขฺเ๐๙\u0e31\u0e3fກ\u0eb1໐ក\u17d2\u17b6០៛က\u1031\u102b၀ꩠ\ua9e6",
    "joined scripts": "अक्षर\u0903०عَرَبِيّ٠한글각\u1100\u0e80\u1200ა",
    "marks": "\u0300\u0301\u0308\u0345\u0489\u20dd\ufe0e\ufe0f\U000e0100\u093f\u200d",
    "emoji": "❤☺©™⚡👩🏽💻🇩🇪\U0001f600\u20e3",
    "white space": " \t\n\x0b\x0c\r\x85\xa0\u1680\u2000\u2003\u200a\u2028\u2029\u202f\u205f\u3000",
    "no white space": "\x1c\x1d\x1e\x1f\u180e\u200b\u2060\ufeff\x00\x1b\x80\x9f",
    "utf-8 edges": "\x7f\x80\u07ff\u0800\u0fff\u1000\ud7ff\ue000\ufffd\uffff\U00010000\U0010ffff",
}  # fmt: skip
EVERY_POOL = "".join(POOLS.values())

_any_char = st.characters(exclude_categories=("Cs",))
_char = st.one_of(st.sampled_from(EVERY_POOL), _any_char)
# Pieces of a single alphabet, so that runs are long enough for the kernels' fast paths.
_run = st.sampled_from(sorted(POOLS)).flatmap(lambda pool: st.text(POOLS[pool], max_size=40))
_mixture = st.text(_char, max_size=20)
_repeated = st.builds(lambda char, n: char * n, _char, st.sampled_from(BORDER_LENGTHS))
_word = st.builds(
    lambda alphabet, n: (alphabet * n)[:n],
    st.sampled_from(["abcdefg", "Hello_World9", "Привет", "Ⱥb"]),
    st.sampled_from(BORDER_LENGTHS),
)
_separator = st.sampled_from(["", "", " ", ". ", "\n", "\u3000", "\u0301"])
_piece = st.one_of(_run, _mixture, _repeated, _word)
TEXTS = st.lists(st.tuples(_piece, _separator).map("".join), max_size=8).map("".join)


@dataclass(frozen=True)
class Recipe:
    """The arguments that the kernel and its twin share."""

    unit: str = "word"
    size: int = 3
    distinct: bool = True
    bits: int = 64
    ties_up: bool = False

    def arguments(self) -> dict[str, object]:
        return asdict(self)


SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 50, 1000, 2**31 - 1)
WIDTHS = (1, 42, 63, 64, 65, 127, 128, 129)


def recipes(sizes: tuple[int, ...] = SIZES, widths: tuple[int, ...] = WIDTHS):
    return st.builds(
        Recipe,
        unit=st.sampled_from(["word", "char"]),
        size=st.sampled_from(sizes),
        distinct=st.booleans(),
        bits=st.sampled_from(widths),
        ties_up=st.booleans(),
    )


def _distinct_words(rng: random.Random) -> str:
    return f"{rng.getrandbits(44):x} "


def _repeated_words(rng: random.Random) -> str:
    return rng.choice(["the", "Quick", "brown_fox", "Jumps", "over"]) + rng.choice(" .,\n")


def _long_words(rng: random.Random) -> str:
    return "".join(rng.choices("abcDEF", k=rng.choice((15, 16, 17, 64, 5000)))) + " "


def _from(alphabet: str):
    return lambda rng: rng.choice(alphabet)


def _code_range(first: int, last: int):
    return lambda rng: chr(rng.randint(first, last))


# Pieces of long texts. The kernels cut long texts into chunks of about 16 KB between words; some
# of these never offer such a place.
LONG_KINDS = {
    "distinct words": _distinct_words,
    "repeated words": _repeated_words,
    "long words": _long_words,
    "one giant word": _from("aB9_"),
    "one giant Cyrillic word": _code_range(0x410, 0x44F),
    "Cyrillic": _from("абвгдежзАБВГДЕЖЗ  .x"),
    "Han": _code_range(0x4E00, 0x9FFF),
    "Han and rare Han": _from("中文字東京\u3400\u4dbf\U00020000。"),
    "Thai": _from("กขคงจ\u0e31\u0e34๐๑"),
    "Hangul": _code_range(0xAC00, 0xD7A3),
    "Japanese": _from("東京ひらがなカタカナー。\u3099"),
    "white space": _from(" \t\n\u3000\xa0"),
    "mostly white space": lambda rng: rng.choice("ab中") + " \n\u2003" * rng.choice((1, 30, 900)),
    "marks": _from("\u0301\u0308\ufe0f"),
    "lower case grows": _from("\u023a\u023e"),
    "letters and marks": lambda rng: rng.choice("aЖ中") + "\u0301" * rng.choice((0, 1, 2, 400)),
    "everything": _from(EVERY_POOL),
}  # fmt: skip


def long_text(kind: str, size: int, seed: int) -> str:
    """Make a text of at least `size` UTF-8 bytes."""
    rng = random.Random(f"{kind}/{seed}")
    parts, made = [], 0
    while made < size:
        part = LONG_KINDS[kind](rng)
        parts.append(part)
        made += len(part.encode())
    return "".join(parts)
