"""Show the nearest pairs of stored fingerprints, by comparing everything with everything.

    python examples/closest.py fingerprints.parquet

Fine for a few thousand documents; it shows how little there is between a file and an answer.
"""

import sys

import numpy as np

import neardup as nd

LIMIT = 16


def main(path: str) -> None:
    """Print every pair that differs in at most LIMIT bits, nearest first."""
    fps = nd.Fingerprints.load(path)
    left, right = np.triu_indices(len(fps), k=1)
    distances = nd.hamming(fps[left], fps[right])
    near = [i for i in np.argsort(distances, kind="stable") if distances[i] <= LIMIT]
    print(f"Of {len(distances)} pairs, {len(near)} differ in at most {LIMIT} of {fps.bits} bits:")
    for i in near:
        print(f"  {distances[i]:2}  {fps.ids[left[i]]}  {fps.ids[right[i]]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
