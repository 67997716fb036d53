"""Write `tests/fixtures/index_version_1`; run it only for a new version of the format.

python -m tests.index.make_fixture FOLDER
"""

import sys
from pathlib import Path

from tests.index.texts import pairs, text

import neardup as nd


def main():
    path = Path(sys.argv[1])
    with nd.Index(path, store_text=True) as index:
        index.add_many(pairs(0, 1198))
        index.add("gone", text("gone"))
        index.add_many(pairs(1198, 1199))
        index.delete("gone")
        index.add("last", text("last"), {"name": "last"})
    (path / "lock.mdb").unlink()


if __name__ == "__main__":
    main()
