"""Indexes by containment and inclusion: complete, whatever the sizes of the documents."""

import numpy as np
import pytest
from tests.deduplication.test_containment import ARTICLE, OTHER, PAGE

import neardup as nd
from neardup.errors import SettingError
from neardup.kernels.set_index import SetPlan

MEASURES = ["containment", "inclusion"]


@pytest.fixture(params=["memory", "disk"])
def make(request, tmp_path):
    made = []

    def make(**settings):
        if request.param == "memory":
            made.append(nd.MemoryIndex(**settings))
        else:
            made.append(nd.Index(tmp_path / f"{len(made)}.index", sync=False, **settings))
        return made[-1]

    yield make
    for index in made:
        index.close()


def extracts(random, count):
    """Texts from 3 to 600 words; many are parts of others, with some words changed."""
    texts = []
    for _ in range(count):
        words = [f"w{i}" for i in random.integers(0, 3000, int(random.choice([3, 20, 100, 600])))]
        if texts and random.random() < 0.6:
            whole = texts[int(random.integers(len(texts)))].split()
            begin = int(random.integers(len(whole)))
            words = whole[begin : begin + int(random.integers(1, 200))] + words[:20]
            for place in np.flatnonzero(random.random(len(words)) < random.choice([0, 0.05, 0.2])):
                words[place] = "changed"
        texts.append(" ".join(words))
    return texts


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("weights", ["set", "count"])
@pytest.mark.parametrize("threshold", [0.5, 0.8])
def test_answers_are_those_of_brute_force(make, measure, weights, threshold):
    random = np.random.default_rng(11)
    texts = extracts(random, 300)
    index = make(similarity=measure, weights=weights, threshold=threshold, features="word:1")
    index.add_many(enumerate(texts[:250]))
    asked = [*texts[250:], *texts[:50:3], ""]
    counted = [
        dict(zip(*np.unique(text.split(), return_counts=True), strict=True)) for text in texts
    ]
    of_text = dict(zip(texts, counted, strict=True)) | {"": {}}
    for text, found in zip(asked, index.query_many(asked, limit=None), strict=True):
        expected = {}
        for number, other in enumerate(counted[:250]):
            a, b = of_text[text], other
            if weights == "set":
                a, b = dict.fromkeys(a, 1), dict.fromkeys(b, 1)
            similarity = getattr(nd, measure)(a, b)
            if similarity >= threshold:
                expected[number] = similarity
        assert {match.id: match.similarity for match in found} == expected
        assert index.query(text, limit=None) == found


@pytest.mark.parametrize("measure", MEASURES)
def test_an_article_is_found_in_a_page(make, measure):
    index = make(similarity=measure)
    assert index.settings.complete
    assert index.settings.finds == f"{measure} ≥ 0.8, complete"
    assert index.check("page", PAGE).is_new
    assert index.check("other", OTHER).is_new
    verdict = index.check("article", ARTICLE)
    assert (verdict.is_new, verdict.match.id, verdict.match.similarity) == (False, "page", 1.0)
    assert not index.query("")


def test_the_query_is_what_is_included(make):
    both = make(similarity="containment"), make(similarity="inclusion")
    for index in both:
        index.add("article", ARTICLE)
    assert [match.id for match in both[0].query(PAGE)] == ["article"]
    assert both[1].query(PAGE) == []
    assert both[1].check("page", PAGE).is_new


@pytest.mark.parametrize("measure", MEASURES)
def test_it_is_stored_with_the_index(tmp_path, measure):
    with nd.Index(tmp_path / "x.index", similarity=measure) as index:
        index.add("page", PAGE)
    with nd.Index(tmp_path / "x.index", similarity=measure) as index:
        assert index.settings.similarity == measure
    with nd.Index(tmp_path / "x.index") as index:
        assert [match.id for match in index.query(ARTICLE)] == ["page"]
    with pytest.raises(SettingError, match=f"similarity={measure}"):
        nd.Index(tmp_path / "x.index", similarity="jaccard")


@pytest.mark.parametrize("measure", MEASURES)
def test_dedup_against_an_index_and_update_it(tmp_path, measure):
    path = tmp_path / "seen.index"
    rows = [{"id": "page", "text": PAGE}, {"id": "other", "text": OTHER}]
    assert nd.dedup(rows, against=path, update=True, similarity=measure).summary["removed"] == 0
    late = [{"id": "article", "text": ARTICLE}]
    result = nd.dedup(late, against=path, similarity=measure)
    (row,) = result.removed.to_pylist()
    assert (row["duplicate_of"], row["similarity"]) == ("page", 1.0)
    result.save(tmp_path / "out")

    with pytest.raises(SettingError, match=f"finds documents by {measure}, but similarity is"):
        nd.dedup(late, against=path)


def test_measures_that_an_index_does_not_have():
    with pytest.raises(SettingError, match="finds documents by jaccard, containment or inclusion"):
        nd.MemoryIndex(similarity="cosine")
    with pytest.raises(SettingError, match="max_distance for one by the distance"):
        nd.MemoryIndex(similarity="containment", max_distance=3)
    with pytest.raises(ValueError, match="bands do not find documents of any size"):
        SetPlan("containment", weighted=False, threshold=0.8, bands=4, minima=2)
