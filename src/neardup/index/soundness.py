"""Whether the file of an index is whole, told before LMDB follows its pages.

LMDB reads through a map: a page that is not there ends the program, and one that is garbage leads
it anywhere. What lies in the pages has checksums of its own, which are looked at when it is read.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from neardup.errors import NeardupError

# Walking through a file takes 70 ms for each gigabyte, so larger ones are walked through only if
# they are shorter than they should be.
_SMALL = 256 << 20
_TRIES, _PAUSE = 8, 0.01


def require_sound(environment: Any, data: Path) -> None:
    """Refuse a file whose pages do not hang together as they should.

    The caller is in a transaction, so that no page that is looked at is used anew meanwhile.
    """
    # In this order: a page is written before it is counted. The last ones may be free, and then
    # need not be there.
    whole = (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]
    size = os.path.getsize(data)
    if size > _SMALL and size >= whole:
        return
    problem = _problem(data)
    for _ in range(_TRIES):
        if problem is None:
            return
        time.sleep(_PAUSE)  # a writer may have made the file longer while it was looked at
        problem = _problem(data)
    if problem is not None:
        raise NeardupError(
            f"{data.parent} is a damaged index ({problem}); restore it from a copy, or make it anew"
        )


def _problem(data: Path) -> str | None:
    """The first thing that is wrong with a file."""
    from lmdb.verify import VerifyError, verify

    try:
        problems: list[str] = verify(os.fspath(data))  # type: ignore[no-untyped-call]
    except VerifyError as error:
        return str(error)
    return problems[0] if problems else None
