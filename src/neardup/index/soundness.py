"""DamageError: told by the index's path, and told before LMDB follows pages that lead nowhere.

LMDB reads through a map and trusts its pages: one that is not there ends the program, and one that
is garbage leads it anywhere. So they are walked through when an index is opened. What the pages
hold is checked when it is read, whether it has a checksum or not.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.errors import InputError, NeardupError
from neardup.kernels.living import check_pages

_TRIES, _PAUSE = 8, 0.01


class DamageError(ValueError):
    """What is wrong with stored bytes, in a few words; `damage_told` says of which index."""


class DamagedIndexError(InputError):
    """An index cannot be read, because its bytes are not those that were written."""


@contextmanager
def damage_told(path: Path) -> Iterator[None]:
    """Say of which index something is damaged, and what to do.

    Only what reads stored bytes belongs in here: a ValueError is taken for damage.
    """
    try:
        yield
    except NeardupError:
        raise
    except (ValueError, OverflowError) as error:
        raise DamagedIndexError(
            f"the index {path} is damaged ({error}); restore it from a copy, or make it anew"
        ) from error


def require_sound_front(data: Path) -> None:
    """Refuse a file that LMDB could not even open; one without bytes is about to be filled."""
    if os.path.getsize(data):
        _settled(data, lambda file: check_pages(file, front_only=True))


def require_sound(data: Path) -> None:
    """Refuse a file whose pages do not hang together as they should.

    The caller is in a transaction, so that no page that is looked at is used anew meanwhile.
    """
    _settled(data, check_pages)


def _settled(data: Path, check: Callable[[int], None]) -> None:
    """Check more than once: another process may be writing one of the first two pages."""
    with damage_told(data.parent), data.open("rb") as file:
        for _ in range(_TRIES - 1):
            try:
                return check(file.fileno())
            except ValueError:
                time.sleep(_PAUSE)
        check(file.fileno())
