"""The settings of a search for passages, checked."""

from __future__ import annotations

from typing import Any

from neardup.cluster.keep import KeepPolicy
from neardup.collection.settings import DedupSettings
from neardup.errors import SettingError
from neardup.frozen import dataclass
from neardup.kernels.passages import UNITS
from neardup.settings import EXACT

WINDOW = "window"
ALL = "all"
ALL_BUT_FIRST, BOILERPLATE = "all-but-first", "boilerplate"
DEFAULT_UNIT, DEFAULT_THRESHOLD, DEFAULT_MIN_WORDS = "paragraph", 0.9, 5
_LEAST_WINDOW, _MOST_WINDOW = 10, 10_000


@dataclass(frozen=True)
class Removal:
    """Which passages to remove.

    `all-but-first` removes a passage from every document but the one that keeps it, `all` from all
    documents, and `boilerplate:N` from all documents, if it occurs in N or more.

    >>> Removal.parse("boilerplate:20")
    Removal(kind='boilerplate', least=20)
    """

    kind: str
    least: int = 2

    @classmethod
    def parse(cls, removal: str) -> Removal:
        """Read what to remove; `SettingError` lists the choices if it is unknown."""
        kind, colon, least = str(removal).partition(":")
        if kind in (ALL_BUT_FIRST, ALL) and not colon:
            return cls(kind)
        if kind == BOILERPLATE and least.isascii() and least.isdecimal() and int(least) >= 2:
            return cls(kind, int(least))
        raise SettingError(
            f"remove={removal!r} is unknown; choose {ALL_BUT_FIRST}, {ALL}, or {BOILERPLATE}:N, "
            "where N is at least 2 documents"
        )

    def __str__(self) -> str:
        return f"{self.kind}:{self.least}" if self.kind == BOILERPLATE else self.kind


@dataclass(frozen=True)
class PassageSettings:
    """What a passage is, which ones are alike, and what to remove.

    `reading` has the settings that passages share with whole documents: columns, features, the
    threshold, which document keeps a passage, memory and threads.
    """

    reading: DedupSettings
    unit: str
    window: int | None
    scope: str | None
    remove: Removal | None
    min_words: int

    @classmethod
    def of(
        cls,
        *,
        unit: str = DEFAULT_UNIT,
        threshold: float = DEFAULT_THRESHOLD,
        scope: str = ALL,
        remove: str | Removal | None = None,
        min_words: int = DEFAULT_MIN_WORDS,
        **reading: Any,
    ) -> PassageSettings:
        """Check every setting."""
        name, window = _unit(unit)
        shared = DedupSettings.of(threshold=threshold, candidates=EXACT, **reading)
        if shared.scheme.fields is not None:
            raise SettingError(f"text={shared.text!r}: passages are parts of one column; name one")
        if KeepPolicy.parse(shared.keep).most != 1:
            raise SettingError(
                f"keep={shared.keep} is about clusters of documents; say with remove which "
                "passages go"
            )
        if not isinstance(min_words, int) or isinstance(min_words, bool) or min_words < 1:
            raise SettingError(f"min_words={min_words!r} must be a whole number, at least 1")
        return cls(
            shared,
            name,
            window,
            None if scope == ALL else str(scope),
            Removal.parse(remove) if isinstance(remove, str) else remove,
            min_words,
        )

    @property
    def is_exact(self) -> bool:
        """Whether only passages of the same words are alike."""
        return self.reading.threshold == 1

    @property
    def unit_name(self) -> str:
        """The unit as it is written."""
        return self.unit if self.window is None else f"{WINDOW}:{self.window}"

    def as_dict(self) -> dict[str, Any]:
        """The settings by name, as the summary has them."""
        shared = self.reading
        return {
            "unit": self.unit_name,
            "threshold": shared.threshold,
            "scope": self.scope or ALL,
            "remove": None if self.remove is None else str(self.remove),
            "min_words": self.min_words,
            "keep": str(shared.keep),
            "text": shared.text,
            "id": shared.id,
            "memory": shared.memory,
            "read_as": shared.read_as,
            "suffix": shared.suffix,
            "max_document": shared.max_document,
            "threads": shared.threads,
        }


def _unit(unit: str) -> tuple[str, int | None]:
    name, colon, size = str(unit).partition(":")
    if name in UNITS and not colon:
        return name, None
    if name == WINDOW and size.isascii() and size.isdecimal():
        words = int(size)
        if not _LEAST_WINDOW <= words <= _MOST_WINDOW:
            raise SettingError(
                f"unit={unit!r}: a window has {_LEAST_WINDOW} to {_MOST_WINDOW:,} words"
            )
        return "sentence", words
    raise SettingError(
        f"unit={unit!r} is unknown; choose paragraph, sentence, line, or window:N, where N is a "
        "number of words"
    )
