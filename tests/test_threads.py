"""Every function that takes a number of threads checks it first."""

import subprocess
import sys

import pytest

import neardup as nd
from neardup.lab.reproduce.slides import reproduce_slides

TEXTS = ["one two three four", "five six seven eight"]
ENTRIES = {
    "dedup": lambda threads, folder: nd.dedup(TEXTS, threads=threads),
    "fingerprint": lambda threads, folder: nd.fingerprint(TEXTS, threads=threads),
    "find_pairs": lambda threads, folder: nd.find_pairs(
        nd.fingerprint(TEXTS), max_distance=3, threads=threads
    ),
    "exact_pairs": lambda threads, folder: nd.exact_pairs(TEXTS, threads=threads),
    "sweep": lambda threads, folder: nd.sweep(TEXTS, plans=["bands:4x16"], threads=threads),
    "tune": lambda threads, folder: nd.tune(TEXTS, threads=threads),
    "MemoryIndex": lambda threads, folder: nd.MemoryIndex(threads=threads),
    "Index": lambda threads, folder: nd.Index(folder / "index", threads=threads),
    "reproduce": lambda threads, folder: reproduce_slides(threads=threads),
}


@pytest.mark.parametrize("threads", [0, -1, 1025, 1_000_000, 2**70, True, 1.5, "2"])
@pytest.mark.parametrize("entry", ENTRIES)
def test_impossible_numbers_are_refused(entry, threads, tmp_path):
    with pytest.raises(nd.SettingError, match="from 1 to 1,024"):
        ENTRIES[entry](threads, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_most_threads_work():
    texts = [f"document number {number} has some words" for number in range(3000)]
    many = nd.fingerprint(texts, threads=1024)
    assert (many.array == nd.fingerprint(texts, threads=1).array).all()


def test_a_million_threads_is_a_sentence(tmp_path):
    (tmp_path / "docs.jsonl").write_text('{"text": "one two three"}\n' * 10, encoding="utf-8")
    program = "from neardup.cli.app import main; main()"
    line = ["dedup", "docs.jsonl", "-o", "out", "--threads", "1000000"]
    done = subprocess.run(
        [sys.executable, "-c", program, *line],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "from 1 to 1,024" in done.stderr
