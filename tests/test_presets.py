import dataclasses
import json

import pytest
from tests.golden.test_seeds import BAKERY, GIBBON, PARK_BEACH

import neardup as nd
from neardup.fingerprints import Scheme
from neardup.pairs.by_fingerprints import plan_of
from neardup.presets import PRESETS, preset

EVERY = pytest.mark.parametrize("one", PRESETS.values(), ids=PRESETS)


def test_the_names():
    assert list(PRESETS) == ["caim", "irrs", "blog", "slides", "sphere", "google2007"]


@EVERY
def test_each_is_a_scheme_and_a_plan(one):
    scheme = Scheme.of(**one.recipe)
    assert scheme.bits == one.bits
    assert str(scheme.features) == one.features
    plan = plan_of(one.candidates, one.bits)
    assert plan.name == one.candidates
    if one.similarity == "hamming":
        assert plan.guarantee is None or plan.guarantee >= max(one.max_distance)


@EVERY
def test_each_accepts_by_similarity_or_by_distance(one):
    assert one.similarity in ("jaccard", "weighted-jaccard", "cosine", "hamming")
    assert (one.threshold is None) == (one.similarity == "hamming") == bool(one.max_distance)
    assert one.threshold is None or 0 < one.threshold <= 1
    assert list(one.max_distance) == sorted(set(one.max_distance))


@EVERY
def test_each_makes_fingerprints(one):
    texts = ["The ferry to the islands sails at noon.", "海边 的 渡船 今天 中午 开往 北边 的 小岛"]
    assert len(nd.fingerprint(texts, **one.recipe)) == 2


@EVERY
def test_each_is_told_in_one_line(one):
    assert "\n" not in one.about
    assert len(one.about) <= 68  # fits beside the longest name in 80 columns


@EVERY
def test_each_fits_into_json(one):
    assert json.loads(json.dumps(one.to_dict()))["name"] == one.name


def test_presets_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        preset("caim").bits = 1  # type: ignore[misc]


def test_what_the_systems_differ_in():
    caim, irrs = preset("caim"), preset("irrs")
    assert (caim.tie, caim.threshold) == (">0", 0.9)
    assert (irrs.tie, irrs.threshold) == (">=0", 0.8)
    assert plan_of(caim.candidates, caim.bits).tables == 3
    assert plan_of(preset("blog").candidates, 64).tables == 4
    assert plan_of(preset("google2007").candidates, 64).tables == 20
    assert preset("sphere").max_distance == (5, 10, 15)


def test_those_of_the_labs_take_vectors_too():
    recipe = preset("irrs").recipe | {"features": "terms", "weights": "given"}
    assert nd.fingerprint([{"bit": 0.4, "coin": 1.2}], **recipe).bits == 54


def test_the_threshold_of_the_slides_parts_their_addresses():
    one = preset("slides")

    def similarity(a, b):
        return nd.compare(a, b, features=one.features).jaccard

    same = [BAKERY, *([a, b] for i, a in enumerate(PARK_BEACH) for b in PARK_BEACH[:i])]
    assert min(similarity(a, b) for a, b in same) >= one.threshold
    assert similarity(*GIBBON) < one.threshold


@pytest.mark.parametrize("name", ["", "CAIM", "minhash"])
def test_an_unknown_name_lists_the_known(name):
    with pytest.raises(nd.SettingError, match=r"choose caim, irrs, blog, slides, sphere, google2"):
        preset(name)
