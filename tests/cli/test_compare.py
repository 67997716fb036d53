import json

import pytest
import typer
from typer.testing import CliRunner

from neardup.cli.compare import compare
from neardup.errors import InputError, SettingError

app = typer.Typer()
app.command()(compare)

A = "The quick brown fox jumps over the lazy dog."
B = "The quick red fox jumps over the lazy dog."


def run(*arguments, **options):
    return CliRunner().invoke(app, list(map(str, arguments)), **options)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.txt").write_text(A)
    (tmp_path / "b.txt").write_text(B)
    return tmp_path / "a.txt", tmp_path / "b.txt"


def test_two_files(files):
    result = run(*files)
    assert result.exit_code == 0
    assert "[-brown-]{+red+}" in result.stdout
    assert "Hamming distance" in result.stdout
    assert "\x1b" not in result.stdout


def test_two_texts_give_what_two_files_give(files):
    by_text = run("--text", A, "--text", B, "--json")
    assert by_text.exit_code == 0
    assert by_text.stdout == run(*files, "--json").stdout


def test_standard_input_is_one_document(files):
    result = run("-", files[1], "--json", input=A)
    assert json.loads(result.stdout) == json.loads(run(*files, "--json").stdout)


def test_json_is_one_object_in_ascii(files):
    result = run("--text", "naïve \x9b 東京", "--text", "x", "--json", "--bits", 128)
    assert result.stdout.isascii()
    found = json.loads(result.stdout)
    assert found["scheme"] == "nd1/word:3/set/128"
    assert found["diff"][0]["a"].startswith("naïve")


def test_every_setting_reaches_the_scheme(files):
    settings = "--features char:5 --weights count --bits 8 --hash nd1 --tie >=0".split()
    found = json.loads(run(*files, *settings, "--json").stdout)
    assert found["scheme"] == "nd1/char:5/count/8/>=0"


def test_context_and_full(tmp_path):
    words = " ".join(f"w{i}" for i in range(60))
    texts = "--text", words, "--text", words + " new"
    assert "⋯ 58 words alike ⋯" in run(*texts, "--context", 2).stdout
    assert "alike" not in run(*texts, "--full").stdout


def test_a_missing_file_is_named(files, tmp_path):
    with pytest.raises(InputError, match=r"there is no file .*nowhere\.txt"):
        raise run(files[0], tmp_path / "nowhere.txt").exception


def test_a_folder_is_refused(files, tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        raise run(files[0], tmp_path).exception


def test_other_encodings_are_refused_by_place(files, tmp_path):
    (tmp_path / "latin.txt").write_bytes("caf\xe9!".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.txt is not UTF-8: byte 0xe9 at offset 3"):
        raise run(files[0], tmp_path / "latin.txt").exception


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a.txt"],
        ["a.txt", "b.txt", "c.txt"],
        ["--text", "one"],
        ["a.txt", "--text", "one"],
        ["a.txt", "b.txt", "--text", "one", "--text", "two"],
        ["-", "-"],
        ["--text", "a", "--text", "b", "--bits", "5000"],
        ["--text", "a", "--text", "b", "--features", "word"],
    ],
)
def test_wrong_usage_is_a_setting_error(arguments):
    assert isinstance(run(*arguments).exception, SettingError)


def test_help_has_an_example():
    result = run("--help")
    assert result.exit_code == 0
    assert "neardup compare draft.txt final.txt" in result.stdout
