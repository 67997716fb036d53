"""The reproduced systems: their published values, and the pairs that windows lose."""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import neardup as nd
from neardup.lab.reproduce import slides_examples
from neardup.lab.reproduce.bands import reproduce_bands
from neardup.lab.reproduce.blog import reproduce_blog
from neardup.lab.reproduce.documents import KnownIds
from neardup.lab.reproduce.published import BLOG_HASHES, CAIM, IRRS
from neardup.lab.reproduce.report import BesideTable
from neardup.lab.reproduce.slides import reproduce_slides
from neardup.lab.reproduce.sphere import (
    disjoint_windows,
    least_comparisons,
    most_windows,
    reproduce_articles,
    windowed_pairs,
)

FIFTH = Fraction(1, 5)
# Candidates, and those with a cosine of at least 0.9 and 0.8.
GOLDEN = {
    (2, 10): (3_300_231, 17_088, 17_579),
    (3, 12): (1_283_956, 17_473, 18_018),
    (3, 18): (38_837, 16_377, 16_563),
    (2, 27): (14_353, 14_287, 14_312),
    (3, 22): (17_406, 15_735, 15_842),
    (4, 18): (45_890, 16_911, 17_149),
    (5, 18): (53_307, 17_302, 17_599),
}


@pytest.fixture
def pages(tmp_path):
    """Texts of which some are near-duplicates, as a Parquet file."""
    state = np.random.RandomState(0)
    words = [f"w{number}" for number in range(500)]
    texts = [" ".join(state.choice(words, size)) for size in range(40, 80)]
    texts += [f"{text} changed" for text in texts[:20]] + [""]
    ids = [f"page {number}" for number in range(len(texts))]
    path = tmp_path / "pages.parquet"
    pq.write_table(pa.table({"id": ids, "text": texts}), path)
    pairs = pa.table({"a": ids[:20], "b": ids[40:60]})
    pq.write_table(pairs, tmp_path / "pairs.parquet")
    return path


@pytest.mark.parametrize(("lab", "level"), [(CAIM, 1), (IRRS, 2)], ids=["s0", "s3"])
def test_labs_give_the_golden_counts(shared_data, lab, level):
    done = reproduce_bands(lab, [str(shared_data / "arxiv" / "features.parquet")])
    table, _ = done.tables
    found = {
        (row[0], row[1]): (candidates, true)
        for row, candidates, true in zip(
            table.rows, table.column("candidates"), table.column("true"), strict=True
        )
    }
    shared = set(found) & set(GOLDEN)
    assert len(shared) >= 4
    for shape in shared:
        assert found[shape] == (GOLDEN[shape][0], GOLDEN[shape][level])
    assert done.numbers["true_pairs"] == {1: 19_130, 2: 20_806}[level]
    for true, recall in zip(table.column("true"), table.column("recall"), strict=True):
        assert recall == true / done.numbers["true_pairs"]
    for scaled, ours in zip(
        table.column("scaled_candidates"), table.column("candidates"), strict=True
    ):
        assert ours == pytest.approx(scaled, rel=0.07)


def test_a_lab_on_another_collection_says_so(tmp_path):
    path = tmp_path / "terms.parquet"
    terms = [["a", "b"], ["a", "b"], ["c"]]
    weights = [[1.0, 2.0], [1.0, 2.0], [1.0]]
    pq.write_table(pa.table({"id": [1, 2, 3], "terms": terms, "weights": weights}), path)
    done = reproduce_bands(CAIM, [str(path)])
    assert done.documents == 3
    assert set(done.tables[0].column("recall")) == {1.0}
    assert any("another collection" in sentence for sentence in done.differences)


def test_slides_are_met_but_for_one_slip():
    done = reproduce_slides()
    wrong = [
        (table.title, row)
        for table in done.tables
        for row, published, ours in zip(
            table.rows, table.column("published"), table.column("ours"), strict=True
        )
        if published != ours
    ]
    assert [(title, row[0]) for title, row in wrong] == [
        ("Jaccard index of addresses", "3A and 3B")
    ]
    assert "63/71 = 0.887 and not 0.888" in done.differences[0]
    assert any("50086 and 934" in sentence for sentence in done.differences)


def test_slides_have_their_hundred_words():
    assert len(slides_examples.HUNDRED_WORDS) == len(set(slides_examples.HUNDRED_WORDS)) == 100


def test_blog_is_complete_where_it_says_so(pages):
    pytest.importorskip("jieba")
    done = reproduce_blog([str(pages)], truth=str(pages.with_name("pairs.parquet")))
    every, flipped, tables, prefix = done.tables[0].column("pairs")
    assert every == flipped == tables >= prefix
    shares: list[Any] = done.table("The 20 known pairs").column("found")
    assert shares == sorted(shares)
    assert done.numbers["known_pairs"] == 20
    assert sum(done.table("Known pairs within 3 bits, by length").column("pairs")) == 20


def test_articles_add_up(pages):
    done = reproduce_articles([str(pages)], truth=str(pages.with_name("pairs.parquet")))
    pairs = done.table("Pairs of similar lengths")
    found = nd.fingerprint(
        pq.read_table(pages)["text"],
        "word:1",
        "count",
        hash="md5",
        projection="sphere:42x64",
    )
    for limit, inside, every, lost, _ in pairs.rows:
        expected = nd.find_pairs(found, max_distance=limit, candidates="length:0.2")
        assert every == len(expected) == inside + lost
    sizes = done.table("Documents by number of duplicates")
    assert sum(sizes.column("within_15")) <= 60
    assert done.table("The longest lines").rows
    for row in done.table("Share of the 20 known pairs that is found").rows:
        assert row[1] >= row[2] >= row[3]


def test_without_truth_it_says_what_to_give(pages):
    pytest.importorskip("jieba")
    for run in (reproduce_articles, reproduce_blog):
        assert any("--truth" in sentence for sentence in run([str(pages)]).differences)


@given(st.lists(st.integers(0, 400), min_size=1, max_size=60))
def test_windows_hold_similar_lengths_and_cannot_be_longer(lengths):
    words = np.array(lengths, np.uint32)
    windows = disjoint_windows(words, FIFTH)
    firsts = {window: words[windows == window].min() for window in set(windows.tolist())}
    for length, window in zip(lengths, windows.tolist(), strict=True):
        assert length <= firsts[window] * 1.2
        if window:
            assert length > firsts[window - 1] * 1.2
    assert sorted(firsts) == list(range(len(firsts)))


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(0, 2**64 - 1) | st.integers(0, 7)),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from([1, 7, 1000]),
)
def test_windowed_pairs_are_those_of_the_length_plan(documents, pairs_at_once):
    words = np.array([length for length, _ in documents], np.uint32)
    array = np.array([bits for _, bits in documents], np.uint64).reshape(-1, 1)
    found = nd.Fingerprints(array, "nd1/word:1/set/64", words)
    windows = disjoint_windows(words, FIFTH)
    counted = windowed_pairs(found, FIFTH, windows, (0, 2, 64), 1, pairs_at_once)
    for row, limit in enumerate(counted.limits):
        pairs = nd.find_pairs(found, max_distance=limit, candidates="length:0.2")
        a, b = pairs["a"].to_numpy(), pairs["b"].to_numpy()
        together = windows[a] == windows[b]
        assert counted.pairs[row] == len(a)
        assert counted.lost[row] == (~together).sum()
        both = np.concatenate([a[together], b[together]])
        degrees = np.bincount(both, minlength=len(words))
        assert counted.duplicates[row].tolist() == degrees.tolist()


def test_equal_windows_need_the_fewest_comparisons():
    number = most_windows(FIFTH)
    even = 158_000 / number
    assert least_comparisons(FIFTH) == int(number * even * (even - 1) / 2)
    lopsided = np.array([2 * even] + [(158_000 - 2 * even) / (number - 1)] * (number - 1))
    assert least_comparisons(FIFTH) < (lopsided * (lopsided - 1) / 2).sum()


def test_unknown_documents_in_the_truth_are_named(tmp_path):
    path = tmp_path / "pairs.parquet"
    pq.write_table(pa.table({"a": ["x"], "b": ["y"]}), path)
    with pytest.raises(nd.InputError, match="names the document y"):
        KnownIds.read(path).among(pa.array(["x", "z"]))
    pq.write_table(pa.table({"a": ["x"]}), path)
    with pytest.raises(nd.InputError, match="no column 'b'"):
        KnownIds.read(path).among(pa.array(["x"]))


def test_an_empty_input_is_refused(tmp_path):
    path = tmp_path / "none.jsonl"
    path.write_text("", encoding="utf-8")
    with pytest.raises(nd.InputError, match="no document"):
        reproduce_articles([str(path)])


SYSTEMS = {
    "caim": partial(reproduce_bands, CAIM),
    "irrs": partial(reproduce_bands, IRRS),
    "blog": reproduce_blog,
    "sphere": reproduce_articles,
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_runs_without_data(name):
    if name == "blog":
        pytest.importorskip("jieba")
    done = SYSTEMS[name]()
    again = SYSTEMS[name]().as_dict()
    data, original, *_ = done.differences
    assert f"these are {done.documents:,} generated articles" in data
    assert f"neardup reproduce {name} " in original
    assert not any("--truth" in sentence for sentence in done.differences)
    exact = done.table("Exactly, without data")
    assert exact == done.tables[-1]
    if name != "sphere":  # which only estimates
        for row in exact.rows:
            assert row[1] == row[2] or row[1] == "all k-bit flips"
    assert not differing(done.as_dict(), again)


def differing(one, other):
    """The tables that differ in anything but times."""
    return [
        first["title"]
        for first, second in zip(one["tables"], other["tables"], strict=True)
        for a, b in zip(first["rows"], second["rows"], strict=True)
        if any(a[key] != b[key] for key in a if "seconds" not in key)
    ]


def test_generated_articles_behave_like_the_originals():
    """More tables find more, more bits find less; borders lose pairs; distance 5 is not enough."""
    table = reproduce_bands(CAIM).tables[0]
    found = {(row[0], row[1]): row for row in table.rows}
    recall = dict(zip(found, table.column("recall"), strict=True))
    precision = dict(zip(found, table.column("precision"), strict=True))
    for bits in (10, 12, 18):
        assert recall[2, bits] < recall[3, bits] < recall[4, bits]
    for bands in (2, 3, 4):
        assert recall[bands, 10] > recall[bands, 12] > recall[bands, 18]
        assert precision[bands, 10] < precision[bands, 12] < precision[bands, 18]
    assert all(row[3] / 2 < row[4] < row[3] * 2 for row in table.rows)
    within = reproduce_articles().table("Pairs of similar lengths")
    assert all(lost > 0 for lost in within.column("lost"))


def test_the_string_hash_is_that_of_the_published_code():
    """As it stands in the blog."""
    for word, digits in BLOG_HASHES.items():
        x = ord(word[0]) << 7
        for c in word:
            x = ((x * 1000003) ^ ord(c)) & (2**128 - 1)
        x ^= len(word)
        assert f"{int(bin(x)[2:].zfill(64)[-64:], 2):016x}" == digits


def test_headings_share_their_upper_line():
    table = BesideTable.of("t", {"a": "M", "b": "pairs\nseed", "c": "\nours"}, [(1, 2, None)])
    assert table.headings() == {"a": "M", "b": "pairs, seed", "c": "pairs, ours"}
    assert table.as_dict()["rows"] == [{"a": 1, "b": 2, "c": None}]
    with pytest.raises(ValueError, match="3 cells"):
        BesideTable.of("t", {"a": "", "b": "", "c": ""}, [(1, 2)])
