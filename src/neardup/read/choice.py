"""Choice: what a caller says about the files to read, and how to read them."""

from __future__ import annotations

from neardup.errors import SettingError
from neardup.frozen import dataclass
from neardup.read.file_kinds import TEXT, without_compression
from neardup.settings import READ_AS


@dataclass(frozen=True)
class Choice:
    """A format for all files, and the suffixes of the files of a folder that are read.

    None and () leave both to the files' names and contents.
    """

    format: str | None = None
    suffixes: tuple[str, ...] = ()

    @classmethod
    def of(cls, read_as: str | None = None, suffix: str | None = None) -> Choice:
        """The choice by the settings of these names.

        >>> Choice.of("text", "py, .MD")
        Choice(format='document', suffixes=('.py', '.md'))
        """
        if read_as is not None and read_as not in READ_AS:
            raise SettingError(f"read_as={read_as!r} is unknown; choose {', '.join(READ_AS)}")
        return cls("document" if read_as == TEXT else read_as, _suffixes(suffix))

    def takes(self, name: str) -> bool:
        """Whether a file of a folder or a glob is to be read."""
        if not self.suffixes:
            return True
        plain = without_compression(name.lower())
        return name.lower().endswith(self.suffixes) or plain.endswith(self.suffixes)


def _suffixes(suffix: str | None) -> tuple[str, ...]:
    if suffix is None:
        return ()
    found = [part.strip().lower() for part in str(suffix).split(",")]
    if not all(part.strip(".") for part in found) or any("/" in part for part in found):
        raise SettingError(f"suffix={suffix!r} must be suffixes with commas, such as .py,.html,.md")
    return tuple(dict.fromkeys(f".{part.lstrip('.')}" for part in found))
