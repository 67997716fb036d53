"""Whether the file of an index is whole, told before LMDB follows its pages.

LMDB reads through a map: a page that is not there ends the program, and one that is garbage leads
it anywhere. What lies in the pages has checksums of its own, which are looked at when it is read.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from neardup.errors import NeardupError

# Walking through a file takes 70 ms for each gigabyte, so larger ones are walked through only if
# they are shorter than they should be.
_SMALL = 256 << 20


def require_sound(environment: Any, data: Path) -> None:
    """Refuse a file whose pages do not hang together as they should.

    The caller is in a transaction, so that no page that is looked at is used anew meanwhile.
    """
    from lmdb.verify import VerifyError, verify

    size = os.path.getsize(data)
    whole = (environment.info()["last_pgno"] + 1) * environment.stat()["psize"]
    # The last pages may be free, and then need not be there.
    if size > _SMALL and size >= whole:
        return
    try:
        problems = verify(os.fspath(data))  # type: ignore[no-untyped-call]
    except VerifyError as error:
        problems = [str(error)]
    if problems:
        raise NeardupError(
            f"{data.parent} is a damaged index ({problems[0]}); restore it from a copy, or make it "
            "anew"
        )
