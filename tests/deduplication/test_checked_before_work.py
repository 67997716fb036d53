"""Settings, columns and places that cannot work are refused before a document is read for pairs."""

import json

import pytest
from tests.cli.test_hostile_usage import run

import neardup as nd
from neardup.collection.settings import DedupSettings
from neardup.deduplication.run import deduplicate
from neardup.deduplication.sources import source_of

ROWS = [{"id": str(n), "text": f"document {n} has words", "n": n, "tags": [n]} for n in range(5)]


@pytest.fixture
def docs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    (tmp_path / "docs.jsonl").write_text(lines, encoding="utf-8")
    nd.dedup(ROWS).save(tmp_path / "made", format="csv")
    (tmp_path / "docs.csv").write_bytes((tmp_path / "made" / "kept.csv").read_bytes())
    return tmp_path / "docs.jsonl"


def stages_before_error(source, error, **chosen):
    """The stages that began before the run was refused."""
    settings = DedupSettings.of(**chosen)
    begun = []
    with pytest.raises(nd.NeardupError, match=error):
        deduplicate(source_of(source, settings), settings, stage=begun.append)
    return begun


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_a_keep_column_that_no_row_has(docs, suffix):
    name = docs.with_suffix(f".{suffix}")
    assert stages_before_error(name, "no column 'foo'; its columns are 'id'", keep="max:foo") == []
    assert stages_before_error(ROWS, "no column 'foo'", keep="min:foo") == []


def test_a_keep_column_without_order(docs):
    assert stages_before_error(docs, "has no order", keep="max:tags") == []


def test_a_keep_column_of_later_rows_is_found(docs):
    with docs.open("a", encoding="utf-8") as file:
        file.write('{"id": "x", "text": "document 0 has words", "late": 7}\n')
    kept = nd.dedup(docs, keep="max:late").kept["id"].to_pylist()
    assert "x" in kept
    assert "0" not in kept


@pytest.mark.parametrize(
    ("candidates", "more", "error"),
    [
        ("nonsense", {}, "is unknown"),
        ("bands:4x0", {}, "at least 1"),
        ("bands:0x4", {}, "from 1 to 10,000"),
        ("bands:9x9", {}, "needs 81 bits"),
        ("blocks:64", {}, "blocks"),
        ("rotate:0", {}, "rotations"),
        ("rotate:4:0", {}, "window"),
        ("prefix:65", {}, "more than the 64 bits"),
        ("probe:65", {}, "64 bits"),
        ("exact", {"similarity": "hamming", "threshold": 3}, "joins on features"),
        ("blocks:2", {"similarity": "hamming", "threshold": 3}, "distance"),
    ],
)
def test_plans_that_cannot_work(docs, candidates, more, error):
    assert stages_before_error(docs, error, candidates=candidates, **more) == []


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), -1, 65, 2.5])
def test_impossible_distances(threshold):
    with pytest.raises(nd.SettingError, match="whole number from 0 to 64"):
        DedupSettings.of(similarity="hamming", threshold=threshold)


def test_places_and_formats_are_checked_before_reading(docs, monkeypatch):
    nd.Index("other.index", features="char:4").close()
    for line, told in [
        (["dedup", "none/out"], "there is no folder"),
        (["dedup", "docs.jsonl/out"], "cannot write docs.jsonl"),
        (["dedup", "out", "--format", "xlsx"], "choose parquet, jsonl, csv"),
        (["dedup", "out", "--index", "other.index"], "is an index of scheme"),
        (["dedup", "out", "--index", "docs.jsonl"], "docs.jsonl"),
        (["dedup", "out", "--index", "none/index"], "there is no folder"),
        (["dedup", "out", "--weights", "tfidf", "--index", "i"], "needs a table to weigh by"),
        (["tune", "none/settings.toml"], "there is no folder"),
        (["tune", "made"], "it is a folder"),
        (["sweep", "none/out", "--plan", "bands:4x16"], "there is no folder"),
        (["fingerprint", "none/fps.parquet"], "there is no folder"),
        (["idf", "none/table"], "there is no folder"),
    ]:
        command, output, *more = line
        code, _, errors = run(monkeypatch, [command, "docs.jsonl", "-o", output, *more])
        assert code in (1, 2), line
        assert told in errors, (line, errors)
        assert " s\n" not in errors, f"{line}: a stage was run before"
        assert not (docs.parent / "out").exists()


def test_columns_that_a_file_lacks(docs, monkeypatch):
    for option in ("--text", "--id"):
        for name in ("docs.jsonl", "docs.csv"):
            line = ["dedup", name, "-o", "out", option, "foo"]
            code, _, errors = run(monkeypatch, line)
            assert code == 1
            assert "'foo'" in errors
            assert "pairs" not in errors


def test_pictures_are_checked_before_the_work(docs, monkeypatch):
    for line in [
        ["sphere", "--count", "3", "-o", "none/x.npz"],
        ["sphere", "--count", "3", "--plot", "none/x.png"],
        ["curve", "--plan", "bands:4x16", "-o", "none/x.png"],
    ]:
        code, printed, errors = run(monkeypatch, line)
        assert code == 1
        assert "there is no folder" in errors
        assert printed == ""


@pytest.mark.parametrize("preset", ["caim", "irrs", "blog", "sphere"])
def test_reproductions_of_nothing(docs, monkeypatch, preset):
    (docs.parent / "empty.jsonl").touch()
    code, _, errors = run(monkeypatch, ["reproduce", preset, "empty.jsonl"])
    assert code == 1
    assert "document" in errors


def test_known_pairs_that_are_none(docs, monkeypatch):
    (docs.parent / "broken").write_bytes(b"PAR1 no")
    for truth in ("broken", "docs.jsonl", "made", "none"):
        code, _, errors = run(monkeypatch, ["reproduce", "sphere", "docs.jsonl", "--truth", truth])
        assert code == 1, truth
        assert truth in errors
