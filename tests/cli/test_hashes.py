import io
import json
import sys
from types import SimpleNamespace

import pytest

from neardup.cli.app import main
from neardup.hashes.family import common_words

FAMILIES = ["nd1", "md5", "xxh3", "string64", "dek"]


@pytest.fixture
def run(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["neardup", "hashes", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stopped.value.code, out=out, err=err)

    return run


def names(result):
    return [family["name"] for family in json.loads(result.out)["families"]]


def test_every_family_is_shown_in_80_columns(run):
    result = run()
    assert result.code == 0
    assert "1,000 words in 257 slots" in result.out
    for name in [*FAMILIES, "string:257:1024", "universal:257:1", "remainder:257", "division:257:"]:
        assert name in result.out
    assert "only 9 bits" in result.out
    assert "\x1b" not in result.out
    assert "…" not in result.out
    assert max(map(len, result.out.splitlines())) <= 80


def test_the_load_is_drawn(run):
    lines = run("md5", "division").out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("load of the table")) + 3
    (md5_low, division_high, division_low) = lines[start + 1 : start + 4]
    assert md5_low.startswith("md5 ")
    assert md5_low.rstrip().count(" ") < 30  # the padding of the name; hardly a gap in the bars
    assert division_low.startswith("division:257:4294967296")
    assert set(division_low[23:]) <= set(" ▁▂▃▄▅▆▇█")
    assert division_high.count("█") >= 5
    assert division_low.count(" ") > 40


def test_json(run):
    result = run("--json")
    found = json.loads(result.out)
    assert (found["words"], found["slots"]) == (1000, 257)
    assert found["expected_distinct"] == pytest.approx(251.8, abs=0.05)
    assert names(result)[:5] == FAMILIES
    assert {f["name"]: f["fit"] for f in found["families"]}["md5"] is True
    assert {f["name"]: f["flaw"] for f in found["families"]}["remainder:257"].startswith("only 9")


def test_families_made_for_a_table_follow_the_slots(run):
    found = names(run("--slots", 1000, "--json"))
    assert found[5:] == [
        "string:1000:1024",
        "universal:1009:1",
        "remainder:1000",
        "division:1000:4294967296",
    ]


def test_chosen_families(run):
    assert names(run("md5", "string:5749", "--json")) == ["md5", "string:5749:1024"]


def test_words_of_a_file(run, tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes("\ufeff指纹\r\n\r\n  文档 \nadeu hol adeu\n指纹\n".encode())
    found = json.loads(run("string:257:1024", "--words", path, "--json").out)
    assert found["words"] == 3
    assert found["families"][0]["fit"] is False


def test_words_of_standard_input(run):
    stdin = "\n".join(common_words()).encode()
    by_stdin = json.loads(run("md5", "--words", "-", "--json", stdin=stdin).out)
    bundled = json.loads(run("md5", "--json").out)
    for found in (by_stdin, bundled):
        del found["families"][0]["terms_per_second"]
    assert by_stdin == bundled


def test_numbers_of_any_size_are_words(run):
    found = names(run("--words", "-", "--json", stdin=b"34934020001\n34934020002\n"))
    assert found[-1] == "division:257:100000000000"


def test_few_words_are_no_ground_for_a_verdict(run):
    out = run("md5", "--words", "-", stdin=b"one\ntwo\n").out
    assert "too few words to tell" in out
    assert "unfit" not in out


def test_an_output_without_unicode_gets_plain_bars(monkeypatch, run):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    assert run("division").code == 0
    shown = out.buffer.getvalue().decode("ascii")
    assert "\\u" not in shown
    assert "######" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["sha1"], 2, "hash='sha1' is unknown"),
        (["universal:256:1"], 2, "must be a prime"),
        (["--slots", "1"], 2, "--slots"),
        (["--words", "nowhere.txt"], 1, "there is no file nowhere.txt"),
        (["--words", "."], 1, ". is a folder"),
        (["--words", "-"], 1, "- holds no word"),
    ],
)
def test_wrong_usage(run, arguments, code, message):
    result = run(*arguments)
    assert (result.code, result.out) == (code, "")
    assert message in result.err


def test_other_encodings_are_refused_by_place(run):
    result = run("--words", "-", stdin="caf\xe9".encode("latin-1"))
    assert result.code == 1
    assert "is not UTF-8: byte 0xe9 at offset 3" in result.err


def test_help_has_an_example(run):
    assert "neardup hashes --slots 257" in run("--help").out
