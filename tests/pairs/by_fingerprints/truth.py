"""The obvious way to the same answers: look at every pair."""

import numpy as np

WIDTHS = [1, 7, 63, 64, 65, 128, 256]


def rows_of(values, bits):
    """Ints of `bits` binary digits as rows of 64-bit words, bit 0 first."""
    words = -(-bits // 64)
    data = b"".join((value << (64 * words - bits)).to_bytes(8 * words, "big") for value in values)
    return np.frombuffer(data, ">u8").astype(np.uint64).reshape(len(values), words)


def near_pairs(left, right=None, limit=None, wanted=lambda a, b: True):
    """All (a, b, distance) within a limit, by two loops; `wanted` says which values go together."""
    found = []
    for a, x in enumerate(left):
        others = enumerate(left) if right is None else enumerate(right)
        for b, y in others:
            distance = (x ^ y).bit_count()
            if right is None and b <= a:
                continue
            if (limit is None or distance <= limit) and wanted(x, y):
                found.append((a, b, distance))
    return found


def triples(table):
    """An Arrow table of pairs as a list of tuples."""
    return list(zip(*(table[name].to_pylist() for name in ("a", "b", "distance")), strict=True))
