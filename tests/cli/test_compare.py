import io
import json
import sys
from types import SimpleNamespace

import pytest

from neardup.cli.app import main

A = "The quick brown fox jumps over the lazy dog."
B = "The quick red fox jumps over the lazy dog."


@pytest.fixture
def run(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)

    def run(*arguments, stdin=""):
        monkeypatch.setattr(sys, "argv", ["neardup", "compare", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capsys.readouterr()
        return SimpleNamespace(code=stopped.value.code, out=out, err=err)

    return run


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.txt").write_text(A)
    (tmp_path / "b.txt").write_text(B)
    return tmp_path / "a.txt", tmp_path / "b.txt"


def test_two_files(run, files):
    result = run(*files)
    assert result.code == 0
    assert "[-brown-]{+red+}" in result.out
    assert "Hamming distance" in result.out
    assert "\x1b" not in result.out


def test_two_texts_give_what_two_files_give(run, files):
    by_text = run("--text", A, "--text", B, "--json")
    assert by_text.code == 0
    assert by_text.out == run(*files, "--json").out


def test_standard_input_is_one_document(run, files):
    result = run("-", files[1], "--json", stdin=A)
    assert json.loads(result.out) == json.loads(run(*files, "--json").out)


def test_json_is_one_object_in_ascii(run, files):
    result = run("--text", "naïve \x9b 東京", "--text", "x", "--json", "--bits", 128)
    assert result.out.isascii()
    found = json.loads(result.out)
    assert found["scheme"] == "nd1/word:3/set/128"
    assert found["diff"][0]["a"].startswith("naïve")


def test_every_setting_reaches_the_scheme(run, files):
    settings = ["--features=char:5", "--weights=count", "--bits=8", "--hash=nd1", "--tie=>=0"]
    found = json.loads(run(*files, *settings, "--json").out)
    assert found["scheme"] == "nd1/char:5/count/8/>=0"


def test_context_and_full(run, tmp_path):
    words = " ".join(f"w{i}" for i in range(60))
    texts = "--text", words, "--text", words + " new"
    assert "⋯ 58 words alike ⋯" in run(*texts, "--context", 2).out
    assert "alike" not in run(*texts, "--full").out


def test_a_missing_file_is_named(run, files, tmp_path):
    result = run(files[0], tmp_path / "nowhere.txt")
    assert (result.code, result.out) == (1, "")
    assert result.err == f"neardup: there is no file {tmp_path / 'nowhere.txt'}\n"


def test_a_folder_is_refused(run, files, tmp_path):
    result = run(files[0], tmp_path)
    assert result.code == 1
    assert result.err == f"neardup: {tmp_path} is a folder; a file is needed\n"


def test_other_encodings_are_refused_by_place(run, files, tmp_path):
    (tmp_path / "latin.txt").write_bytes("caf\xe9!".encode("latin-1"))
    result = run(files[0], tmp_path / "latin.txt")
    assert result.code == 1
    assert "latin.txt is not UTF-8: byte 0xe9 at offset 3" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "compare needs two files or two --text, not 0 and 0"),
        (["a.txt"], "not 1 and 0"),
        (["a.txt", "b.txt", "c.txt"], "not 3 and 0"),
        (["--text", "one"], "not 0 and 1"),
        (["a.txt", "--text", "one"], "not 1 and 1"),
        (["a.txt", "b.txt", "--text", "one", "--text", "two"], "not 2 and 2"),
        (["-", "-"], "only one of the two"),
        (["--text", "a", "--text", "b", "--bits", "5000"], "bits=5000"),
        (["--text", "a", "--text", "b", "--bits", "many"], "--bits"),
        (["--text", "a", "--text", "b", "--features", "word"], "features='word'"),
        (["--text", "a", "--text", "b", "--context", "-1"], "--context"),
    ],
)
def test_wrong_usage(run, arguments, message):
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_an_output_without_unicode_is_spelled_out(monkeypatch, run):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    assert run("--text", "東", "--text", "京").code == 0
    assert b"[-\\u6771-]" in out.buffer.getvalue()


def test_help_has_an_example(run):
    result = run("--help")
    assert result.code == 0
    assert "neardup compare draft.txt final.txt" in result.out


def test_two_records(run, tmp_path):
    (tmp_path / "a.json").write_text('{"name": "Ann Lee", "age": 7, "city": null}')
    (tmp_path / "b.json").write_text('{"name": "Anne Lee", "age": 7}')
    files = tmp_path / "a.json", tmp_path / "b.json"
    result = run(*files, "--fields", "name*2+age+city", "--features", "word:1")
    assert result.code == 0
    assert "[-Ann-] Lee" in result.out
    assert "no evidence" in result.out
    found = json.loads(run(*files, "--fields", "name*2+age+city", "--json").out)
    assert [field["a"] for field in found["fields"]] == ["Ann Lee", "7", ""]
    texts = [file.read_text() for file in files]
    by_text = run("--text", texts[0], "--text", texts[1], "--fields", "name+age", "--json")
    assert json.loads(by_text.out)["score"] == 1 / 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the first --text is not JSON"),
        ("[" * 100_000, "the first --text is not JSON"),
        ("3", "the first --text is a JSON int, not an object"),
        ('{"x": 1}', "a has none of the fields name, age; it has 'x'"),
        ('{"name": [1]}', "a['name'] is a list"),
    ],
    ids=["broken", "deep", "number", "other fields", "list"],
)
def test_what_is_no_record(run, text, message):
    result = run("--text", text, "--text", '{"name": "Ann"}', "--fields", "name+age")
    assert result.code in (1, 2)
    assert result.out == ""
    assert message in result.err


def test_spans_are_the_longest_first(run, tmp_path):
    shared = (
        "the quick brown fox jumps over the lazy dog",
        "ten words stand in both of these texts, no more",
    )
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text(f"{shared[0]}. Alone here. {shared[1]}!", encoding="utf-8")
    two.write_text(f"Menu {shared[1].upper()} | and\n{shared[0]}", encoding="utf-8")
    result = run(one, two, "--spans")
    assert result.code == 0
    assert f"{one}: 19 of 21 words (90%) shared" in result.out
    assert "2 runs of 8 words or more, longest first:" in result.out
    assert result.out.index(shared[1]) < result.out.index(shared[0])
    found = json.loads(run(one, two, "--spans", "--json").out)
    assert found["b"] == {"words": 21, "shared": 19}
    assert [span["words"] for span in found["spans"]] == [9, 10]
    assert "no run of 11 words or more" in run(one, two, "--spans", "--min-words", 11).out


def test_many_spans_are_cut_off_without_full(run, tmp_path):
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    pieces = [" ".join(f"w{n}x{i}" for i in range(90)) for n in range(12)]
    one.write_text(" one ".join(pieces), encoding="utf-8")
    two.write_text(" two ".join(reversed(pieces)), encoding="utf-8")
    result = run(one, two, "--spans")
    assert "2 more; --full shows all of them" in result.out
    assert max(map(len, result.out.splitlines())) < 310
    assert pieces[11] in run(one, two, "--spans", "--full").out


def test_spans_of_fields_are_refused(run, files):
    result = run(*files, "--spans", "--fields", "name")
    assert result.code == 2
    assert "--spans compares texts" in result.err
