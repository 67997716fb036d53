"""docs/how-it-works/scheme-comparison.md: its numbers match the results."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scripts.scheme_quality import page, pictures, results
from scripts.scheme_quality.corpora import random_pairs
from scripts.scheme_quality.distances import Distances, area_under_curve

RARE = "1 in 10,000"
CORPORA = ("arxiv", "tang_poems", "django_docs", "febrl")
# With 64 bits a distance is unscaled; 1 and 256 are the extremes on the page.
WIDTHS = st.sampled_from([1, 63, 64, 65, 128, 256])


@st.composite
def some_distances(draw):
    bits = draw(WIDTHS)
    return bits, draw(st.lists(st.integers(0, bits), min_size=1, max_size=30))


def test_page_is_made_of_the_committed_results():
    assert page.PAGE.read_text(encoding="utf-8") == page.page(results.load())


def test_page_has_a_table_and_a_picture_of_every_corpus():
    text = page.PAGE.read_text(encoding="utf-8")
    for name, measured in results.load().items():
        assert page.scheme_table(measured) in text
        assert f"](../images/schemes-{name}.png)" in text
        assert (pictures.IMAGES / f"schemes-{name}.png").exists()


@pytest.mark.parametrize("name", CORPORA)
def test_every_pair_has_a_distance(name):
    measured = results.load()[name]
    assert len({row["name"] for row in measured["rows"]}) == len(measured["rows"])
    for row in measured["rows"]:
        assert sum(row["true"]) == measured["true_pairs"]
        assert sum(row["random"]) == measured["random_pairs"]
        assert len(row["true"]) == len(row["random"])


# The claims of the page; the numbers are filled in.
@pytest.mark.parametrize(
    ("name", "better", "worse", "at"),
    [
        ("django_docs", "word:1 tfidf", "word:3", 3),
        ("django_docs", "word:1 tfidf", "word:3", 6),
        ("django_docs", "word:1 tfidf", "keywords:50", RARE),
        ("arxiv", "word:1 tfidf", "word:3", RARE),
        ("arxiv", "word:3, 256 bits", "word:3", RARE),
        ("arxiv", "word:3", "word:5", RARE),
        ("arxiv", "word:3", "word:3 sphere", RARE),
        ("arxiv", "word:1 count", "word:1", 3),
        ("tang_poems", "word:1, 256 bits", "word:1", RARE),
        ("tang_poems", "word:1", "word:3", RARE),
        ("tang_poems", "word:1", "keywords:50", RARE),
        ("tang_poems", "word:3", "word:5", RARE),
        ("tang_poems", "word:3", "word:3 sphere", RARE),
        ("tang_poems", "word:3", "char:3", 3),
        ("febrl", "char:3, one text, 256 bits", "char:3, one text", RARE),
        ("febrl", "char:3, one text, 256 bits", "char:2, columns, 256 bits", RARE),
        ("febrl", "char:3, one text", "word:1, one text", RARE),
        ("febrl", "char:2, columns", "char:2, columns, names*2", RARE),
    ],
)
def test_advice_follows_from_the_results(name, better, worse, at):
    found = []
    for scheme in (better, worse):
        row = page.row(results.load()[name], scheme)
        true, random = (Distances(tuple(row[kind])) for kind in ("true", "random"))
        found.append(true.within(random.limit(page.RARE) if at == RARE else at))
    assert found[0] > found[1]


def test_warnings_follow_from_the_results():
    known = results.load()
    rows = {corpus: {row["name"]: row for row in known[corpus]["rows"]} for corpus in known}
    django, arxiv = rows["django_docs"], rows["arxiv"]
    assert Distances(tuple(django["char:4 count"]["random"])).limit(page.RARE) is None
    for scheme in ("word:1 count", "char:3"):
        assert Distances(tuple(arxiv[scheme]["random"])).mean < 21
    for hash_ in ("md5", "nd1"):
        above, from_zero = (arxiv[f"terms {hash_} {tie}"] for tie in (">0", ">=0"))
        assert above["true"] == from_zero["true"]
        assert above["random"] == from_zero["random"]
    for corpus in ("arxiv", "tang_poems"):
        areas = {
            name: area_under_curve(row["true"], row["random"]) for name, row in rows[corpus].items()
        }
        assert set(sorted(areas, key=areas.get)[:2]) == {"sentences:5", "edges"}


def test_blank_of_a_scheme_that_was_not_measured_is_refused():
    with pytest.raises(SystemExit, match="word:99"):
        page.row({"rows": [{"name": "word:1"}]}, "word:99")


@given(st.integers(0, 9).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, n))] * 2)))
def test_area_is_the_share_of_pairs_in_the_right_order(drawn):
    true, random = ([0, *some] for some in drawn)
    wins = sum(Fraction((t < r) + (t <= r), 2) for t in true for r in random)
    counts = [np.bincount(some, minlength=10).tolist() for some in (true, random)]
    assert area_under_curve(*counts) == wins / (len(true) * len(random))


@given(some_distances(), st.fractions(0, 1))
def test_quantile_is_that_of_the_sorted_distances(drawn, share):
    bits, distances = drawn
    found = Distances.of(np.array(distances), bits).quantile(share)
    place = max(-(-share * len(distances) // 1), 1) - 1
    smallest = 0 if share == 0 else sorted(distances)[place]
    assert found == pytest.approx(smallest * 64 / bits)


@given(some_distances())
def test_mean_and_shares_are_those_of_the_distances(drawn):
    bits, distances = drawn
    found = Distances.of(np.array(distances), bits)
    assert (found.pairs, found.bits) == (len(distances), bits)
    assert found.mean == pytest.approx(np.mean(distances) * 64 / bits)
    assert sum(found.shares()) == pytest.approx(1)
    for limit in (0, 3, 6, 10, 64):
        near = sum(distance * 64 <= limit * bits for distance in distances)
        assert found.within(limit) == Fraction(near, len(distances))


@given(some_distances(), st.fractions(0, 1))
def test_limit_is_the_last_distance_with_few_enough_pairs(drawn, share):
    bits, distances = drawn
    fine = [d for d in range(bits + 1) if sum(x <= d for x in distances) <= share * len(distances)]
    found = Distances.of(np.array(distances), bits).limit(share)
    assert found == (pytest.approx(fine[-1] * 64 / bits) if fine else None)


def test_random_pairs_are_of_two_drawable_documents_and_never_known_ones():
    rows, known = np.array([1, 2, 4, 7]), np.array([1 * 9 + 4])
    a, b = random_pairs(rows, known, 9, np.random.RandomState(0), count=200)
    pairs = {frozenset(pair) for pair in zip(a.tolist(), b.tolist(), strict=True)}
    assert len(a) == len(b) == 200
    assert pairs == set(map(frozenset, combinations([1, 2, 4, 7], 2))) - {frozenset({1, 4})}


def test_too_few_random_pairs_are_an_error():
    with pytest.raises(SystemExit, match="only 0 of 20"):
        random_pairs(np.array([3]), np.array([]), 5, np.random.RandomState(0), count=10)


def test_results_are_read_back_as_they_were_written(tmp_path):
    written = {"poems": {"documents": 2, "rows": [{"name": "詩", "true": [1, 0]}, {"name": "b"}]}}
    results.save(written, tmp_path / "schemes.json")
    assert results.load(tmp_path / "schemes.json") == written


@pytest.mark.parametrize(
    ("share", "told"),
    [
        (Fraction(0), "0 %"),
        (Fraction(1), "100 %"),
        (Fraction(1, 3), "33.3 %"),
        (Fraction(1, 100_000), "0.001 %"),
        (Fraction(13, 100_000), "0.013 %"),
        (Fraction(8516, 8517), "99.99 %"),
        (Fraction(999, 1000), "99.9 %"),
    ],
)
def test_small_shares_are_not_rounded_away(share, told):
    assert page.percent(share) == told


def test_limit_is_told_in_bits_of_the_fingerprint():
    wide = {"random": [0] * 80 + [20_000] + [0] * 48}
    assert (page.QUANTITIES["limit"](wide), page.QUANTITIES["bits"](wide)) == (
        "≤ 39.5",
        "79 of 128",
    )
    near = {"random": [20_000] + [0] * 64}
    assert (page.QUANTITIES["limit"](near), page.QUANTITIES["bits"](near)) == (
        "0 is too far",
        "none",
    )
