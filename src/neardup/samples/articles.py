"""Generated articles, English and Chinese, with copies whose changes are known.

Sentences come from the patterns of a grammar, words from the lists of its topics, and names of
people and places are made of syllables. Nothing in them is true. In a copy, a share of the words of
those lists and of the numbers was exchanged; in some, a sentence was moved or dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import exp

from neardup.samples.chance import Chance

ENGLISH_ARTICLES = 1_500
CHINESE_ARTICLES = 600
COPIED = 0.25  # share of the originals that have copies
MOST_CHANGED = 0.8
_SLOT = re.compile(r"[A-Z]{4,}")
_WORDS = re.compile(r"\w[\w'-]*")
_SYLLABLES = (
    *("al", "ban", "bel", "bor", "cas", "dar", "del", "der", "dor", "el", "far", "fen", "gar"),
    *("hal", "hol", "kar", "kel", "lan", "lin", "lor", "mar", "mel", "mol", "nar", "nor", "or"),
    *("pel", "ran", "ris", "ros", "sal", "sen", "sol", "tar", "tel", "tor", "ul", "val", "ver"),
    *("wen", "wis", "zan"),
)
_FAMILY_NAMES = "王李张刘陈杨黄赵周吴徐孙马朱胡林郭何高罗"
_GIVEN_NAMES = "明华芳敏静丽强磊洋勇艳杰娟涛超秀霞平刚桂英建文玲红玉兰"
_PLACE_NAMES = "江河湖山岭溪泉洲沙石云龙凤梅松柳桃兰青白金银南北东西新安平永长"
_PLACE_ENDS = "镇村县港城"


@dataclass(frozen=True)
class Article:
    """A text; a copy names its original, and the share of its exchangeable words that changed."""

    id: str
    text: str
    topic: str
    copy_of: str | None = None
    changed: float | None = None


@dataclass(frozen=True)
class Grammar:
    """Patterns of sentences, and the words that fill them, by topic."""

    language: str
    sentences: tuple[str, ...]
    words: dict[str, list[str]]
    topics: dict[str, dict[str, list[str]]]

    @classmethod
    def read(cls, language: str) -> Grammar:
        """The grammar in `grammars`."""
        text = files(__package__).joinpath("grammars", f"{language}.txt").read_text("utf-8")
        sections = re.findall(r"^\[(\w+)\]\n(.*?)(?=^\[|\Z)", text, re.M | re.S)
        (_, patterns), (_, general), *topics = [(name, lines.strip()) for name, lines in sections]
        listed = {name: _lists(lines) for name, lines in topics}
        return cls(language, tuple(patterns.split("\n")), _lists(general), listed)

    @property
    def space(self) -> str:
        return "" if self.language == "zh" else " "


def articles() -> list[Article]:
    """English articles of 20 to 700 words."""
    return list(_articles(Grammar.read("en"), "a", ENGLISH_ARTICLES, 0.55))


def chinese() -> list[Article]:
    """Chinese articles of 50 to 1,500 characters."""
    return list(_articles(Grammar.read("zh"), "z", CHINESE_ARTICLES, 0.75))


def _articles(grammar: Grammar, prefix: str, count: int, spread: float) -> Iterator[Article]:
    """Originals, and after some of them their copies, then all mixed."""
    chance = Chance("articles", grammar.language)
    rows: list[tuple[str, list[list[str]], int | None, float | None]] = []
    while len(rows) < count:
        topic = chance.pick(list(grammar.topics))
        original = _sentences(grammar, topic, _length(chance, spread), chance)
        origin = len(rows)
        rows.append((topic, original, None, None))
        if chance.happens(COPIED):
            for _ in range(1 + int(5 * chance.between(0, 1) ** 3)):
                share = MOST_CHANGED * chance.between(0, 1) ** 2
                share = 0.0 if chance.happens(0.15) else share
                rows.append(
                    (topic, _edited(original, share, grammar, topic, chance), origin, share)
                )
    order = chance.shuffled(range(count))
    place = {row: new for new, row in enumerate(order)}
    width = len(str(count - 1))
    for new, row in enumerate(order):
        topic, sentences, source, changed = rows[row]
        copy_of = None if source is None else f"{prefix}{place[source]:0{width}}"
        text = grammar.space.join(grammar.space.join(tokens) for tokens in sentences)
        rounded = None if changed is None else round(changed, 3)
        yield Article(f"{prefix}{new:0{width}}", text, topic, copy_of, rounded)


def _length(chance: Chance, spread: float) -> int:
    """A number of sentences: half of the articles have eight or fewer, a few many more."""
    bell = sum(chance.between(-1, 1) for _ in range(3))  # a standard deviation of 1
    return max(2, round(8 * exp(spread * bell)))


def _sentences(grammar: Grammar, topic: str, count: int, chance: Chance) -> list[list[str]]:
    """Sentences on a topic; the same few people and places occur in all of an article."""
    names = {
        "PERSON": [_person(grammar, chance) for _ in range(3)],
        "PLACE": [_place(grammar, chance) for _ in range(3)],
    }
    lists = {**grammar.words, **grammar.topics[topic], **names}
    patterns = [pattern for _ in range(9) for pattern in chance.shuffled(grammar.sentences)]
    return [_filled(pattern, lists, chance) for pattern in patterns[:count]]


def _filled(pattern: str, lists: dict[str, list[str]], chance: Chance) -> list[str]:
    """The words of a sentence, with the signs that stand at them; no word fills two slots."""
    free = {name: chance.shuffled(words) for name, words in lists.items()}

    def word(slot: re.Match[str]) -> str:
        if slot[0] == "NUMBER":
            return str(2 + chance.below(98))
        if slot[0] == "YEAR":
            return str(1500 + chance.below(500))
        return free[slot[0]].pop()

    sentence = re.sub(r"\ba (?=[aeiou])", "an ", _SLOT.sub(word, pattern))
    return (sentence[0].upper() + sentence[1:]).split(" ")


def _edited(
    sentences: list[list[str]], share: float, grammar: Grammar, topic: str, chance: Chance
) -> list[list[str]]:
    """A copy in which a share of the words that can be exchanged was; sentences may move, too."""
    lists = [*grammar.topics[topic].values(), *grammar.words.values()]
    others = {word: words for words in lists for word in words}

    def exchanged(found: re.Match[str]) -> str:
        if found[0].isdigit():
            return str(2 + chance.below(98))
        return chance.pick(others[found[0]]) if found[0] in others else found[0]

    copied = [
        [
            _WORDS.sub(exchanged, token, count=1) if chance.happens(share) else token
            for token in tokens
        ]
        for tokens in sentences
    ]
    if len(copied) > 3 and chance.happens(share):
        moved = copied.pop(chance.below(len(copied)))
        if chance.happens(0.5):
            copied.insert(chance.below(len(copied)), moved)
    return copied


def _person(grammar: Grammar, chance: Chance) -> str:
    if grammar.language == "zh":
        given = "".join(chance.pick(_GIVEN_NAMES) for _ in range(1 + chance.below(2)))
        return chance.pick(_FAMILY_NAMES) + given
    return f"{_name(chance)} {_name(chance)}"


def _place(grammar: Grammar, chance: Chance) -> str:
    if grammar.language == "zh":
        return chance.pick(_PLACE_NAMES) + chance.pick(_PLACE_NAMES) + chance.pick(_PLACE_ENDS)
    return _name(chance)


def _name(chance: Chance) -> str:
    return "".join(chance.pick(_SYLLABLES) for _ in range(2 + chance.below(2))).capitalize()


def _lists(lines: str) -> dict[str, list[str]]:
    """`NAME: one, two` on each line."""
    named = (line.split(": ") for line in lines.splitlines() if line)
    return {name: words.split(", ") for name, words in named}


def known_pairs(rows: Sequence[Article]) -> list[tuple[str, str]]:
    """Each copy with its original, as ids."""
    return [(row.copy_of, row.id) for row in rows if row.copy_of is not None]
