"""Find every near-duplicate in a collection of texts, prove each one, say which copy to keep.

>>> import neardup as nd
>>> fps = nd.fingerprint(["one two three four", "one two three five"])
>>> int(nd.hamming(fps[:1], fps[1:])[0]) <= 64
True
"""

from __future__ import annotations

__version__ = "0.1.0"

# The public names stand here twice, because nothing shorter serves all readers: type checkers and
# editors need imports that they can follow without running the module, and these must not run,
# because NumPy and Arrow take a fifth of a second to import. A test compares the two lists. A stub
# file would repeat them as well, and reading the imports from the source would cost time and fail
# where only compiled files are installed. `name as name` tells type checkers that it is exported.
TYPE_CHECKING = False  # importing typing takes time as well
if TYPE_CHECKING:
    from neardup.client import (
        AsyncClient as AsyncClient,
        Client as Client,
        ServiceError as ServiceError,
    )
    from neardup.comparison.compare import compare as compare
    from neardup.comparison.record_result import RecordComparison as RecordComparison
    from neardup.comparison.result import Comparison as Comparison
    from neardup.comparison.spans import Span as Span, spans as spans
    from neardup.deduplication.result import Result as Result
    from neardup.deduplication.run import dedup as dedup
    from neardup.errors import (
        InputError as InputError,
        NeardupError as NeardupError,
        SchemeMismatchError as SchemeMismatchError,
        SettingError as SettingError,
    )
    from neardup.evaluation.evaluate import Evaluation as Evaluation, evaluate as evaluate
    from neardup.features.idf import IdfTable as IdfTable
    from neardup.fingerprints import (
        Fingerprints as Fingerprints,
        fingerprint as fingerprint,
        hamming as hamming,
        idf as idf,
    )
    from neardup.hashes import keyed as keyed
    from neardup.index import (
        Index as Index,
        Match as Match,
        MemoryIndex as MemoryIndex,
        Verdict as Verdict,
        unique as unique,
    )
    from neardup.lab.exact_pairs import exact_pairs as exact_pairs
    from neardup.lab.sweep.result import Sweep as Sweep
    from neardup.lab.sweep.run import sweep as sweep
    from neardup.lab.tune.result import Tuning as Tuning
    from neardup.lab.tune.run import tune as tune
    from neardup.pairs.by_fingerprints import find_pairs as find_pairs
    from neardup.pairs.similarity import (
        containment as containment,
        cosine as cosine,
        inclusion as inclusion,
        jaccard as jaccard,
        weighted_jaccard as weighted_jaccard,
    )
    from neardup.parts.contamination.result import ContaminationResult as ContaminationResult
    from neardup.parts.contamination.run import contamination as contamination
    from neardup.parts.passages.result import PassagesResult as PassagesResult
    from neardup.parts.passages.run import passages as passages
    from neardup.samples.kinds import sample as sample

# A name brings its module in when it is first used.
_NAMES = {
    "neardup.client": ("AsyncClient", "Client", "ServiceError"),
    "neardup.comparison.compare": ("compare",),
    "neardup.comparison.record_result": ("RecordComparison",),
    "neardup.comparison.result": ("Comparison",),
    "neardup.comparison.spans": ("Span", "spans"),
    "neardup.deduplication.result": ("Result",),
    "neardup.deduplication.run": ("dedup",),
    "neardup.errors": ("InputError", "NeardupError", "SchemeMismatchError", "SettingError"),
    "neardup.evaluation.evaluate": ("Evaluation", "evaluate"),
    "neardup.features.idf": ("IdfTable",),
    "neardup.fingerprints": ("Fingerprints", "fingerprint", "hamming", "idf"),
    "neardup.hashes": ("keyed",),
    "neardup.index": ("Index", "Match", "MemoryIndex", "Verdict", "unique"),
    "neardup.lab.exact_pairs": ("exact_pairs",),
    "neardup.lab.sweep.result": ("Sweep",),
    "neardup.lab.sweep.run": ("sweep",),
    "neardup.lab.tune.result": ("Tuning",),
    "neardup.lab.tune.run": ("tune",),
    "neardup.pairs.by_fingerprints": ("find_pairs",),
    "neardup.pairs.similarity": (
        "containment",
        "cosine",
        "inclusion",
        "jaccard",
        "weighted_jaccard",
    ),
    "neardup.parts.contamination.result": ("ContaminationResult",),
    "neardup.parts.contamination.run": ("contamination",),
    "neardup.parts.passages.result": ("PassagesResult",),
    "neardup.parts.passages.run": ("passages",),
    "neardup.samples.kinds": ("sample",),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__all__ = sorted(_HOMES)


if not TYPE_CHECKING:  # to type checkers it would mean that every name exists

    def __getattr__(name):
        if name not in _HOMES:
            raise AttributeError(f"module 'neardup' has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
