"""Standard streams that are closed, full, or never written to."""

import json
import subprocess
import sys

import pytest

PROGRAM = f"{sys.executable} -c 'from neardup.cli.app import main; main()'"


@pytest.fixture
def shell(tmp_path):
    row = json.dumps({"text": "one two three four"}) + "\n"
    (tmp_path / "docs.jsonl").write_text(row * 2, encoding="utf-8")
    (tmp_path / "a.txt").write_text("one two three", encoding="utf-8")

    def run(command):
        done = subprocess.run(
            command.replace("neardup", PROGRAM),
            shell=True,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert "unexpected" not in done.stderr
        return done

    return run


@pytest.mark.parametrize(
    "command",
    [
        "neardup dedup - -o out <&-",
        "neardup fingerprint - -o out <&-",
        "neardup compare - a.txt <&-",
        "neardup hashes nd1 --words - <&-",
        "neardup index create i && neardup index query i <&-",
    ],
)
def test_closed_standard_input_is_a_sentence(shell, command):
    done = shell(command)
    assert done.returncode == 1
    assert "standard input is closed" in done.stderr


@pytest.mark.parametrize(
    "command",
    ["neardup presets >&-", "neardup compare a.txt a.txt >&-", "neardup presets --json >&-"],
)
def test_closed_standard_output_is_a_sentence(shell, command):
    done = shell(command)
    assert done.returncode == 1
    assert "standard output is closed" in done.stderr


def test_a_quiet_run_needs_no_standard_output(shell, tmp_path):
    done = shell("neardup dedup docs.jsonl -o out --quiet >&- 2>&-")
    assert done.returncode == 0
    assert (tmp_path / "out" / "summary.json").exists()


def test_no_output_file_takes_the_number_of_a_closed_stream(shell, tmp_path):
    done = shell("neardup fingerprint docs.jsonl -o fps.parquet 2>&-")
    assert done.returncode == 0
    assert (tmp_path / "fps.parquet").read_bytes()[:4] == b"PAR1"
    assert "2 documents" in done.stdout


def test_errors_without_standard_error_keep_their_code(shell):
    assert shell("neardup dedup none.jsonl -o out 2>&-").returncode == 1
    assert shell("neardup dedup docs.jsonl -o out --bits 0 2>&- >&- <&-").returncode == 2
