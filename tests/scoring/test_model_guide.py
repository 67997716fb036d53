"""The guide to models: its file is one, its tables are complete, its sum is right."""

import json
import math
import re
from pathlib import Path

import pytest

import neardup as nd
from neardup.collection.model import TEXT_INPUTS, Model

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "model.md").read_text(encoding="utf-8")


@pytest.fixture
def shown():
    (held,) = re.findall(r"```json\n(.*?)```", GUIDE, re.DOTALL)
    return held


def test_the_file_is_a_model_as_it_would_be_written(shown):
    assert Model.of(json.loads(shown)).to_json() == shown


def test_the_file_finds_offers_of_the_same_product(shown, tmp_path):
    (tmp_path / "model.json").write_text(shown, encoding="utf-8")
    offers = [
        "hp ce278a black laserjet print cartridge printers hp hp ce278a 69.84",
        "hp laserjet ce278a black print cartridge hp ce278a",
        *(f"brother toner tn{number} black for printers {number * 7}" for number in range(40)),
    ]
    result = nd.dedup(offers, model=tmp_path / "model.json")
    assert result.removed["text"].to_pylist() == offers[1:2]


def test_every_input_is_in_the_table():
    listed = re.findall(r"^\| `([^`]+)` \|", GUIDE, re.MULTILINE)
    assert listed == list(TEXT_INPUTS)


def test_the_sum_of_the_example_is_right(shown):
    table = GUIDE.partition("| part | similarity | weight | adds |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    adds = {name: float(number.replace("−", "-")) for name, _, _, number in rows}
    total = adds.pop("log-odds")
    assert sum(adds.values()) == pytest.approx(total, abs=0.002)
    model = Model.of(json.loads(shown))
    weights = {one.name: one.coefficient for one in model.inputs}
    assert adds["intercept"] == pytest.approx(model.intercept, abs=0.001)
    for name, similarity, weight, number in rows:
        if name in weights:
            assert float(weight) == pytest.approx(weights[name], abs=0.001)
            assert float(similarity) * weights[name] == pytest.approx(float(number), abs=0.01)
    assert f"{1 / (1 + math.exp(-total)):.3f}" in GUIDE
