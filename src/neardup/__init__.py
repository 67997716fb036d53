"""Find every near-duplicate in a collection of texts, prove each one, say which copy to keep.

>>> import neardup as nd
>>> fps = nd.fingerprint(["one two three four", "one two three five"])
>>> int(nd.hamming(fps[:1], fps[1:])[0]) <= 64
True
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing, too, takes time to import
    from typing import Any

    from neardup.comparison import cosine, jaccard, weighted_jaccard
    from neardup.comparison.compare import Comparison, compare
    from neardup.deduplication.result import Result
    from neardup.deduplication.run import dedup
    from neardup.errors import InputError, NeardupError, SchemeMismatchError, SettingError
    from neardup.features.idf import IdfTable
    from neardup.fingerprints import Fingerprints, fingerprint, hamming, idf
    from neardup.hashes import keyed
    from neardup.index import Index, Match, MemoryIndex, unique
    from neardup.lab.exact_pairs import exact_pairs
    from neardup.lab.sweep.result import Sweep
    from neardup.lab.sweep.run import sweep
    from neardup.lab.tune.result import Tuning
    from neardup.lab.tune.run import tune
    from neardup.pairs.by_fingerprints import find_pairs

__all__ = [
    "Comparison",
    "Fingerprints",
    "IdfTable",
    "Index",
    "InputError",
    "Match",
    "MemoryIndex",
    "NeardupError",
    "Result",
    "SchemeMismatchError",
    "SettingError",
    "Sweep",
    "Tuning",
    "compare",
    "cosine",
    "dedup",
    "exact_pairs",
    "find_pairs",
    "fingerprint",
    "hamming",
    "idf",
    "jaccard",
    "keyed",
    "sweep",
    "tune",
    "unique",
    "weighted_jaccard",
]

# NumPy and Arrow take a fifth of a second to import; a name brings them in when it is first used.
_HOMES = {
    "Comparison": "neardup.comparison.compare",
    "Fingerprints": "neardup.fingerprints",
    "IdfTable": "neardup.features.idf",
    "Index": "neardup.index",
    "InputError": "neardup.errors",
    "Match": "neardup.index",
    "MemoryIndex": "neardup.index",
    "NeardupError": "neardup.errors",
    "Result": "neardup.deduplication.result",
    "SchemeMismatchError": "neardup.errors",
    "SettingError": "neardup.errors",
    "Sweep": "neardup.lab.sweep.result",
    "Tuning": "neardup.lab.tune.result",
    "compare": "neardup.comparison.compare",
    "cosine": "neardup.comparison",
    "dedup": "neardup.deduplication.run",
    "exact_pairs": "neardup.lab.exact_pairs",
    "find_pairs": "neardup.pairs.by_fingerprints",
    "fingerprint": "neardup.fingerprints",
    "hamming": "neardup.fingerprints",
    "idf": "neardup.fingerprints",
    "jaccard": "neardup.comparison",
    "keyed": "neardup.hashes",
    "sweep": "neardup.lab.sweep.run",
    "tune": "neardup.lab.tune.run",
    "unique": "neardup.index",
    "weighted_jaccard": "neardup.comparison",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'neardup' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
