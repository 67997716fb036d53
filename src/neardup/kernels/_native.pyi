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

class IdSet:
    def __len__(self) -> int: ...
    def add(
        self,
        data: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        places: NDArray[np.int64],
    ) -> tuple[int, int] | None: ...
