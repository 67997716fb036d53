"""Every command refuses outputs that would overwrite an input or a foreign file."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import neardup as nd
from neardup.cli.app import app

NEARDUP = str(Path(sys.executable).with_name("neardup"))


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "w").mkdir()
    rows = [{"id": f"d{n}", "text": f"one two three number {n}"} for n in range(9)]
    (tmp_path / "w" / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def everything(place):
    return {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}


def run(arguments):
    app(arguments, standalone_mode=False)


@pytest.mark.parametrize(
    "arguments",
    [
        "dedup w -o w --overwrite",
        "dedup w/a.jsonl -o w --overwrite",
        "dedup w/*.jsonl -o w --overwrite",
        "dedup w -o . --overwrite",
        "dedup w -o w/out",
        "dedup other.jsonl --against w -o w --overwrite",
        "dedup other.jsonl --index w -o w --overwrite",
        "dedup other.jsonl --config w/settings.toml -o w --overwrite",
        "sweep w -o w --overwrite --bands 2 --band-bits 4",
        "sweep w/a.jsonl -o w --overwrite --bands 2 --band-bits 4",
        "tune w/a.jsonl -o w/a.jsonl",
        "idf w/a.jsonl -o w/a.jsonl",
        "idf w -o w/idf.parquet",
        "fingerprint w/a.jsonl -o w/a.jsonl",
        "fingerprint w -o w/f.parquet",
        "fingerprint other.jsonl --weights tfidf --idf w/i.parquet -o w/i.parquet",
        "pairs w/f.parquet -o w/f.parquet",
        "pairs w/p.groups.parquet -o w/p.parquet --group --candidates bands:2x8",
        "pairs other.parquet w/f.parquet -o w/f.parquet",
    ],
)
def test_an_output_that_costs_an_input(place, arguments):
    (place / "other.jsonl").write_text('{"text": "other"}\n')
    (place / "w" / "settings.toml").write_text("bits = 64\n")
    before = everything(place)
    with pytest.raises(Exception, match=r"^the output .*(also an|contains the|inside the) input"):
        run(arguments.split())
    assert everything(place) == before


def test_all_that_is_overwritten_is_ours(place):
    run(["dedup", "w", "-o", "out", "--quiet"])
    (place / "out" / "notes.txt").write_text("mine")
    before = everything(place)
    with pytest.raises(Exception, match=r"^out holds notes\.txt, which this command does not"):
        run(["dedup", "w", "-o", "out", "--overwrite"])
    assert everything(place) == before


def test_levels_are_among_the_files_of_a_folder(place):
    for _ in range(2):
        run(["dedup", "w", "-o", "out", "--quiet", "--overwrite", "--preset", "sphere"])
    assert (place / "out" / "cluster-sizes.png").exists()


def test_a_sweep_replaces_its_own_folder(place):
    arguments = "sweep w -o out --overwrite --bands 2 --band-bits 4"
    for _ in range(2):
        run(arguments.split())
    with pytest.raises(Exception, match=r"holds sweep\.csv"):
        run(["dedup", "w", "-o", "out", "--overwrite"])


@pytest.mark.parametrize(
    "arguments",
    [
        "fingerprint w -o {}",
        "idf w -o {}",
        "tune w -o {}",
        "sphere --count 3 -o {}",
        "dedup w -o {}/out",
        "dedup w -o {}",
    ],
)
def test_a_place_that_cannot_be_written_is_told_before_any_work(place, arguments):
    with pytest.raises(Exception, match=r"^cannot write nowhere.*: there is no folder"):
        run(arguments.format("nowhere/x").split())


def neardup(*arguments, **options):
    return subprocess.run(
        [NEARDUP, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )


def test_a_device_stays_a_device(place):
    (place / "w" / "b.jsonl").write_text("broken\n")
    (place / "null").symlink_to("/dev/null")
    done = neardup("fingerprint", "w", "-o", "null")
    assert done.returncode == 0
    assert done.stderr.startswith("1 row rejected; name a file")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert sorted(os.listdir()) == ["null", "w"]
    assert not Path("/dev/null.rejected.jsonl").exists()


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
def test_a_full_device(place):
    (place / "full").symlink_to("/dev/full")
    for command in ("fingerprint", "idf", "tune"):
        with pytest.raises(Exception, match=r"^cannot write full: No space left on device$"):
            run([command, "w/a.jsonl", "-o", "full"])
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_name_that_is_not_text(place):
    """Commands refuse it; a Python program can still write to such names."""
    name = os.fsdecode(b"out\xff")
    assert neardup("dedup", "w", "-o", name).returncode == 2
    nd.dedup(["one two three"]).save(name)
    nd.fingerprint(["one two three"]).save(f"{name}.parquet")
    assert sorted(os.listdir(b".")) == [b"out\xff", b"out\xff.parquet", b"w"]


def test_standard_output_is_for_the_summary(place):
    done = neardup("fingerprint", "w", "-o", "/dev/stdout")
    assert done.returncode == 1
    assert done.stderr.startswith("neardup: cannot write /dev/stdout: it is standard output")


def test_the_disk_is_full_while_it_writes(place):
    """With a file size limit of the process, which gives the same error as a full disk."""
    rows = [{"id": n, "text": f"words {n} " * 20} for n in range(20_000)]
    (place / "big.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for arguments in (
        ("fingerprint", "big.jsonl", "-o", "f.parquet"),
        ("dedup", "big.jsonl", "-o", "f"),
    ):
        limited = ["bash", "-c", 'ulimit -f 40; exec "$@"', "bash", NEARDUP, *arguments]
        done = subprocess.run(limited, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith("neardup: cannot write f")
        assert done.stderr.splitlines()[-1].endswith("File too large")
        assert "Traceback" not in done.stderr
    assert sorted(os.listdir()) == ["big.jsonl", "w"]
