"""Warnings when a run removes more than was probably meant."""

import json
import random

import pytest
from tests.cli.test_hostile_usage import run

import neardup as nd

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


def test_most_documents_removed():
    (warning,) = nd.dedup([*["the same words"] * 6, "", "other", *filler(2)]).summary["warnings"]
    assert warning.startswith("5 of 9 documents that are not empty are removed (56%).")
    assert "report.html" in warning
    assert "--threshold" in warning
    assert "word:5" in warning
    assert nd.dedup(["the same words"] * 2).summary["warnings"] == []
    assert nd.dedup([]).summary["warnings"] == []


def test_a_large_and_loose_star():
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
    texts = [*chain(120), *filler(400)]
    (warning,) = nd.dedup(texts, cluster="components").summary["warnings"]
    assert "The cluster around 0 has 120 documents" in warning
    assert "of them are below the threshold: only chains" in warning
    assert "--cluster star" in warning
    assert nd.dedup(texts).summary["warnings"] == []


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


@pytest.mark.parametrize("quiet", [False, True])
def test_warnings_go_to_standard_error_and_on_the_page(tmp_path, monkeypatch, quiet):
    texts = [*TEMPLATE, *filler(400)]
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
