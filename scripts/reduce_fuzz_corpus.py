"""Choose the few inputs of a fuzzer that are kept: the smallest ones that reach what all reach.

    python scripts/reduce_fuzz_corpus.py FUZZER KEPT FOUND...

FUZZER is a program of `make fuzz`, KEPT a folder of tests/fuzz_corpus, FOUND folders of inputs.
KEPT is replaced by inputs of KEPT and FOUND that together reach every edge that any of them does,
or, where that takes more than 60, by those that reach most.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MOST = 60


def main() -> None:
    """Replace KEPT."""
    fuzzer, kept, found = sys.argv[1], Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]]
    files = [file for folder in (kept, *found) if folder.exists() for file in folder.iterdir()]
    with tempfile.TemporaryDirectory() as room:
        everything, merged = Path(room, "all"), Path(room, "merged")
        everything.mkdir()
        merged.mkdir()
        for file in files:
            shutil.copy(file, everything / f"{file.parent.name}-{file.name}")
        control = Path(room, "control")
        subprocess.run(
            [fuzzer, "-merge=1", f"-merge_control_file={control}", merged, everything],
            check=True,
            capture_output=True,
        )
        chosen = cover(control.read_text(encoding="utf-8"))
        contents = sorted(Path(name).read_bytes() for name in chosen)
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    for number, content in enumerate(contents):
        (kept / f"{number:03}").write_bytes(content)
    print(f"{kept}: {len(contents)} of {len(files)} inputs, {sum(map(len, contents)):,} bytes")


def cover(control: str) -> list[str]:
    """Names of files that together reach every edge, each time the one that adds most.

    The file of libFuzzer's merge names the inputs and then tells of each by its number which
    features it has (FT): eight for each edge, for how often it was reached.
    """
    lines = control.splitlines()
    count = int(lines[0])
    names = lines[2 : 2 + count]
    reached: dict[int, set[int]] = {}
    for line in lines[2 + count :]:
        word, number, *values = line.split()
        if word == "FT":
            reached[int(number)] = {int(value) // 8 for value in values}
    chosen: list[str] = []
    missing = set().union(*reached.values())
    while missing and len(chosen) < MOST:
        best = max(reached, key=lambda number: (len(reached[number] & missing), -number))
        missing -= reached[best]
        chosen.append(names[best])
    return chosen


if __name__ == "__main__":
    main()
