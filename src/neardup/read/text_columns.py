"""Which columns of a table look like text, or say something about its rows, by its first rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from urllib.parse import quote

import pyarrow as pa

from neardup.frozen import dataclass

MOST_ROWS = 5000
# A column with this share of all characters is the text, if it has so many words: that of a
# document beside what is noted about it, or of a sentence beside hardly anything.
_MAIN = ((0.6, 30), (0.85, 5))
_TEXT_WORDS = 5  # on average, for a column to look like text
_CODE = r"^[!-~]*[0-9][!-~]*$"  # no spaces, some digits: a number or a code


@dataclass(frozen=True)
class Judged:
    """The columns of a table by what their first rows hold.

    `telling` are those that may be evidence, in the order of the table: they have several values,
    and are no keys of rows. `main` is the one that has most of the words, if any has. `words` and
    `characters` are the means of each telling column.
    """

    telling: tuple[str, ...]
    left_out: tuple[str, ...]
    main: str | None
    words: Mapping[str, float] = field(default_factory=dict)
    characters: Mapping[str, float] = field(default_factory=dict)

    @property
    def like_text(self) -> list[str]:
        """The columns that look like text, the longest first."""
        found = [name for name in self.telling if self.words[name] >= _TEXT_WORDS]
        return sorted(found, key=lambda name: -self.characters[name])


def judged(rows: pa.Table, names: Sequence[str]) -> Judged:
    """Judge these columns of a table."""
    import pyarrow.compute as pc

    columns = {name: _as_texts(rows[name]) for name in names}
    telling = {
        name: texts for name, texts in columns.items() if texts is not None and _tells(texts)
    }
    sizes = {name: pc.sum(pc.utf8_length(texts)).as_py() or 0 for name, texts in telling.items()}
    words = {
        name: pc.mean(pc.list_value_length(pc.utf8_split_whitespace(texts))).as_py() or 0.0
        for name, texts in telling.items()
    }
    main = max(telling, key=lambda name: sizes[name], default=None)
    if main is not None:
        share = sizes[main] / sum(sizes.values())
        if not any(share >= most and words[main] >= least for most, least in _MAIN):
            main = None
    return Judged(
        tuple(telling),
        tuple(name for name in columns if name not in telling),
        main,
        words,
        {name: sizes[name] / max(1, len(texts)) for name, texts in telling.items()},
    )


def _as_texts(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The values as texts, without missing and empty ones; None if they are lists or bytes."""
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_nested(kind) or _are_bytes(kind):
        return None
    texts = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    return texts.filter(pc.fill_null(pc.greater(pc.utf8_length(texts), 0), False))


def _are_bytes(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(is_kind(kind) for is_kind in kinds)


def _tells(texts: pa.ChunkedArray) -> bool:
    """Whether a column may be evidence: it has several values, and is not a key of rows."""
    import pyarrow.compute as pc

    different = pc.count_distinct(texts).as_py()
    if different < 2:
        return False
    is_code = pc.all(pc.match_substring_regex(texts, _CODE)).as_py()
    return not (is_code and different == len(texts))


def spelt_field(name: str) -> str:
    """The name of a column as `--text` takes it among others: a + is written as %2B.

    >>> spelt_field("C++ level"), spelt_field("naïve")
    ('C%2B%2B level', 'na%C3%AFve')
    """
    safe = " " if name == name.strip() else ""  # around a name, spaces are ignored
    return quote(name, safe=safe)


def some_rows(batches: Iterator[pa.RecordBatch]) -> pa.Table | None:
    """The rows of the first batches, together; None if there are none."""
    some: list[pa.Table] = []
    count = 0
    for batch in batches:
        some.append(pa.Table.from_batches([batch]))
        count += batch.num_rows
        if count >= MOST_ROWS:
            break
    return pa.concat_tables(some, promote_options="permissive") if some else None
