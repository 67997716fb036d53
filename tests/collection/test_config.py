"""Settings files: what they may hold, and what goes before what."""

import json

import pytest
from click.testing import CliRunner

import neardup as nd
from neardup.cli.app import app
from neardup.cli.commands.dedup import dedup
from neardup.collection.settings import _KINDS, settings_in
from neardup.settings import SETTINGS

TEXTS = ["one two three four five six", "one two three four five seven", "something else it is"]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "docs.jsonl"
    lines = [json.dumps({"id": str(i), "text": text}) for i, text in enumerate(TEXTS)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def config(tmp_path, text):
    path = tmp_path / "settings.toml"
    path.write_text(text, encoding="utf-8")
    return path


def settings_of(source, tmp_path, *options):
    output = str(tmp_path / "out")
    command = ["dedup", str(source), "-o", output, "--json", *map(str, options)]
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.output)["settings"]


def test_every_option_with_a_setting_has_a_key():
    options = {option.name for option in dedup.params}
    assert set(SETTINGS) == options & set(SETTINGS)


def test_the_file_holds_where_nothing_else_is_said(source, tmp_path):
    file = config(tmp_path, 'features = "word:1"\nthreshold = 0.5\nbits = 128\n')
    used = settings_of(source, tmp_path, "--config", file)
    assert (used["features"], used["threshold"], used["bits"]) == ("word:1", 0.5, 128)
    assert used["keep"] == "first"


def test_options_go_before_the_file_and_the_file_before_a_preset(source, tmp_path):
    file = config(tmp_path, 'threshold = 0.5\nbits = 70\ncandidates = "bands:3x20"\n')
    given = ("--preset", "irrs", "--config", file, "--threshold", 0.6)
    used = settings_of(source, tmp_path, *given)
    assert (used["threshold"], used["bits"], used["hash"]) == (0.6, 70, "md5")


def test_unknown_keys_are_named(tmp_path):
    file = config(tmp_path, "treshold = 0.5\nbits = 64\n[more]\nx = 1\n")
    about = r"settings\.toml: unknown setting 'treshold'; did you mean 'threshold'\?"
    with pytest.raises(nd.SettingError, match=about):
        settings_in(file)


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("features = 3", "features = 3 must be a string"),
        ('bits = "64"', "bits = '64' must be a whole number"),
        ("bits = 64.0", r"bits = 64\.0 must be a whole number"),
        ("bits = true", "bits = True must be a whole number"),
        ("memory = 1.5", "memory = 1.5 must be a string such as '2GB' or a whole number"),
        ('threshold = "high"', "must be a number"),
    ],
)
def test_values_are_of_their_kind(tmp_path, text, about):
    with pytest.raises(nd.SettingError, match=about):
        settings_in(config(tmp_path, text))


def test_every_kind_of_setting_can_be_named():
    """A type that is new in the table needs words for the error message."""
    assert {setting.types for setting in SETTINGS.values()} <= set(_KINDS)


def test_what_is_not_toml_says_where(tmp_path):
    with pytest.raises(nd.InputError, match=r"settings\.toml is not TOML: .*line 1"):
        settings_in(config(tmp_path, "threshold: 0.5"))


def test_a_missing_file_is_a_sentence(tmp_path):
    with pytest.raises(nd.InputError, match="cannot read the settings in"):
        settings_in(tmp_path / "none.toml")
