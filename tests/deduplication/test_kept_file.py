"""`-o clean.parquet` and `-o -`: the kept rows alone."""

import bz2
import csv
import gzip
import io
import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.test_hostile_usage import run
from tests.deduplication.planted import planted_texts

import neardup as nd
from neardup.deduplication.kept_file import kept_file
from neardup.errors import NeardupError, SettingError

NEARDUP = [sys.executable, "-c", "from neardup.cli.app import main; main()"]
UNPACKED = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".zst": lambda data: pa.input_stream(pa.py_buffer(data), compression="zstd").read(),
}


@pytest.fixture
def source(tmp_path):
    rows = [
        {"id": f"d{number}", "text": text, "n": number, "tags": ["ä", text[:3]]}
        for number, text in enumerate(planted_texts(300, seed=3))
    ]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rows_in(path):
    data = path.read_bytes()
    name = path.name
    for suffix, unpacked in UNPACKED.items():
        if name.endswith(suffix):
            data, name = unpacked(data), name.removesuffix(suffix)
    if name.endswith(".parquet"):
        return pq.read_table(path).to_pylist()
    if name.endswith(".csv"):
        return list(csv.DictReader(io.StringIO(data.decode())))
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.parametrize(
    "name", ["a.parquet", "b.jsonl", "c.NDJSON", "d.jsonl.gz", "e.jsonl.zst", "f.ndjson.bz2"]
)
def test_a_file_has_the_kept_rows_and_nothing_else_is_written(name, source, tmp_path):
    result = nd.dedup(source)
    result.save(tmp_path / "all")
    kept = pq.read_table(tmp_path / "all" / "kept.parquet").to_pylist()
    assert 0 < len(kept) < len(result.collected)
    before = set(tmp_path.iterdir())
    result.save(tmp_path / name)
    assert set(tmp_path.iterdir()) - before == {tmp_path / name}
    assert rows_in((tmp_path / name).rename(tmp_path / name.lower())) == kept


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".bz2"])
def test_csv_has_a_header_and_the_same_rows(suffix, source, tmp_path):
    result = nd.dedup(source)
    result.save(tmp_path / f"out.csv{suffix}")
    found = rows_in(tmp_path / f"out.csv{suffix}")
    assert [row["id"] for row in found] == result.kept["id"].to_pylist()
    assert list(found[0]) == ["id", "text", "n", "tags"]


def test_the_same_bytes_from_any_number_of_threads(source, tmp_path):
    for threads in (1, 3):
        nd.dedup(source, threads=threads).save(tmp_path / f"{threads}.jsonl.gz")
    assert (tmp_path / "1.jsonl.gz").read_bytes() == (tmp_path / "3.jsonl.gz").read_bytes()


@pytest.mark.parametrize("suffix", ["jsonl.gz", "csv.zst", "jsonl.bz2", "jsonl", "parquet"])
def test_no_rows_make_a_file_that_can_be_read(suffix, tmp_path):
    (tmp_path / "empty.jsonl").touch()
    output = tmp_path / f"out.{suffix}"
    nd.dedup(tmp_path / "empty.jsonl").save(output)
    assert rows_in(output) == []
    if "." in suffix:
        assert output.stat().st_size > 0


def test_copies_are_counted(source, tmp_path):
    result = nd.dedup(source)
    result.save(tmp_path / "out.parquet", copies=True)
    assert sum(pq.read_table(tmp_path / "out.parquet")["copies"].to_pylist()) == 300


def test_columns_that_come_late_are_in_every_row(tmp_path):
    rows = [{"text": f"document number {number} " * 400} for number in range(2000)]
    rows[-1] |= {"late": "yes"}
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    nd.dedup(source).save(tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").schema.names == ["text", "late"]


def test_standard_output_has_the_rows_and_standard_error_the_rest(source, tmp_path):
    done = subprocess.run([*NEARDUP, "dedup", source, "-o", "-"], capture_output=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    kept = [json.loads(line) for line in done.stdout.splitlines()]
    assert kept == nd.dedup(source).kept.to_pylist()
    assert b"300 documents" in done.stderr
    assert "kept rows → standard output" in done.stderr.decode()
    assert set(tmp_path.iterdir()) == {source}


def test_standard_output_may_be_parquet_and_quiet(source):
    done = subprocess.run(
        [*NEARDUP, "dedup", source, "-o", "-", "--format", "parquet", "--quiet"],
        capture_output=True,
    )
    assert done.stderr == b""
    assert pq.read_table(pa.BufferReader(done.stdout)) == nd.dedup(source).kept


def test_a_reader_that_leaves_early_is_no_fault(tmp_path):
    source = tmp_path / "in.jsonl"
    rows = [json.dumps({"text": f"number {number} " * 500}) + "\n" for number in range(1000)]
    source.write_text("".join(rows))
    with subprocess.Popen(
        [*NEARDUP, "dedup", source, "-o", "-", "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_rejected_rows_are_told(source, tmp_path, monkeypatch):
    with source.open("a") as lines:
        lines.write('{"id": "x"}\n')
    line = ["dedup", str(source), "-o", str(tmp_path / "out.jsonl")]
    code, printed, errors = run(monkeypatch, line)
    assert code == 0
    assert f"1 row rejected, the first: {source}, row 300: line 301: no 'text'" in errors
    assert f"→ {tmp_path / 'out.jsonl'}" in printed


def test_a_file_that_exists_stays_without_overwrite(source, tmp_path, monkeypatch):
    output = tmp_path / "out.jsonl"
    output.write_text("mine")
    code, _printed, errors = run(monkeypatch, ["dedup", str(source), "-o", str(output)])
    assert code == 1
    assert "is there already; name another file or give --overwrite" in errors
    assert output.read_text() == "mine"
    with pytest.raises(NeardupError, match="is there already"):
        nd.dedup(source).save(output)
    assert run(monkeypatch, ["dedup", str(source), "-o", str(output), "--overwrite"])[0] == 0
    assert rows_in(output) == nd.dedup(source).kept.to_pylist()


def test_an_output_that_is_the_input_is_refused(source, monkeypatch):
    before = source.read_bytes()
    line = ["dedup", str(source), "-o", str(source), "--overwrite"]
    code, _, errors = run(monkeypatch, line)
    assert code == 1
    assert "is also an input" in errors
    assert source.read_bytes() == before


@pytest.mark.parametrize("name", ["out.json", "out.txt.gz", "out.arrow", "out.parquet.gz"])
def test_a_name_that_promises_another_format_is_refused(name, source, tmp_path, monkeypatch):
    code, _printed, errors = run(monkeypatch, ["dedup", str(source), "-o", str(tmp_path / name)])
    assert code == 2
    assert "kept rows are written to files that end with .parquet" in errors
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "out.csv", "--format", "jsonl"], "--format jsonl contradicts the name"),
        (["-o", "-", "--resume"], "--resume needs an output with a name"),
        (["-o", "-", "--json"], "both print to standard output"),
        (["-o", "out.csv", "--engine", "spark"], "--engine spark writes folders of parts"),
    ],
)
def test_contradictions_are_refused(options, said, source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _printed, errors = run(monkeypatch, ["dedup", str(source), *options])
    assert code == 2
    assert said in errors


def test_which_names_are_files(tmp_path):
    assert kept_file("out", None) is None
    assert kept_file("run.2024", None) is None
    assert kept_file("out.csv.gz", "csv").format == "csv"
    (tmp_path / "parts.parquet").mkdir()
    assert kept_file(tmp_path / "parts.parquet", None) is None
    with pytest.raises(SettingError, match="contradicts"):
        kept_file("out.parquet", "csv")


def test_a_folder_of_files_has_a_list_of_removed_paths(tmp_path):
    folder = tmp_path / "src"
    for name in ("a.py", "sub/b.py", "sub/line\nbreak.py", "c.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = "another file\n" if name == "c.py" else f"# {' '.join(map(str, range(30)))}\n"
        (folder / name).write_text(text)
    result = nd.dedup(folder)
    result.save(tmp_path / "out")
    assert (tmp_path / "out" / "removed.txt").read_text() == "sub/b.py\nsub/line\\nbreak.py\n"
    result.save(tmp_path / "out", overwrite=True)
    nd.dedup(folder, id="row").save(tmp_path / "numbered")
    assert not (tmp_path / "numbered" / "removed.txt").exists()


def test_rows_of_a_file_are_no_files(source, tmp_path):
    nd.dedup(source).save(tmp_path / "out")
    assert not (tmp_path / "out" / "removed.txt").exists()
