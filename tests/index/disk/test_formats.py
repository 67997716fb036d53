"""Indexes that earlier versions wrote still open and answer."""

import shutil
from pathlib import Path

import pytest
from tests.index.clock import BEGIN, Clock
from tests.index.make_fixture import DAY
from tests.index.texts import edited, text

import neardup as nd
from neardup.index.disk.opening import upgrade
from neardup.index.told import Seen

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.index"


def _answers_of_format_1(index):
    assert str(index.scheme) == "nd1/word:3/set/64"
    assert index.settings.finds == "blocks:3, up to 3 differing bits"
    assert list(index.ids())[:2] == [0, 1]
    assert "gone" not in index
    last = index.get("last")
    assert (last.metadata, last.text) == ({"name": "last"}, text("last"))
    assert (last.seen, last.expires) == (Seen(1, None, None), None)
    for number in (0, 1, 700, 1197):
        match = index.query(text(number), threshold=0.5)[0]
        assert (match.id, match.distance, match.similarity) == (number, 0, 1.0)


@pytest.mark.parametrize("readonly", [True, False])
def test_the_first_format_is_read_and_not_written(path, readonly):
    shutil.copytree(FIXTURES / "index_version_1", path)
    with nd.Index(path, create=False, readonly=readonly) as index:
        _answers_of_format_1(index)
        assert len(index) == 1200
        stats = index.stats()
        assert (stats.documents, stats.oldest, stats.expired) == (1200, None, 0)
        for change in (
            lambda: index.add("new", text("new")),
            lambda: index.check("new", text("new")),
            lambda: index.delete("last"),
            index.compact,
        ):
            with pytest.raises(nd.NeardupError, match="neardup index upgrade"):
                change()
        assert index.check("new", text(1), add="never").match.id == 1
        assert len(index) == 1200


def test_the_first_format_is_upgraded_in_place(path):
    shutil.copytree(FIXTURES / "index_version_1", path)
    assert upgrade(path)
    assert not upgrade(path)
    with nd.Index(path, create=False) as index:
        _answers_of_format_1(index)
        index.add("new", text("new"))
        assert [match.id for match in index.query(text("new"))] == ["new"]
        assert index.get("new").seen.first is not None
        assert index.check("seen", text(5)).match.id == 5
        assert index.get(5).seen.times == 2
        assert index.delete(6)
        index.compact()
    with nd.Index(path, create=False) as index:
        _answers_of_format_1(index)
        assert (len(index), 6 in index, "new" in index) == (1200, False, True)
        assert index._store.verify() == 1200


def test_what_is_no_index_cannot_be_upgraded(path):
    with pytest.raises(nd.NeardupError, match="there is no index"):
        upgrade(path)
    path.mkdir()
    with pytest.raises(nd.NeardupError, match="not an index"):
        upgrade(path)
    assert list(path.iterdir()) == []


def test_the_second_format_is_still_read(path, monkeypatch):
    clock = Clock()
    clock.use(monkeypatch)
    clock.now = BEGIN + 3 * DAY
    shutil.copytree(FIXTURES / "index_version_2", path)
    for readonly in (True, False):
        with nd.Index(path, create=False, readonly=readonly) as index:
            assert str(index.scheme) == "nd1/word:3/set/64"
            expected = "jaccard ≥ 0.8, an expected 0.9994 of the pairs at the threshold"
            assert index.settings.finds == expected
            assert (index.settings.ttl, index.settings.store_text) == (365 * 86400, True)
            stats = index.stats()
            assert (stats.documents, stats.expired) == (91, 1)
            assert [(part.documents, part.removed) for part in stats.segments] == [
                (59, 1),
                (29, 1),
                (3, 1),
            ]
            names = [*range(60), *(f"id {number}" for number in range(60, 90))]
            names = [name for name in names if name not in (7, "id 61")]
            assert list(index.ids()) == [*names, "last", "short", "empty"]
            assert [match.id for match in index.query(text(7))] == []
            assert index.query(text("short")) == []  # expired
            assert index.query(text("last")) == [nd.Match("last", 0, 1.0, {"name": "last"})]
            asked = [text(number) for number in range(90) if number not in (7, 61)]
            assert [[match.id for match in found] for found in index.query_many(asked)] == [
                [name] for name in names
            ]
            match = index.query(edited(3))[0]
            assert (match.id, match.distance, match.metadata) == (3, 3, {"n": 3})
            assert match.similarity == pytest.approx(17 / 19)
            seen = index.get(3)
            assert (seen.text, seen.seen) == (text(3), Seen(2, BEGIN / 1000, clock.now / 1000))
            assert seen.expires == (BEGIN + 365 * DAY) / 1000
            assert index._store.verify() == 91
    with nd.Index(path, create=False) as index:
        assert index.expire() == 1
        assert index.check("new", text("new")).added
        index.compact()
        assert [match.id for match in index.query(edited(3))] == [3]
        assert index._store.verify() == 91
