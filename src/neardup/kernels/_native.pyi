import numpy as np
from numpy.typing import NDArray

def available_isas() -> list[str]: ...
def is_utf8(data: NDArray[np.uint8], offsets: NDArray[np.int64], *, isa: str) -> bool: ...
def fingerprint(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    *,
    words: bool,
    size: int,
    distinct: bool,
    bits: int,
    ties_up: bool,
    threads: int,
    isa: str,
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]: ...
def weigh(
    offsets: NDArray[np.int64],
    terms: NDArray[np.int32],
    weights: NDArray[np.float64],
    digests: NDArray[np.uint64],
    *,
    bits: int,
    ties_up: bool,
    with_sums: bool,
    threads: int,
    isa: str,
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]: ...
def weigh_features(
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    weights: NDArray[np.float64],
    *,
    bits: int,
    ties_up: bool,
    with_sums: bool,
    threads: int,
    isa: str,
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]: ...
def features(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    *,
    shingles: list[tuple[bool, int]],
    threads: int,
    isa: str,
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint32]]: ...

class FeatureCounts:
    """How many documents have each feature; above `limit` features the rarest are forgotten."""

    def __init__(self, limit: int) -> None: ...
    def __len__(self) -> int: ...
    @property
    def floor(self) -> int: ...
    def add(self, hashes: NDArray[np.uint64]) -> None: ...
    def set(self, hashes: NDArray[np.uint64], counts: NDArray[np.uint32]) -> None: ...
    def look_up(self, hashes: NDArray[np.uint64]) -> NDArray[np.uint32]: ...
    def items(self, least: int) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]: ...

class IdSet:
    def __len__(self) -> int: ...
    def add(
        self,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        places: NDArray[np.int64],
    ) -> tuple[int, int] | None: ...
