"""No command prints control characters: hostile names, ids, columns and texts."""

import json
import sys

import pytest
from tests.cli.test_hostile_usage import run

from neardup.cli.terminal import say_json

# An escape sequence, C1 controls, a direction override, a line separator, and rich's markup.
NASTY = "x\x1b]0;owned\x07\u009b31m\u202e\u2066\u2028[bold][/x]"
STEERING = [chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))]
STEERING += list("\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2069")


def calm(*printed):
    return not any(sign in text for sign in STEERING for text in printed)


@pytest.fixture
def docs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = [f"{NASTY} one two three four five {NASTY}"] * 2 + ["something else altogether here"]
    rows = [{"id": f"{NASTY}{n}", NASTY: text, "n": n} for n, text in enumerate(texts)]
    name = f"{NASTY.replace('/', '')}.jsonl"
    lines = "".join(json.dumps(row) + "\n" for row in rows) + NASTY + "\n"
    (tmp_path / name).write_text(lines, encoding="utf-8")
    return name


def test_commands_over_hostile_documents(docs, monkeypatch):
    column = ("--text", NASTY)
    for line in [
        ["dedup", docs, *column, "-o", "out"],
        ["dedup", docs, *column, "-o", "out2", "--json"],
        ["fingerprint", docs, *column, "-o", f"{NASTY.replace('/', '')}.parquet"],
        ["idf", docs, *column, "-o", "table"],
        ["sweep", docs, *column, "--plan", "bands:4x16", "--top", "3"],
        ["sweep", docs, *column, "--plan", "bands:4x16", "--top", "3", "--json"],
        ["tune", docs, *column],
        ["index", "create", "i", "--store-text"],
        ["index", "add", "i", docs, *column, "--metadata", NASTY],
        ["index", "query", "i", "one two three four five"],
        ["index", "query", "i", "one two three four five", "--json"],
        ["index", "query", "i", "-i", docs, *column],
        ["index", "query", "i", "-i", docs, *column, "--json"],
        ["compare", "--text", f"{NASTY} one two", "--text", f"one two {NASTY} three"],
        ["compare", "--text", f"{NASTY} one two", "--text", f"one two {NASTY}", "--json"],
        ["compare", docs, docs],
        ["hashes", "nd1", "--words", docs],
    ]:
        code, printed, errors = run(monkeypatch, line)
        assert code == 0 or "cannot be queried" in errors, (line, errors)
        assert calm(printed, errors), (line, printed, errors)


def test_errors_about_hostile_names(docs, monkeypatch):
    for line in [
        ["dedup", NASTY, "-o", "out"],
        ["dedup", docs, "-o", "out"],  # lists the columns
        ["dedup", docs, "--text", NASTY, "--id", NASTY + "y", "-o", "out"],
        ["dedup", docs, "--text", NASTY, "--keep", f"max:{NASTY}y", "-o", "out"],
        ["dedup", docs, "-o", "out", "--preset", NASTY],
        ["dedup", docs, "-o", "out", "--config", docs],
        ["dedup", docs, "-o", "out", f"--{NASTY}"],
        ["dedup", docs, "-o", "out", "--bits", NASTY],
        ["index", "stats", NASTY],
        ["index", "delete", NASTY, NASTY],
        ["compare", NASTY, docs],
        ["plan", NASTY],
        [NASTY],
    ]:
        code, printed, errors = run(monkeypatch, line)
        assert code in (1, 2), (line, code)
        assert calm(printed, errors), (line, errors)


def test_json_is_ascii_and_reads_back(capsys):
    value = {NASTY: [NASTY, "naïve 東京 \x7f", 1.5, None], "lone": "\udcff"}
    say_json(value)
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert "\x7f" not in printed
    assert json.loads(printed) == value


def test_json_has_no_nan(capsys):
    say_json({"a": float("nan"), "b": [float("inf")]}, indent=None)
    assert capsys.readouterr().out == '{"a": null, "b": [null]}\n'


def test_an_unexpected_error_is_one_sentence_with_its_traceback_in_a_file(
    tmp_path, monkeypatch, capsys
):
    from neardup.cli import app

    def broken(**_options):
        raise RuntimeError(f"no idea {NASTY}")

    monkeypatch.setattr(app, "app", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(SystemExit) as end:
        app.main()
    told = capsys.readouterr().err
    assert end.value.code == 1
    assert told.count("\n") == 1
    assert "please report" in told
    assert calm(told)
    (saved,) = tmp_path.iterdir()
    assert str(saved) in told
    assert "in broken" in saved.read_text(encoding="utf-8")
    monkeypatch.setenv("NEARDUP_TRACEBACK", "1")
    with pytest.raises(SystemExit):
        app.main()
    assert "Traceback" in capsys.readouterr().err


def test_out_of_memory_has_its_own_sentence(monkeypatch, capsys):
    from neardup.cli import app

    def hungry(**_options):
        raise MemoryError

    monkeypatch.setattr(app, "app", hungry)
    with pytest.raises(SystemExit) as end:
        app.main()
    assert end.value.code == 1
    assert "--memory" in capsys.readouterr().err
    assert sys.stdout is not None
