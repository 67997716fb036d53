"""Pipes, folders, broken files and odd columns as input of the real command."""

import json
import os
import resource
import subprocess
import sys
import threading

import pyarrow.parquet as pq
import pytest
from tests.cli import forked

NEARDUP = [sys.executable, "-c", "from neardup.cli.app import main; main()"]
LINES = "".join(
    json.dumps({"id": str(i), "text": f"some words that stand in text number {i % 3}"}) + "\n"
    for i in range(6)
)


def neardup(*arguments, **options):
    if not options:
        return forked.neardup(*arguments)
    return subprocess.run(
        [*NEARDUP, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options
    )


@pytest.mark.parametrize("name", ["pipe", "pipe.jsonl"])
def test_a_pipe_is_read_as_often_as_need_be(tmp_path, name):
    pipe = tmp_path / name
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(LINES,))
    writer.start()
    done = neardup("dedup", pipe, "-o", tmp_path / "out", "--json")
    writer.join()
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kept"] == 3
    assert pq.read_table(tmp_path / "out" / "kept.parquet")["id"].to_pylist() == ["0", "1", "2"]


def test_tf_idf_reads_a_pipe_twice(tmp_path):
    command = ["fingerprint", "-", "-o", tmp_path / "f.parquet", "--weights", "tfidf"]
    assert neardup(*command, input=LINES).returncode == 0


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_a_device_without_end_is_refused(tmp_path, device):
    done = neardup("dedup", device, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert f"{device} is a device, not a file or a pipe" in done.stderr
    with open(device, "rb") as endless:
        done = neardup("fingerprint", "-", "-o", tmp_path / "f.parquet", stdin=endless)
    assert done.returncode == 1
    assert "standard input is a device" in done.stderr


def test_a_pipe_without_end_stops_where_there_is_no_more_room(tmp_path):
    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000_000, 20_000_000))

    with subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE) as cat:
        done = neardup("dedup", "-", "-o", tmp_path / "out", stdin=cat.stdout, preexec_fn=limited)
        cat.kill()
    assert done.returncode == 1
    assert "standard input has to be copied to" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "content", [b"broken\n" * 5, b"PAR1\x15\x04" + bytes(50)], ids=["broken", "parquet"]
)
@pytest.mark.parametrize("command", ["dedup", "fingerprint", "idf", "sweep", "tune"])
def test_a_file_of_which_nothing_can_be_read_is_an_error(tmp_path, command, content):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    others = {"sweep": ["--bands", "2", "--band-bits", "4"], "tune": []}
    output = others.get(command, ["-o", tmp_path / "out.parquet"])
    done = neardup(command, path, *output)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.isprintable() or done.stderr.count("\n") <= 4
    assert not (tmp_path / "out.parquet").exists()


def test_an_empty_file_is_none(tmp_path):
    (tmp_path / "a.jsonl").write_text("")
    assert neardup("dedup", tmp_path / "a.jsonl", "-o", tmp_path / "out").returncode == 0


def test_a_folder_with_strings_for_ids_a_readme_and_an_unknown_file(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "README.md").write_text("about")
    (folder / "data.jsonl").write_text(LINES)
    (folder / "what.xyz").write_bytes(bytes(9))
    done = neardup("dedup", folder, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "2 files left out →" in done.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["documents"], summary["rejected"], summary["left_out"]) == (6, 0, 2)
    assert [os.path.basename(one["file"]) for one in summary["left_out_files"]] == [
        *("README.md", "what.xyz"),
    ]
    done = neardup("fingerprint", folder, "-o", tmp_path / "f.parquet")
    assert done.returncode == 0, done.stderr
    assert "2 files left out →" in done.stderr


@pytest.mark.parametrize("format", ["parquet", "jsonl", "csv"])
def test_kept_rows_of_any_shape_can_be_written(tmp_path, format):
    folder = tmp_path / "in"
    folder.mkdir()
    values = [1, "seven", [1, {"a": [None]}], {"x": {"y": {}}}, None, 2.5, True, {}, [], [[]]]
    for number, value in enumerate(values):
        row = {"id": str(number), "text": f"the only text of number {number}", "x": value}
        (folder / f"{number}.jsonl").write_text(json.dumps(row) + "\n")
    deep = '{"a":' * 900 + "1" + "}" * 900
    (folder / "deep.jsonl").write_text(f'{{"id": "d", "text": "deep", "x": {deep}}}\n')
    (folder / "z.csv").write_bytes(
        "id,text,x,\n10,last of all,é,1\n11,bad,\xff,2\n".encode("latin1")
    )
    done = neardup("dedup", folder, "-o", tmp_path / "out", "--format", format, "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["documents"], summary["rejected"]) == (10, 3)
    if format == "parquet":
        kept = pq.read_table(tmp_path / "out" / "kept.parquet")["x"].to_pylist()
        assert kept[:2] == ["1", "seven"]
        assert json.loads(kept[2]) == [1, {"a": [None]}]


def test_every_reading_of_a_file_has_the_same_rows(tmp_path):
    """An invalid byte in a carried column used to shift the kept rows."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,text,note\n1,first words here,ok\n2,other words there,\xff\n3,last,ok\n")
    done = neardup("dedup", path, "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert pq.read_table(tmp_path / "out" / "kept.parquet")["id"].to_pylist() == ["1", "3"]


def test_max_document_is_an_option_of_every_command_that_reads(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(LINES + json.dumps({"id": "long", "text": "x y z " * 100}) + "\n")
    neardup("index", "create", tmp_path / "i.index")
    for command in (
        ["dedup", path, "-o", tmp_path / "out"],
        ["fingerprint", path, "-o", tmp_path / "f.parquet"],
        ["idf", path, "-o", tmp_path / "i.parquet"],
        ["index", "add", tmp_path / "i.index", path],
        ["sweep", path, "--bands", "2", "--band-bits", "4"],
    ):
        done = neardup(*command, "--max-document", "300B")
        assert done.returncode == 0, done.stderr
        assert "1 row" in done.stderr, command
    done = neardup("fingerprint", path, "-o", tmp_path / "g.parquet", "--max-document", "much")
    assert done.returncode == 2
    assert "max_document='much'" in done.stderr
