"""What a person types into the search field, as a query of SQLite's full-text index.

Everything is quoted, so that nothing that is typed can be an operator of that language.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from neardup.frozen import dataclass
from neardup.runs.words import words_of

# A phrase in quotes, or what stands between spaces; each may begin with a column and a colon.
_PART = re.compile(r'(?:(?P<column>[^\s":]+):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')
MOST_COLUMNS = 30


@dataclass(frozen=True)
class Search:
    """A search: the query of the full-text index, and the id that may be meant.

    `match` is empty if no word is looked for.
    """

    match: str
    id: str


def parsed(search: str, columns: Sequence[str]) -> Search:
    r"""The search that a text asks for; `columns` can be named in it.

    >>> parsed('title:"new york" don\'t', ["title", "text"]).match
    '{c0} : "new york" AND "don t"'
    """
    found = []
    for part in _PART.finditer(search):
        column, words = part["column"], part["phrase"]
        if words is None:
            words = part["word"]
        if column is not None and column not in columns:
            words, column = f"{column}:{words}", None
        phrase = " ".join(words_of(words))
        if phrase:
            where = "" if column is None else f"{{c{list(columns).index(column)}}} : "
            found.append(f'{where}"{phrase}"')
    return Search(" AND ".join(found), search.strip())
