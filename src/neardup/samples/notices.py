"""Short texts in six languages, with copies that are known.

The texts are in `originals`, one file for each language, one text on each line after its source
and a tab. In a text {this|that} marks a word: originals have the first, edited copies the second.
Texts with several such words also come as a chain of versions, each with one more edit. A `header`
is put before every `bulletin` of its language: they share it and are no copies.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.resources import files

LANGUAGES = ("ar", "de", "en", "es", "ru", "zh")
MARK = re.compile(r"\{([^|}]+)\|([^|}]+)\}")
SENTENCE = re.compile(r".+?(?:[.!?؟](?=\s|$)|[。！？])\s*|.+$")
PUNCTUATION = re.compile(r"[.,;:!?،؛](?=\s|$)|[，。！？、；：]")
LONG_TEXT = 150  # bytes; shorter ones are copied as they are or not at all
CHANGES = ("copy", "case", "word", "sentence", "order")
ADDED = {
    "ar": "شكرا لكم على القراءة.",
    "de": "Danke, dass Sie das gelesen haben.",
    "en": "Thank you for reading this.",
    "es": "Muchas gracias por su atención.",
    "ru": "Спасибо всем за внимание.",
    "zh": "谢谢您读到这里。",
}
WITHOUT_WORDS = ("", " ", "…", "— — —", "🎉🎉🎉", "?!")


@dataclass(frozen=True)
class Row:
    """A text; `copy_of` is the id of the text that was changed, and `change` says how."""

    id: str
    text: str
    lang: str
    source: str
    date: str
    copy_of: str | None = None
    change: str | None = None


def notices() -> list[Row]:
    """All rows, mixed so that copies stand anywhere, before or after their originals."""
    found = [row for lang in LANGUAGES for row in rows_of_language(lang)]
    found += [
        Row(f"empty-{number}", text, "", "blank", "2024-01-01")
        for number, text in enumerate(WITHOUT_WORDS, 1)
    ]
    return sorted(found, key=lambda row: number_of(row.id))


def rows_of_language(lang: str) -> Iterator[Row]:
    """The texts of one file, each followed by its copies."""
    header = ""
    text = files(__package__).joinpath("originals", f"{lang}.txt").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines()]
    for number, (source, marked) in enumerate(lines, 1):
        if source == "header":
            header = marked
            continue
        if source == "bulletin":
            marked = joined(lang, header, marked)
        id_ = f"{lang}-{number:02}"
        date = dt.date(2024, 1, 1) + dt.timedelta(days=number_of(id_) % 300)
        original = Row(id_, edited(marked, 0), lang, source, date.isoformat())
        yield original
        yield from copies(original, marked, number)


def copies(original: Row, marked: str, number: int) -> Iterator[Row]:
    """The changed copies of a text: versions, two or three of the changes in turn, or none."""
    edits = len(MARK.findall(marked))
    is_long = len(marked.encode()) >= LONG_TEXT and original.source != "bulletin"
    if edits > 1:
        previous = original
        for version in range(1, edits + 1):
            text = edited(marked, version)
            previous = copy(original, f"v{version}", text, "version", previous.id)
            yield previous
    elif is_long:
        for turn in range(3 if number % 4 == 0 else 2):
            change = CHANGES[(number + 2 * turn) % len(CHANGES)]
            yield copy(original, "abc"[turn], changed(original, marked, change), change)
    elif number % 5 == 0 and original.source != "bulletin":
        change = CHANGES[number % 2]
        yield copy(original, "a", changed(original, marked, change), change)


def copy(original: Row, suffix: str, text: str, change: str, copy_of: str | None = None) -> Row:
    """A row of the same kind, some days later."""
    id_ = f"{original.id}{suffix}"
    later = dt.date.fromisoformat(original.date) + dt.timedelta(days=1 + number_of(id_) % 60)
    return replace(
        original,
        id=id_,
        text=text,
        date=later.isoformat(),
        copy_of=copy_of or original.id,
        change=change,
    )


def changed(original: Row, marked: str, change: str) -> str:
    """The text of a copy."""
    text = original.text
    if change == "case":
        text = PUNCTUATION.sub(lambda found: "" if found[0] in ",،" else " –", text)
        shouted = text.upper()  # not all letters come back from that: ß does not
        return shouted if shouted.lower() == text.lower() else text.lower()
    if change == "word":
        return edited(marked, 1)
    if change == "sentence":
        return joined(original.lang, text, ADDED[original.lang])
    if change == "order":
        *others, last = (sentence.strip() for sentence in SENTENCE.findall(text))
        return joined(original.lang, last, *others)
    return text


def edited(marked: str, edits: int) -> str:
    """The text with its first `edits` marked words replaced, and no marks."""
    return MARK.sub(r"\1", MARK.sub(r"\2", marked, count=edits) if edits else marked)


def joined(lang: str, *sentences: str) -> str:
    """Sentences in a row, as that language sets them."""
    return ("" if lang == "zh" else " ").join(sentences)


def number_of(id_: str) -> int:
    """A number that looks random and is the same everywhere."""
    return int.from_bytes(hashlib.sha256(id_.encode()).digest()[:6], "big")
