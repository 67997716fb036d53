"""The segment format, in plain NumPy: the specification of what the native code writes and reads.

A segment is a set of numbered fingerprints with one table for each mask of their plan. It holds
no addresses, so it is read in place. All numbers are little-endian; each part begins at a multiple
of 8 bytes and is padded with zeros:

    head     uint64 × 10  magic, version, bits, masks, groups, documents, total bytes,
                          checksum of everything after the masks, checksum of the masks,
                          checksum of the nine words before
    masks    uint64       one row of words each
    rows     uint64       the different fingerprints ("groups"), ascending
    starts   uint32       the first number of each group, and the end of the last group
    numbers  uint64       ascending within each group

and then for each mask

    buckets  uint32       the start of each bucket, and the end of the last: 2^d + 1
    tags     uint32       32 bits of each group, to skip it without reading its row
    groups   uint32       the groups of each bucket, ascending

The masked bits of a row, in order, are cut into pieces of 64 bits, the last padded with zeros at
its end; the row's key is folded from the pieces. The topmost d bits of the key are its bucket.
A bucket has about eight groups, unless the mask has too few bits for that.
A tag has two parts: the topmost bits come from a hash of the key, the others from the half word of
the row that has the most bits outside the mask. A query skips groups whose tag differs in the first
part, or in the second part by more bits than the query allows. The hash takes no bits if the mask
has up to 12 bits, 8 bits up to 24, and all 32 above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.kernels.hamming_join import MOST_BITS, Rows
from neardup.kernels.index_rows import MOST_DOCUMENTS, MOST_NUMBER, Numbers

Buffer = bytes | bytearray | memoryview | NDArray[np.uint8]

MAGIC = int.from_bytes(b"neardup\x1a", "little")
VERSION = 1
HEAD_WORDS = 10
MOST_MASKS = 10_000

GROUPS_A_BUCKET = 8
KEY_FACTOR = np.uint64(0x9E3779B97F4A7C15)
TAG_FACTOR = np.uint64(0xD6E8FEB86659FD93)
CHECK_FACTORS = np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)
HALF = np.uint64(32)


@dataclass(frozen=True, eq=False)
class SegmentRows:
    """The contents of a segment."""

    numbers: Numbers
    rows: Rows
    masks: Rows
    bits: int


def written_segment(numbers: Numbers, rows: Rows, masks: Rows, bits: int) -> bytes:
    """The bytes of a segment; the numbers must be distinct."""
    order = np.lexsort([numbers, *rows.T[::-1]])
    numbers, rows = numbers[order], rows[order]
    new = np.ones(len(rows), np.bool_)
    new[1:] = np.any(rows[1:] != rows[:-1], axis=1)
    starts = np.append(np.flatnonzero(new), len(rows))
    groups = rows[new]
    parts = [_bytes(groups), _bytes(starts.astype(np.uint32)), _bytes(numbers)]
    for mask in masks:
        keys = row_keys(groups, mask)
        depth = bucket_bits(len(groups), mask)
        buckets = keys >> np.uint64(64 - depth) if depth else np.zeros_like(keys)
        order = np.argsort(buckets, kind="stable")
        sizes = np.bincount(buckets.astype(np.int64), minlength=2**depth)
        ends = np.append(0, np.cumsum(sizes))
        tags = row_tags(groups, keys, mask, bits)
        parts += [_bytes(part.astype(np.uint32)) for part in (ends, tags[order], order)]
    body, plan = b"".join(parts), _bytes(masks)
    counts = [MAGIC, VERSION, bits, len(masks), len(groups), len(numbers)]
    size = 8 * HEAD_WORDS + len(plan) + len(body)
    head = np.array([*counts, size, checksum(body), checksum(plan)], np.uint64).tobytes()
    return head + np.uint64(checksum(head)).tobytes() + plan + body


def read_segment(buffer: Buffer) -> SegmentRows:
    """The contents of a segment; ValueError if any byte is damaged."""
    data = bytes(buffer)
    if len(data) < 8 * HEAD_WORDS or len(data) % 8:
        raise ValueError("a segment is cut off")
    words = np.frombuffer(data, np.uint64)
    magic, version, bits, mask_count, groups, documents, size = words[:7].tolist()
    body_sum, plan_sum, head_sum = words[7:HEAD_WORDS].tolist()
    if magic != MAGIC or checksum(data[: 8 * HEAD_WORDS - 8]) != head_sum:
        raise ValueError("this is not a segment, or it is damaged")
    if version != VERSION:
        raise ValueError(f"a segment has format version {version}, which is not known here")
    if size != len(data):
        raise ValueError("a segment is cut off")
    width = -(-bits // 64)
    body_at = 8 * (HEAD_WORDS + mask_count * width)
    if (
        not 1 <= bits <= MOST_BITS
        or mask_count > MOST_MASKS
        or not groups <= documents <= MOST_DOCUMENTS
        or body_at > size
        or checksum(data[8 * HEAD_WORDS : body_at]) != plan_sum
        or checksum(data[body_at:]) != body_sum
    ):
        raise ValueError("a segment is damaged")
    masks = words[HEAD_WORDS : body_at // 8].reshape(mask_count, width)
    rows_end = body_at + 8 * groups * width
    rows = words[body_at // 8 : rows_end // 8].reshape(groups, width)
    starts = np.frombuffer(data, np.uint32, groups + 1, rows_end).astype(np.int64)
    numbers = np.frombuffer(
        data, np.uint64, documents, rows_end + 4 * (groups + 1 + (groups + 1) % 2)
    )
    found = SegmentRows(numbers, np.repeat(rows, np.diff(starts), axis=0), masks, bits)
    if np.any(numbers > MOST_NUMBER) or written_segment(numbers, found.rows, masks, bits) != data:
        raise ValueError("a segment is damaged")
    return found


def bucket_bits(groups: int, mask: NDArray[np.uint64]) -> int:
    """The number of key bits that select a bucket: d."""
    return min(max(groups // GROUPS_A_BUCKET, 1).bit_length() - 1, _positions(mask).size)


def row_keys(rows: Rows, mask: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The key of each row: equal for rows that agree on the mask."""
    chosen = _bits_of(rows)[:, _positions(mask)]
    padded = np.pad(chosen, ((0, 0), (0, -chosen.shape[1] % 64)))
    packed = np.ascontiguousarray(np.packbits(padded, axis=1))
    pieces = packed.view(">u8").astype(np.uint64)
    keys = np.zeros(len(rows), np.uint64)
    for piece in pieces.T:
        keys = ((keys ^ keys >> HALF) ^ piece) * KEY_FACTOR
    return keys


def row_tags(
    rows: Rows, keys: NDArray[np.uint64], mask: NDArray[np.uint64], bits: int
) -> NDArray[np.uint32]:
    """The tag of each row: 32 bits by which a query skips most rows of a bucket."""
    free = np.ones(64 * rows.shape[1], np.bool_)
    free[bits:] = False
    free[_positions(mask)] = False
    word, low = divmod(int(np.argmax(free.reshape(-1, 32).sum(axis=1))), 2)
    some = (rows[:, word] >> np.uint64(0 if low else 32)).astype(np.uint32)
    hashes = ((keys ^ keys >> HALF) * TAG_FACTOR >> HALF).astype(np.uint32)
    size = _positions(mask).size
    exact = np.uint32(0 if size <= 12 else 0xFF000000 if size <= 24 else 0xFFFFFFFF)
    return (hashes & exact) | (some & ~exact)


def checksum(data: bytes) -> int:
    """A sum over words that changes if one word changes or two are swapped."""
    words = np.frombuffer(data, np.uint64)
    mixed = (words ^ np.arange(len(words), dtype=np.uint64) * KEY_FACTOR) * CHECK_FACTORS[0]
    return int(((mixed ^ mixed >> HALF) * CHECK_FACTORS[1]).sum(dtype=np.uint64))


def _positions(mask: NDArray[np.uint64]) -> NDArray[np.int64]:
    return np.flatnonzero(_bits_of(mask[None])[0])


def _bits_of(rows: Rows) -> NDArray[np.uint8]:
    return np.unpackbits(np.ascontiguousarray(rows, ">u8").view(np.uint8), axis=1)


def _bytes(part: NDArray[np.uint64] | NDArray[np.uint32]) -> bytes:
    data = part.tobytes()
    return data + bytes(-len(data) % 8)
