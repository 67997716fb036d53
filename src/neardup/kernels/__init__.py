"""Kernels: the native code as Python functions, one module per topic.

`text`, `terms` (with `sentences` and `keywords`), `json_lines`, `hamming_join`, `set_join`, `spans`
and `index_tables` are the topics; `reference` holds their slow twins. The functions that other
stages call most are re-exported here.
"""

try:
    from neardup.kernels import _native as _native
except ImportError as error:
    raise ImportError(
        f"neardup's native module cannot be loaded ({error}); install a wheel of neardup again, or "
        "run `pip install .` in a clone of its repository, which needs a C++20 compiler"
    ) from error
from neardup.kernels.hash_key import HashKey
from neardup.kernels.id_set import IdSet
from neardup.kernels.machine import available_isas, thread_count
from neardup.kernels.text import (
    FeatureCounts,
    content_keys,
    find_features,
    find_sets,
    fingerprint,
    is_utf8,
    order_features,
    take_features,
    weigh,
    weigh_features,
)

__all__ = [
    "FeatureCounts",
    "HashKey",
    "IdSet",
    "available_isas",
    "content_keys",
    "find_features",
    "find_sets",
    "fingerprint",
    "is_utf8",
    "order_features",
    "take_features",
    "thread_count",
    "weigh",
    "weigh_features",
]
