"""What counts as a hit, and what is removed."""

from __future__ import annotations

from typing import Any

from neardup.collection.settings import DedupSettings
from neardup.errors import SettingError
from neardup.frozen import dataclass

MIN_WORDS = 8
# Items of three or four words are phrases that everybody writes.
SHORT_WORDS = 5
MAX_ITEMS = 100
REMOVE_SHARE = 0.5
DOCUMENTS, PASSAGES = "documents", "passages"
REMOVALS = (DOCUMENTS, PASSAGES)
_MOST_WORDS = 1000


@dataclass(frozen=True)
class ContaminationSettings:
    """The settings of a run, checked; `reader` says how documents are read.

    `benchmark_text` are the columns of an item; None if they are chosen by what there is.
    """

    min_words: int
    max_items: int
    remove: str | None
    remove_share: float
    benchmark_text: tuple[str, ...] | None
    reader: DedupSettings

    @classmethod
    def of(
        cls,
        *,
        min_words: int = MIN_WORDS,
        max_items: int = MAX_ITEMS,
        remove: str | None = None,
        remove_share: float | None = None,
        benchmark_text: str | None = None,
        **reader: Any,
    ) -> ContaminationSettings:
        _require_whole("min_words", min_words, _MOST_WORDS)
        _require_whole("max_items", max_items, (1 << 32) - 1)
        if remove is not None and remove not in REMOVALS:
            raise SettingError(f"remove={remove!r} is unknown; choose {' or '.join(REMOVALS)}")
        if remove_share is not None and remove is None:
            raise SettingError("remove_share is for remove; give both, or leave it out")
        share = REMOVE_SHARE if remove_share is None else remove_share
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
            raise SettingError(f"remove_share={share!r} must be above 0 and at most 1")
        settings = DedupSettings.of(**reader)
        if settings.scheme.fields is not None:
            raise SettingError(
                f"text={settings.text!r} names fields; contamination is looked for in one column"
            )
        columns = None if benchmark_text is None else _columns(benchmark_text)
        return cls(min_words, max_items, remove, float(share), columns, settings)

    def as_dict(self) -> dict[str, Any]:
        """As plain values, for the summary."""
        return {
            "min_words": self.min_words,
            "short_words": min(SHORT_WORDS, self.min_words),
            "max_items": self.max_items,
            "remove": self.remove,
            "remove_share": self.remove_share if self.remove else None,
            "benchmark_text": "+".join(self.benchmark_text) if self.benchmark_text else None,
            "text": self.reader.text,
            "id": self.reader.id,
            "read_as": self.reader.read_as,
            "suffix": self.reader.suffix,
            "max_document": self.reader.max_document,
        }


def _require_whole(name: str, value: Any, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise SettingError(f"{name}={value!r} must be a whole number from 1 to {most:,}")


def _columns(named: str) -> tuple[str, ...]:
    columns = tuple(name.strip() for name in named.split("+"))
    if not all(columns):
        raise SettingError(
            f"benchmark_text={named!r} must name columns with + between them, such as "
            "question+choices"
        )
    return columns
