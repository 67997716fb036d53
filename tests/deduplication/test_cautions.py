"""Warnings when a run removes more than was probably meant, or its settings do not fit."""

import json
import random
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.cli.test_hostile_usage import run

import neardup as nd
from neardup.decisions import DecisionFile, Named, content_of
from neardup.deduplication import cautions

SAMPLE = Path(__file__).parents[2] / "examples" / "sample.jsonl"
HEADER = " ".join(f"header{number}" for number in range(200))


def page(number, body, header=HEADER):
    return f"{header} {' '.join(f'b{number}x{word}' for word in range(body))}"


def filler(count, seed=1):
    chance = random.Random(seed)
    return [" ".join(f"f{chance.randrange(10**6)}" for _ in range(30)) for _ in range(count)]


# Pages of one template: each shares 200 of about 236 words with the first, at a threshold of 0.7.
TEMPLATE = [page(number, 36) for number in range(150)]


def chain(count, shift=3, length=60):
    words = [f"c{number}" for number in range(count * shift + length)]
    return [" ".join(words[i * shift : i * shift + length]) for i in range(count)]


def edited(texts, changed):
    """Each text with the last words changed."""
    return [" ".join([*text.split()[:-changed], *["changed"] * changed]) for text in texts]


def test_most_documents_removed():
    originals = filler(10)
    versions = [text for changed in (1, 2, 3, 4) for text in edited(originals, changed)]
    texts = [*originals, *originals, *versions, ""]
    (warning,) = nd.dedup(texts, threshold=0.5).summary["warnings"]
    assert warning.startswith("40 of 50 different documents are removed as near copies (80%), 0 of")
    for remedy in ("explore OUT", "report.html", "--threshold", "word:5", "evaluate", "--labels"):
        assert remedy in warning
    assert nd.dedup(texts[:40], threshold=0.5).summary["warnings"] == []  # 20 of 30
    few = [*originals[:3], *edited(originals[:3], 1) * 5]
    assert nd.dedup(few, threshold=0.5).summary["warnings"] == []


def test_exact_copies_are_meant():
    assert nd.dedup(filler(30) * 20).summary["warnings"] == []
    assert nd.dedup([]).summary["warnings"] == []
    assert nd.dedup([""] * 30).summary["warnings"] == []


def test_short_documents_have_no_long_features():
    texts = [f"{' '.join(f'same{word}' for word in range(8))} other{n}" for n in range(40)]
    (warning,) = nd.dedup(texts, features="word:1", threshold=0.75).summary["warnings"]
    assert "39 of 40 different documents" in warning
    assert "then raise --threshold;" in warning
    assert "word:5" not in warning


def test_what_people_decided_is_meant(tmp_path):
    texts = [page(0, 36), *filler(20), *(page(number, 36) for number in range(1, 10))]
    rows = [{"id": str(place), "text": text} for place, text in enumerate(texts)]
    (warning,) = nd.dedup(rows, threshold=0.7).summary["warnings"]
    assert "9 of 30 different documents" in warning
    said = DecisionFile(tmp_path / "decisions.jsonl")
    for row in rows[21:]:
        pair = (Named(one["id"], content_of(one["text"])) for one in (rows[0], row))
        said.add("same", pair, by="ann")
    told = nd.dedup(rows, threshold=0.7, decisions=tmp_path / "decisions.jsonl")
    assert told.summary["removed"] == 9
    assert told.summary["warnings"] == []


def test_many_are_close_to_the_threshold():
    """Most have the similarity of their neighbours in a continuum, which the threshold cuts."""
    texts = [page(number, 36) for number in range(30)]
    spread = [*texts, *filler(70)]
    (warning,) = nd.dedup(spread, threshold=0.7).summary["warnings"]
    assert warning.startswith("29 of 100 different documents are removed as near copies (29%), 29")
    assert "with a similarity of less than 0.775, close to the threshold of 0.7. Unless" in warning
    assert nd.dedup(spread, threshold=0.55).summary["warnings"] == []
    assert nd.dedup([*texts[:21], *filler(80)], threshold=0.7).summary["warnings"] == []


def test_chains_are_below_the_threshold():
    texts = [*chain(24), *filler(40)]
    (warning,) = nd.dedup(texts, cluster="components").summary["warnings"]
    assert "close to the threshold of 0.8 or below it" in warning


def test_a_large_and_loose_star(monkeypatch):
    monkeypatch.setattr(cautions, "_MOST_DOUBTFUL", 1)
    texts = [*TEMPLATE, *filler(400)]
    (warning,) = nd.dedup(texts, threshold=0.7).summary["warnings"]
    assert warning.startswith("The cluster around 0 has 150 documents, and half of those")
    assert "near the threshold of 0.7" in warning
    assert "template" in warning
    assert nd.dedup(texts, threshold=0.5).summary["warnings"] == []  # well above the threshold
    small = [*TEMPLATE[:99], *filler(400)]
    assert nd.dedup(small, threshold=0.7).summary["warnings"] == []
    copies = [*["the very same words"] * 150, *filler(400)]
    assert nd.dedup(copies).summary["warnings"] == []


def test_one_percent_of_the_documents_is_large():
    texts = [*TEMPLATE[:105], *filler(10_500)]
    assert nd.dedup(texts, threshold=0.7).summary["warnings"] == []
    (warning,) = nd.dedup(texts[:10_400], threshold=0.7).summary["warnings"]
    assert "105 documents" in warning


def test_a_component_of_chains():
    texts = [*chain(120), *filler(600)]
    (warning,) = nd.dedup(texts, cluster="components").summary["warnings"]
    assert warning.startswith("The cluster around 0 has 120 documents, and 117 of them are below")
    assert "the threshold of 0.8: only chains of pairs connect them" in warning
    assert "(median similarity 0.000)" in warning
    assert "Use --cluster star or --cluster dense, or" in warning
    assert nd.dedup(texts).summary["warnings"] == []
    short = [*chain(24), *filler(600)]
    assert nd.dedup(short, cluster="components").summary["warnings"] == []
    short = [*chain(25), *filler(600)]
    assert len(nd.dedup(short, cluster="components").summary["warnings"]) == 1


def test_a_dense_cluster_whose_median_is_below_the_threshold():
    texts = [*chain(40), *filler(600)]
    (warning,) = nd.dedup(texts, cluster="dense:0.01").summary["warnings"]
    assert "Use --cluster star or a larger share than --cluster dense:0.01" in warning
    assert nd.dedup(texts, cluster="dense").summary["warnings"] == []


def test_only_the_largest_loose_clusters_are_named():
    texts = filler(2500)
    for family in range(5):
        header = " ".join(f"h{family}x{number}" for number in range(200))
        texts += [page(f"{family}y{number}", 36, header) for number in range(100 + family)]
    *named, rest = nd.dedup(texts, threshold=0.7).summary["warnings"]
    assert [warning.partition(" documents")[0].split()[-1] for warning in named] == [
        "104",
        "103",
        "102",
    ]
    assert rest == "2 more clusters are as large and loose."


def test_fingerprints_have_a_threshold_in_bits():
    texts = [*TEMPLATE, *filler(400)]
    for warning in nd.dedup(texts, similarity="hamming", threshold=16).summary["warnings"]:
        assert "near the threshold of 0.75" in warning


def titles(count, words=9, seed=2):
    chance = random.Random(seed)
    return [" ".join(f"t{chance.randrange(10**5)}" for _ in range(words)) for _ in range(count)]


HINT = (
    "Median document 9 words: word:3 at 0.8 will find little, because one changed word leaves a "
    "similarity of 0.40. Try `neardup tune INPUT`, or `--features word:1 --weights tfidf "
    "--threshold 0.3`, and look at the weakest removals."
)


def test_shingles_that_are_too_long_for_short_documents():
    """The number in the hint is the similarity of such a document after the edit."""
    (hint,) = nd.dedup(titles(100)).summary["warnings"]
    assert hint == HINT
    words = titles(1)[0].split()
    other = " ".join([*words[:4], "changed", *words[5:]])
    assert nd.compare(" ".join(words), other).jaccard == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("texts", "settings"),
    [
        (titles(100), {"features": "word:1", "weights": "tfidf", "threshold": 0.3}),
        (titles(100), {"features": "word:1", "weights": "idf", "threshold": 0.3}),
        (titles(100), {"features": "word:1", "threshold": 0.5}),
        (titles(100), {"features": "char:3", "threshold": 0.5}),
        (titles(100), {"features": "sentences:2"}),
        (titles(100), {"features": "keywords:5"}),
        (titles(100), {"similarity": "hamming", "threshold": 3}),
        (titles(19), {}),  # too few
        (titles(100, words=29), {}),
        ([text.split() for text in titles(100)], {"features": "terms"}),
        # Near copies are found after all.
        ([*titles(50, words=28), *edited(titles(3, words=28), 1)], {}),
        (["".join(chr(0x4E00 + i * 40 + j) for j in range(40)) for i in range(100)], {}),
    ],
    ids=lambda value: str(value)[:30],
)
def test_no_hint_where_the_settings_fit(texts, settings):
    assert nd.dedup(texts, **settings).summary["warnings"] == []


def test_no_hint_against_another_collection_alone():
    texts = titles(100)
    assert nd.dedup(texts, against=titles(50, seed=7)).summary["warnings"] == []
    assert nd.dedup(texts, against=titles(50, seed=7), within=True).summary["warnings"] == [HINT]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"features": "word:1"}, None),
        ({"features": "word:2"}, "word:2 at 0.8 will find little"),
        ({"features": "char:5"}, "char:5 at 0.8 will find little"),
        ({"features": "word:1+word:3"}, "word:1+word:3 at 0.8 will find little"),
        ({"weights": "tfidf", "similarity": "cosine"}, "leaves a similarity of 0.57"),
    ],
    ids=str,
)
def test_other_features_of_short_documents(settings, said):
    warnings = nd.dedup(titles(100), **settings).summary["warnings"]
    assert [said in warning for warning in warnings] == ([True] if said else [])


def test_characters_of_scripts_without_spaces_are_words():
    short = ["".join(chr(0x4E00 + i * 40 + j) for j in range(9)) for i in range(100)]
    assert nd.dedup(short).summary["warnings"] == [HINT]


def test_names_of_one_word_are_for_tune():
    (hint,) = nd.dedup(titles(100, words=1), features="word:1").summary["warnings"]
    assert "Median document 1 word: word:1 at 0.8" in hint
    assert "Try `neardup tune INPUT`, and look" in hint


def article(number, length=300):
    """Articles on one subject: half of the words are those of all of them."""
    return " ".join(f"w{number}x{word} {word}" for word in range(length // 2))


@pytest.mark.parametrize(
    "settings",
    [
        {"features": "word:1", "threshold": 0.3},
        {"features": "word:1", "threshold": 0.4, "similarity": "cosine"},
    ],
    ids=str,
)
def test_single_words_of_long_documents(settings):
    texts = [*(article(number) for number in range(10)), *titles(100, words=250)]
    (hint,) = nd.dedup(texts, **settings).summary["warnings"]
    assert hint.startswith("Median document 250 words: documents on the same subject share many")
    assert "`neardup tune INPUT`, or `--features word:3 --weights set --threshold 0.8`" in hint
    assert nd.dedup(texts).summary["warnings"] == []
    assert nd.dedup(texts, features="word:1", threshold=0.6).summary["warnings"] == []
    assert nd.dedup(texts[9:], **settings).summary["warnings"] == []  # no harm is done
    shorter = [*(article(number) for number in range(10)), *titles(100, words=150)]
    assert nd.dedup(shorter, **settings).summary["warnings"] == []


RIGHT = {
    "persons": {"features": "word:1", "weights": "tfidf", "threshold": 0.3},
    "citations": {"features": "word:1", "weights": "tfidf", "threshold": 0.5},
    "django_docs": {},
    "licenses": {},
    "arxiv": {},
    "tang_poems": {},
}
CATASTROPHIC = {"features": "char:2", "threshold": 0.4, "cluster": "components"}


@pytest.mark.parametrize("name", RIGHT)
def test_settings_that_fit_real_collections(shared_data, name):
    found = nd.dedup(shared_data / name / "docs.parquet", **RIGHT[name])
    assert found.summary["warnings"] == []


def test_the_sample_has_no_warning():
    assert nd.dedup(SAMPLE).summary["warnings"] == []


@pytest.mark.parametrize("name", ["persons", "products", "citations"])
def test_the_hint_leads_to_better_results(shared_data, name):
    """Labelled pairs that are found, and those that are found wrongly."""
    source = shared_data / name / "docs.parquet"
    by_default = nd.dedup(source)
    (hint,) = by_default.summary["warnings"]
    assert "--features word:1 --weights tfidf --threshold 0.3" in hint
    settings = {"features": "word:1", "weights": "tfidf", "threshold": 0.3}
    assert f1(nd.dedup(source, **settings), shared_data / name) > 0.3 + f1(
        by_default, shared_data / name
    )


@pytest.mark.parametrize("name", ["products", "citations"])
def test_a_run_that_removes_nearly_all_is_warned_about(shared_data, name):
    found = nd.dedup(shared_data / name / "docs.parquet", **CATASTROPHIC).summary
    assert found["removed"] > 0.9 * found["documents"]
    many, loose, *_ = found["warnings"]
    assert "different documents are removed as near copies (9" in many
    assert "Use --cluster star or --cluster dense" in loose


def f1(result, folder):
    """By labelled pairs; those without a label count only where all pairs are known."""
    table = result.clusters
    names = table["cluster"].to_pylist()
    cluster = dict(zip(table["id"].to_pylist(), names, strict=True))

    def together(path):
        pairs = pq.read_table(path)
        both = zip(pairs["a"].to_pylist(), pairs["b"].to_pylist(), strict=True)
        return sum(a in cluster and cluster[a] == cluster.get(b) for a, b in both), len(pairs)

    right, true = together(folder / "pairs.parquet")
    if (folder / "non_pairs.parquet").exists():
        found = right + together(folder / "non_pairs.parquet")[0]
    else:
        found = sum(n * (n - 1) // 2 for n in Counter(names).values())
    return 2 * right / (found + true)


@pytest.mark.parametrize("quiet", [False, True])
def test_warnings_go_to_standard_error_and_on_the_page(tmp_path, monkeypatch, quiet):
    texts = [*TEMPLATE, *filler(700)]
    rows = [{"id": f"\x1b[31m{number}", "text": text} for number, text in enumerate(texts)]
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    line = ["dedup", str(source), "-o", str(tmp_path / "out"), "--threshold", "0.7"]
    code, printed, errors = run(monkeypatch, [*line, *(["--quiet"] if quiet else [])])
    assert code == 0
    assert "Warning" not in printed
    assert ("Warning: The cluster around" in errors) is not quiet
    assert "\x1b[31m" not in errors
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert html.index("Check this:") < html.index("<main>")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert len(summary["warnings"]) == 1


def test_longer_documents_removed_by_containment():
    article = filler(1)[0]
    texts = [article, f"{article} {HEADER}", f"{article} one more"]
    (warning,) = nd.dedup(texts, similarity="containment").summary["warnings"]
    assert warning.startswith("1 removed document is longer by a quarter or more")
    for settings in ({"keep": "longest"}, {"similarity": "inclusion"}, {"similarity": "jaccard"}):
        assert not nd.dedup(texts, **{"similarity": "containment", **settings}).summary["warnings"]
