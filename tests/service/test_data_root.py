"""Paths of requests: everything inside the data folder, nothing outside."""

import glob
import os
from pathlib import Path

import pytest

from neardup.errors import InputError, SettingError
from neardup.service.data_root import DataRoot


@pytest.fixture
def root(tmp_path):
    data = tmp_path / "data"
    (data / "corpus" / "deep").mkdir(parents=True)
    for name in ("corpus/a.jsonl", "corpus/b.jsonl", "corpus/deep/c.jsonl", "top.jsonl"):
        (data / name).write_text("{}\n")
    (data / "corpus" / ".hidden.jsonl").write_text("{}\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.jsonl").write_text("{}\n")
    return DataRoot(data)


def names(root, patterns, **more):
    return [str(path.relative_to(root.path)) for path in root.expand(patterns, **more)]


def test_the_folders(root):
    assert [root.indexes.name, root.backups.name, root.jobs.name] == ["indexes", "backups", "jobs"]
    assert root.index("a.b-c_1") == root.path / "indexes" / "a.b-c_1"
    assert root.backup("x" * 100) == root.path / "backups" / ("x" * 100)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", ".a", "-a", "_a", "a/b", "a\\b", "a.", "x" * 101, "a b", "ä", "a\n", "a\0", 5],
)
def test_bad_names(root, name):
    for named in (root.index, root.backup):
        with pytest.raises(SettingError, match="cannot be the name of"):
            named(name)


def test_an_index_that_is_a_link_to_outside(root, tmp_path):
    root.indexes.mkdir()
    (root.indexes / "far").symlink_to(tmp_path / "outside")
    with pytest.raises(SettingError, match="indexes/far is a link that leaves the data folder"):
        root.index("far")


def test_the_data_folder_may_be_a_link(root, tmp_path):
    (tmp_path / "link").symlink_to(root.path)
    assert DataRoot(tmp_path / "link").inside("top.jsonl") == root.path / "top.jsonl"


def test_files_folders_and_globs(root):
    assert names(root, ["top.jsonl", "corpus"]) == ["top.jsonl", "corpus"]
    assert names(root, ["corpus/*.jsonl"]) == ["corpus/a.jsonl", "corpus/b.jsonl"]
    assert names(root, ["./corpus//[b]?jsonl"]) == ["corpus/b.jsonl"]
    assert names(root, ["corpus/**/*.jsonl"]) == [
        *("corpus/a.jsonl", "corpus/b.jsonl", "corpus/deep/c.jsonl"),
    ]
    assert names(root, ["*/deep/c.jsonl", "*.jsonl"]) == ["corpus/deep/c.jsonl", "top.jsonl"]


@pytest.mark.parametrize(
    "pattern",
    [
        *("*", "**", "corpus/*", "corpus/**", "**/*.jsonl", "*/*.jsonl", "corpus/*/c.*"),
        *("c*/**/c.jsonl", "corpus/**/deep/*", "**/deep/**.jsonl", "[ct]o*", "**/a.jsonl"),
    ],
)
def test_a_glob_matches_what_the_readers_match(root, pattern):
    found = glob.glob(pattern, root_dir=root.path, recursive=True)
    files = sorted({one for one in found if (root.path / one).is_file()})
    assert files
    assert sorted(names(root, [pattern])) == files


def test_a_name_that_looks_like_a_pattern(root):
    (root.path / "a[1].jsonl").write_text("{}\n")
    assert names(root, ["a[1].jsonl"]) == ["a[1].jsonl"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("", "is no path"),
        (5, "is no path"),
        (None, "is no path"),
        (".", "the data folder itself"),
        ("./", "the data folder itself"),
        ("/etc/passwd", "is an absolute path"),
        ("//etc/passwd", "is an absolute path"),
        ("..", "has '..' in it"),
        ("../outside/secret.jsonl", "has '..' in it"),
        ("corpus/../../outside/secret.jsonl", "has '..' in it"),
        ("corpus/../top.jsonl", "has '..' in it"),
        ("file:///etc/passwd", "is a URL"),
        ("https://example.com/a.jsonl", "is a URL"),
        ("corpus/a.jsonl\0.txt", "has a null character"),
        ("corpus/\ud800.jsonl", "is not valid Unicode"),
        ("corpus/.hidden.jsonl", "is hidden by a dot"),
        (".ssh/id", "is hidden by a dot"),
        ("nothing.jsonl", "does not exist"),
        ("top.jsonl/below", "does not exist"),
        ("x" * 5000, "cannot be read"),
        ("a/" * 200, "more than 100 folders"),
        ("-", "does not exist"),
        ("~", "does not exist"),
    ],
)
def test_refused_paths(root, path, said):
    with pytest.raises(InputError, match=said):
        root.inside(path)
    with pytest.raises(InputError, match=said):
        root.expand([path])


@pytest.mark.parametrize(
    ("patterns", "said"),
    [
        ([], "there is no input"),
        ("top.jsonl", "there is no input"),
        (None, "there is no input"),
        (["corpus/*.csv"], "matches no file"),
        (["corpus/**/**/*"], "more than once"),
        (["../*"], "has '..' in it"),
        (["/*"], "is an absolute path"),
        ([".*"], "is hidden by a dot"),
        (["top.jsonl"] * 1001, "1,001 inputs"),
        (["x" * 300_000] * 2, "600,000 bytes"),
    ],
)
def test_refused_patterns(root, patterns, said):
    with pytest.raises(InputError, match=said):
        root.expand(patterns)


def test_a_link_that_leaves_is_refused_by_name_and_wherever_it_is_found(root, tmp_path):
    (root.path / "corpus" / "deep" / "far").symlink_to(tmp_path / "outside")
    for pattern in (
        "corpus/deep/far",
        "corpus/deep/far/secret.jsonl",
        "corpus/deep/far/*.jsonl",
        "corpus",
        "corpus/*/far/*",
        "corpus/**/*.jsonl",
        "corpus/deep/f*",
    ):
        with pytest.raises(InputError, match="corpus/deep/far is a link that leaves the data"):
            root.expand([pattern])
    assert names(root, ["corpus/*.jsonl"]) == ["corpus/a.jsonl", "corpus/b.jsonl"]


def test_a_file_that_is_a_link_to_outside(root, tmp_path):
    (root.path / "corpus" / "near.jsonl").symlink_to("../../outside/secret.jsonl")
    for pattern in ("corpus/near.jsonl", "corpus", "corpus/*.jsonl"):
        with pytest.raises(InputError, match=r"corpus/near.jsonl is a link that leaves"):
            root.expand([pattern])


def test_nothing_behind_a_link_is_listed(root, tmp_path, monkeypatch):
    (root.path / "corpus" / "far").symlink_to(tmp_path / "outside")
    listed, listdir = [], os.listdir

    def noted(path):
        listed.append(path)
        return listdir(path)

    monkeypatch.setattr(os, "listdir", noted)
    with pytest.raises(InputError):
        root.expand(["corpus/**"])
    assert listed
    for path in listed:
        assert Path(os.path.realpath(path)).is_relative_to(root.path)


def test_links_that_stay_inside_are_followed(root):
    (root.path / "again.jsonl").symlink_to("corpus/a.jsonl")
    (root.path / "more").symlink_to("corpus")
    assert names(root, ["again.jsonl", "more"]) == ["corpus/a.jsonl", "corpus"]
    assert names(root, ["more/*.jsonl"]) == ["corpus/a.jsonl", "corpus/b.jsonl"]


def test_links_in_circles(root):
    (root.path / "corpus" / "deep" / "up").symlink_to("..")
    with pytest.raises(InputError, match="leads back to a folder that contains it"):
        root.expand(["corpus/**/*.jsonl"])
    (root.path / "self").symlink_to("self")
    with pytest.raises(InputError, match="cannot be read"):
        root.inside("self")


def test_pipes_are_refused(root):
    os.mkfifo(root.path / "pipe.jsonl")
    with pytest.raises(InputError, match="neither a file nor a folder"):
        root.expand(["pipe.jsonl"])


def test_what_belongs_to_the_service(root):
    for name in ("indexes/seen", "backups/old", "jobs/1/result"):
        (root.path / name).mkdir(parents=True)
        (root.path / name / "data.jsonl").write_text("{}\n")
    (root.path / "jobs/1/job.json").write_text("{}")
    for pattern in ("indexes", "indexes/seen", "backups/old/data.jsonl", "indexes/*"):
        with pytest.raises(InputError, match="belongs to an index"):
            root.expand([pattern])
    for pattern in ("jobs", "jobs/1", "jobs/1/job.json", "jobs/*/*.json", "jobs/**"):
        with pytest.raises(InputError, match="belongs to the service"):
            root.expand([pattern])
    for pattern in ("**/*.jsonl", "*/1/*.json", "[ij]*/*/*.jsonl"):
        with pytest.raises(InputError, match=r"also matches .*, which belongs to the service"):
            root.expand([pattern])
    assert names(root, ["jobs/1/result/data.jsonl"]) == ["jobs/1/result/data.jsonl"]
    assert names(root, ["indexes/seen"], indexes=True) == ["indexes/seen"]
    for pattern in ("indexes", "indexes/*", "indexes/seen/data.jsonl"):
        with pytest.raises(InputError, match="belongs to an index"):
            root.expand([pattern], indexes=True)
    with pytest.raises(InputError, match="does not exist"):
        root.expand(["indexes/none"], indexes=True)


def test_messages_are_short_and_printable(root):
    with pytest.raises(InputError) as error:
        root.inside("a\x1b[2J\n" * 1000)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 1500
