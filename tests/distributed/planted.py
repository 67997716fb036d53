"""Small collections in which exact copies, near copies, chains and empty documents are planted."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Row = dict[str, Any]
_LATIN = ["river", "stone", "light", "paper", "winter", "garden", "signal", "copper", "window"]
_ARABIC = ["كتاب", "مدينة", "شمس", "بحر", "طريق", "بيت", "قلم", "شجرة", "سماء", "جبل"]
_CHINESE = "天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏"
_EMOJI = ["😀", "🚀", "🌍", "👩‍👩‍👧", "🇺🇳", "❤️"]
_EMPTY = ["", "   ", "\n", "…!?", "\u200b"]


def _text(random: random.Random) -> list[str]:
    """A text as a list of words; one in six in another script."""
    script, size = random.randrange(12), random.randint(4, 40)
    if script == 0:
        return [random.choice(_ARABIC) + str(random.randrange(9)) for _ in range(size)]
    if script == 1:
        return ["".join(random.choices(_CHINESE, k=5)) for _ in range(size)]
    words = [f"{random.choice(_LATIN)}{random.randrange(40)}" for _ in range(size)]
    if script == 2:
        words[:: max(1, size // 3)] = random.choices(_EMOJI, k=len(words[:: max(1, size // 3)]))
    return words


def _edited(words: Sequence[str], random: random.Random) -> list[str]:
    """The words with a change or two."""
    changed = list(words)
    for _ in range(random.randint(1, 2)):
        place = random.randrange(len(changed))
        if random.random() < 0.5:
            changed[place] = f"changed{random.randrange(5)}"
        else:
            changed.insert(place, random.choice(_LATIN))
    return changed


def planted(count: int, seed: int = 0) -> list[Row]:
    """Rows with `text`, `title`, `body`, `quality` and more; half of them repeat earlier ones."""
    chance = random.Random(seed)
    texts: list[list[str]] = []
    rows: list[Row] = []
    for number in range(count):
        kind = chance.random()
        if not texts or kind < 0.45:
            words = _text(chance)
        elif kind < 0.65:
            words = chance.choice(texts)
        elif kind < 0.93:
            words = _edited(chance.choice(texts[-60:]), chance)
        else:
            words = []
        if words:
            texts.append(words)
        text = " ".join(words) if words else chance.choice(_EMPTY)
        third = len(words) // 3
        rows.append(
            {
                "text": text,
                "title": " ".join(words[:third]),
                "body": ". ".join(
                    [" ".join(words[third : 2 * third]), " ".join(words[2 * third :])]
                ),
                "quality": chance.choice([None, 1, 2, 2, 3, -5]),
                "note": chance.choice(["a", "b", "ü"]),
                "terms": words,
                "weights": [1.0 + len(word) % 3 for word in words],
                "number": number,
            }
        )
    return rows


def columns(rows: Sequence[Row], *names: str, id: Callable[[int], Any] | None = None) -> list[Row]:
    """The rows with these columns alone, and with an id made of their number."""
    own = [{} if id is None else {"id": id(row["number"])} for row in rows]
    return [one | {name: row[name] for name in names} for one, row in zip(own, rows, strict=True)]


def write_jsonl(path: Path, rows: Sequence[Row]) -> Path:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_parquet(path: Path, rows: Sequence[Row], group: int = 40) -> Path:
    pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=group)
    return path


def write_csv(path: Path, rows: Sequence[Row]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def files_of(rows: Sequence[Row], folder: Path, parts: int) -> Iterator[tuple[Path, list[Row]]]:
    """The rows divided among so many files of a new folder, by name."""
    folder.mkdir()
    size = -(-len(rows) // parts)
    for number in range(parts):
        yield folder / f"{number:02d}", list(rows[number * size : (number + 1) * size])
