"""The laboratory: its numbers are those of the library, and its work is bounded."""

import json
import re
import shlex
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pytest

import neardup as nd
from neardup.explore.app import Explorer
from neardup.explore.http import Request
from neardup.explore.lab.asked import Asked
from neardup.explore.lab.texts import EXAMPLES
from neardup.hashes import hash_family
from neardup.hashes.family import common_words
from neardup.hashes.measurement import measure
from neardup.lab.curves import plan_curve
from neardup.lab.sweep.request import named_plan
from neardup.pairs.costs import Costs
from neardup.sphere import settling

HOST = "127.0.0.1:7800"
MOST = 100_000
EXPERIMENTS = ("texts", "curve", "hashes", "sphere")
HOSTILE = "</textarea><script>alert(1)</script>\u202e\x00 <b onclick=x>"
ONE, OTHER = "one two three four five six", "one two three four five seven"


def get(path, explorer=None, **fields):
    query = {name: [str(value)] for name, value in fields.items()}
    return (explorer or Explorer(None)).respond(Request("GET", path, query, {"host": HOST}))


def page(path, status=200, **fields):
    answer = get(path, **fields)
    assert answer.status == status, answer.body.decode()
    assert len(answer.body) <= MOST
    return answer.body.decode()


def part(name, **fields):
    answer = get(f"/lab/{name}.json", **fields)
    assert answer.status == 200
    assert answer.header("Content-Type") == "application/json"
    return json.loads(answer.body)


def values(name, **fields):
    found = part(name, **fields)
    assert found["errors"] == {}
    return found["values"]


def wrong(html):
    """The sentences beside fields, by field."""
    return {
        name: unescape(sentence)
        for name, sentence in re.findall(r'data-wrong="(\w+)">([^<]*)<', html)
        if sentence
    }


def test_the_index_leads_to_every_experiment_without_a_run():
    html = page("/lab")
    for name in EXPERIMENTS:
        assert f'href="/lab/{name}"' in html
    assert html.count("<svg") == 3
    assert 'class="bits"' in html


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_page_has_its_form_and_the_part_that_is_fetched(name):
    html = page(f"/lab/{name}")
    fetched = part(name)
    assert fetched["html"].strip() in html
    assert fetched["address"] == f"/lab/{name}"
    assert fetched["summary"]
    assert " style=" not in html
    assert not re.search(r"<script(?! (type=\"module\" )?src=)", html)
    # Every field has a label, and a place for what is wrong with it.
    for field in re.findall(r'<(?:input|select|textarea)[^>]* id="(\w+)"', html):
        assert f'<label for="{field}">' in html
        assert f'data-wrong="{field}"' in html
    for drawing in re.findall(r"<svg[^>]*>", html):
        assert re.search(r'role="img" aria-label="[^"]{20,}"', drawing)


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"features": "char:4", "bits": 16},
        {"features": "word:1+word:2", "weights": "tfidf", "bits": 130},
        {"features": "word:1", "weights": "idf"},
        {"features": "word:1", "weights": "count", "hash": "md5"},
    ],
)
def test_texts_are_compared_as_the_library_does(example, settings):
    texts = EXAMPLES[example]
    found = nd.compare(texts.a, texts.b, **{"features": texts.features, **settings})
    shown = values("texts", example=example, **settings)
    expected = found.to_dict()
    for left_out in ("diff", "diff_complete"):
        del expected[left_out]
    assert shown == json.loads(json.dumps(expected))
    html = page("/lab/texts", example=example, **settings)
    assert f"<dd>{found.distance:,}</dd>" in html
    for number in (found.jaccard, found.cosine, found.estimated_cosine):
        assert f"<dd>{number:.4f}</dd>" in html
    counts = [int(n.replace(",", "")) for n in re.findall(r'class="badge">([\d,]+)<', html)]
    assert counts == [found.only_a, found.shared, found.only_b]


def test_every_bit_is_shown_and_the_differing_ones_are_marked():
    found = nd.compare(ONE, OTHER, bits=70)
    html = part("texts", a=ONE, b=OTHER, bits=70)["html"]
    lines = re.findall(r"<p>((?:<[bi][ >].*?)+)</p>", html)
    rows = ["".join(re.findall(r">([01])<", line)) for line in lines]
    rows = [row for row in rows if row]
    assert "".join(rows[0::2]) == f"{found.a.fingerprint:070b}"
    assert "".join(rows[1::2]) == f"{found.b.fingerprint:070b}"
    assert html.count('class="x"') == 2 * found.distance
    assert html.count("<u>▲</u>") == found.distance
    assert ", ".join(map(str, found.differing_bits)) in html  # for screen readers


def test_features_are_listed_in_the_order_of_the_text():
    html = part("texts", a=ONE, b=OTHER, features="word:2")["html"]
    listed = re.findall(r"<bdi>([^<]*)</bdi>", html)
    assert listed == ["five six", "one two", "two three", "three four", "four five", "five seven"]
    assert "a␣b" in part("texts", a="a b c", b="a b d", features="char:3")["html"]


def test_a_text_without_words_has_a_sentence_instead_of_numbers():
    found = part("texts", a="...", b=OTHER)
    assert found["values"]["distance"] is None
    assert "A is empty" in found["html"]
    assert found["summary"].startswith("A is empty")


def test_the_command_compares_the_same_texts():
    shown = page("/lab/texts", a=ONE, b="it's", bits=32, hash="xxh3")
    command = unescape(re.search(r"<pre><code>(.*?)</code>", shown, re.DOTALL)[1])
    assert shlex.split(command) == [
        *("neardup", "compare", f"--text={ONE}", "--text=it's", "--features", "word:3"),
        *("--bits", "32", "--hash", "xxh3"),
    ]
    assert "neardup compare a.txt b.txt" in page("/lab/texts", a="two\nlines", b=ONE)


def test_long_texts_come_as_a_form_also_to_read_only_pages():
    explorer = Explorer(None, read_only=True)
    fields = {"a": ["word " * 3_000], "b": ["word " * 2_999], "features": ["word:1"]}

    def post(path, origin=f"http://{HOST}", token=explorer.site.token):
        headers = {"host": HOST, "origin": origin}
        form = {**fields, "token": [token]}
        return explorer.respond(Request("POST", path, {}, headers, form))

    answer = post("/lab/texts.json")
    assert answer.status == 200
    found = json.loads(answer.body)
    assert found["values"]["distance"] == 0
    assert (found["whole"], found["address"]) == (False, "/lab/texts?features=word%3A1")
    assert post("/lab/texts.json", token="other").status == 403
    assert post("/lab/texts.json", origin="http://elsewhere.example").status == 403
    assert post("/lab/texts").status == 405
    assert post("/decisions").status == 403


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"features": "wrd:3"}, "features", "is not a feature spec"),
        ({"features": "terms"}, "features", "needs texts, not terms"),
        ({"features": "word:11"}, "features", "too large for a page"),
        ({"features": "word:1+word:2+word:3+word:4"}, "features", "too large for a page"),
        ({"bits": "0"}, "bits", "from 1 to 1,024"),
        ({"bits": "1025"}, "bits", "from 1 to 1,024"),
        ({"bits": "many"}, "bits", "must be a whole number"),
        ({"bits": "129", "hash": "md5"}, "bits", "gives 128 bits"),
        ({"hash": "sha1"}, "hash", "is unknown"),
        ({"hash": "nd1:SECRET"}, "hash", "secret key"),
        ({"hash": "python:os.system"}, "hash", "pass the function itself"),
        ({"weights": "heavy"}, "weights", "is unknown"),
        ({"features": "keywords:5", "weights": "count"}, "weights", "weights"),
        ({"a": "x" * 20_001}, "a", "20,001 characters; the limit here is 20,000"),
        ({"example": "nothing"}, "a", "no example"),
    ],
)
def test_wrong_settings_of_texts_are_told_beside_their_field(fields, field, said):
    told = wrong(page("/lab/texts", 400, **fields))
    assert list(told) == [field]
    assert said in told[field]
    assert part("texts", **fields)["errors"].keys() == {field}


@pytest.mark.parametrize("measure", ["cosine", "jaccard"])
@pytest.mark.parametrize("plan", ["bands:4x16", "blocks:3", "blocks:3/6", "rotate:16:4", "probe:2"])
def test_curves_are_those_of_the_library(plan, measure):
    shown = values(
        "curve", plan=plan, second="", bits=64, similarity=measure, threshold=0.93, n=5000
    )
    known = named_plan(plan, 64)
    curve = plan_curve(known, measure, 5000)
    (found,) = shown["curves"]
    assert found["at_threshold"] == curve.at(0.93)
    assert (found["half_from"], found["most_from"]) == (curve.reaches(0.5), curve.reaches(0.95))
    assert found["expected_candidates"] == known.expected_candidates(5000)
    assert found["seconds"] == known.seconds(5000, Costs.load())
    html = page("/lab/curve", plan=plan, second="", bits=64, similarity=measure, threshold=0.93)
    assert f"<strong>{plan_curve(known, measure, 10**6).at(0.93):.4f}</strong>" in html


def test_two_plans_have_the_bits_they_need():
    shown = values("curve", plan="bands:40x16", second="all")
    assert [(one["plan"], one["bits"]) for one in shown["curves"]] == [
        ("bands:40x16", 640),
        ("all", 64),
    ]
    html = page("/lab/curve", plan="bands:40x16", second="all")
    assert "neardup plan bands:40x16 --bits 640 --n 1000000\nneardup plan all --bits 64" in html


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"plan": "band:4x16"}, "plan", "is unknown"),
        ({"plan": ""}, "plan", "name a plan"),
        ({"plan": "auto"}, "plan", "name a plan"),
        ({"plan": "length:0.2"}, "plan", "has no curve"),
        ({"plan": "bands:999999x999999"}, "plan", "the limit here is 1,024"),
        ({"plan": "bands:5x16", "second": "", "bits": "64"}, "plan", "needs 80 bits"),
        ({"second": "rotate:64:4", "bits": "1024", "plan": "all"}, "second", "takes long"),
        ({"second": "rotate:8:100000"}, "second", "takes long"),
        ({"second": "blocks:500/1000", "bits": "1024", "plan": "all"}, "second", "millions of"),
        ({"bits": "1025", "second": "all", "plan": "all"}, "bits", "from 1 to 1,024"),
        ({"threshold": "1.5"}, "threshold", "from 0 to 1"),
        ({"threshold": "nan"}, "threshold", "from 0 to 1"),
        ({"n": "-1"}, "n", "whole number from 1"),
        ({"similarity": "hamming"}, "similarity", "choose cosine, jaccard"),
    ],
)
def test_wrong_settings_of_curves_are_told_beside_their_field(fields, field, said):
    told = wrong(page("/lab/curve", 400, **fields))
    assert list(told) == [field]
    assert said in told[field]


@pytest.mark.parametrize("family", ["nd1", "md5", "dek", "string:257:1024", "remainder:97"])
def test_loads_are_those_of_the_library(family):
    (found,) = values("hashes", family=family, second="", slots=97)["families"]
    known = measure(hash_family(family), common_words(), 97)
    assert found["load"] == known.load.to_dict()
    assert found["balance"]["worst_share"] == known.balance.worst_share
    html = page("/lab/hashes", family=family, second="", slots=97)
    assert f"{known.load.chi_square:,.1f}</td>" in html
    assert f"neardup hashes {family} --slots 97<" in html


def test_keys_may_be_numbers():
    html = page("/lab/hashes", keys="multiples", count=100, second="remainder:256", slots=256)
    assert "seq 16 16 1600 | neardup hashes nd1 remainder:256 --slots 256 --words -" in html
    shown = values("hashes", keys="multiples", count=100, second="remainder:256", slots=256)
    assert shown["families"][1]["load"]["distinct"] == 16
    even = values("hashes", keys="numbers", count=514, second="remainder:257")["families"][1]
    assert even["load"]["chi_square"] == 0


@pytest.mark.parametrize(
    ("fields", "field", "said"),
    [
        ({"family": "sha1"}, "family", "is unknown"),
        ({"family": "nd1:SECRET"}, "family", "secret key"),
        ({"second": "universal:256"}, "second", "must be a prime"),
        ({"second": "division:257:10", "keys": "numbers"}, "second", "too large"),
        ({"slots": "1"}, "slots", "from 2 to 10,000"),
        ({"slots": "10001"}, "slots", "from 2 to 10,000"),
        ({"count": "1001"}, "count", "from 1 to 1,000"),
        ({"count": "10001", "keys": "numbers"}, "count", "from 1 to 10,000"),
        ({"keys": "letters"}, "keys", "is unknown"),
    ],
)
def test_wrong_settings_of_hashes_are_told_beside_their_field(fields, field, said):
    told = wrong(page("/lab/hashes", 400, **fields))
    assert list(told) == [field]
    assert said in told[field]


@pytest.mark.parametrize(("dim", "count"), [(3, 16), (2, 5), (3, 1), (3, 100), (2, 2)])
def test_a_sphere_is_as_the_library_settles_it(dim, count):
    way = settling(dim, count, 7)
    for step in {0, min(3, len(way.steps)), len(way.steps)}:
        shown = values("sphere", dim=dim, count=count, seed=7, step=step)
        assert shown["steps"] == len(way.steps)
        assert np.array_equal(shown["vectors"], way.places[step])
        assert shown["smallest_angle"] == way.smallest_angles()[step]
        html = page("/lab/sphere", dim=dim, count=count, seed=7, step=step)
        assert f"<dd>{way.smallest_angles()[step]:.2f}°</dd>" in html
        ends = re.findall(r'<circle class="ball-(?:front|back)', html)
        assert len(ends) == 2 * count
    assert f"neardup sphere --dim {dim} --count {count} --seed 7" in html


def test_a_step_beyond_the_last_is_the_last():
    shown = values("sphere", count=4, step=10**8)
    assert shown["step"] == shown["steps"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"dim": "4"}, "dim"),
        ({"count": "0"}, "count"),
        ({"count": "101"}, "count"),
        ({"seed": "-1"}, "seed"),
        ({"step": "²"}, "step"),
    ],
)
def test_wrong_settings_of_spheres_are_told_beside_their_field(fields, field):
    assert list(wrong(page("/lab/sphere", 400, **fields))) == [field]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("texts", ("a", "b", "features", "weights", "bits", "hash", "example")),
        ("curve", ("plan", "second", "bits", "similarity", "threshold", "n")),
        ("hashes", ("family", "second", "keys", "count", "slots")),
        ("sphere", ("dim", "count", "seed", "step")),
    ],
)
def test_hostile_fields_are_escaped(name, fields):
    for field in fields:
        answer = get(f"/lab/{name}", **{field: HOSTILE})
        assert answer.status == (200 if field in ("a", "b") else 400)
        assert b"<script>alert" not in answer.body
        assert b"<b onclick" not in answer.body
        told = part(name, **{field: HOSTILE})
        assert "<script>alert" not in told.get("html", "")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_address_shows_the_same_again(name):
    asked = {
        "texts": {"a": "Ümläut & 100 %\nnew line", "b": "", "bits": "8", "example": "park"},
        "curve": {"second": "", "threshold": "0.5"},
        "hashes": {"second": "", "keys": "numbers"},
        "sphere": {"step": "4", "count": "9"},
    }[name]
    first = part(name, **asked)
    again = parse_qs(urlsplit(first["address"]).query, keep_blank_values=True)
    second = part(name, **{field: given[0] for field, given in again.items()})
    assert second == first
    assert first["whole"]


def test_what_a_field_holds_by_default_is_not_in_the_address():
    asked = Asked({"n": ["5"], "name": ["x"]})
    assert (asked.whole("n", 5, 1, 9), asked.word("name", "y")) == (5, "x")
    assert asked.query() == urlencode({"name": "x"})


def test_the_longest_page_fits():
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 3_000)))
    page("/lab/texts", a=text, b=text[::-1], bits=1024, features="char:10")
    page("/lab/texts", a="word " * 4_000, b="x" * 20_000, bits=1024)
    page("/lab/hashes", keys="numbers", count=10_000, slots=2, second="dek")
    page("/lab/hashes", keys="numbers", count=10_000, slots=10_000, second="remainder:9")


def test_there_is_no_other_experiment():
    assert get("/lab/nothing").status == 404
    assert get("/lab/").status == 404
    assert get("/lab/.json").status == 404
