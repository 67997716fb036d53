"""The report page of records: tables of fields whose sums are the similarities of the run."""

import re
from html import unescape

import pyarrow as pa
import pytest

import neardup as nd
from neardup.visible import shown_similarity

PEOPLE = pa.table(
    {
        "id": ["p1", "p2", "p3", "p4", "p5"],
        "name": ["Ann Lee", "Anne Lee", "Bob Ray", "Bob Rays", "Carla Haddad"],
        "street": ["Main street 5", "Main street 5", "High road 7", "High road\n7", None],
        "city": ["Oslo", "", "Bergen", "Bergen", "Kyoto"],
    }
)


def shown_sums(result, folder):
    """The similarity and the sum of each removed document on the page, as they are shown."""
    result.save(folder)
    page = (folder / "report.html").read_text(encoding="utf-8")
    details = re.findall(r"<details.*?</details>", page, re.DOTALL)
    return [
        (
            re.search(r"similarity ([0-9.]+)", one)[1],
            re.search(r"<tfoot>.*<td[^>]*>([^<]*)</td>", one)[1],
        )
        for one in details
    ], unescape(page)


@pytest.mark.parametrize(
    "settings",
    [
        {"text": "name*2+street+city"},
        {"text": "name+street+city", "weights": "tfidf"},
        {"text": "name+street+city", "similarity": "cosine"},
        {"text": "name:char:3*2 + street:word:1 + city:exact"},
        {"text": "name+street+city", "cluster": "components"},
        {"text": "name+street+city", "hash": "md5"},
    ],
    ids=str,
)
def test_the_sums_are_the_similarities(tmp_path, settings):
    result = nd.dedup(PEOPLE, **{"features": "char:3", "threshold": 0.4, **settings})
    sums, _ = shown_sums(result, tmp_path / "out")
    similarities = result.removed["similarity"].to_pylist()
    assert len(similarities) == 2
    assert sorted(sums) == sorted(
        (shown_similarity(one), shown_similarity(one)) for one in 2 * similarities
    )


def test_with_a_key(tmp_path):
    key = nd.keyed("ours", bytes(range(32)))
    result = nd.dedup(PEOPLE, text="name+street", threshold=0.3, hash=key, features="char:3")
    sums, _ = shown_sums(result, tmp_path / "out")
    assert sums
    assert all(similarity == total for similarity, total in sums)


def test_beside_another_collection(tmp_path):
    own, other = PEOPLE.slice(1, 1), PEOPLE.slice(0, 1)
    settings = {"text": "name+street+city", "features": "char:3", "threshold": 0.4}
    sums, page = shown_sums(nd.dedup(own, against=other, **settings), tmp_path / "out")
    assert len(sums) == 2
    assert all(similarity == total for similarity, total in sums)
    assert 'in the other collection: <bdi class="id">p1</bdi>' in page


def test_a_run_with_another_threshold(tmp_path):
    settings = {"text": "name+street+city", "features": "word:1", "weights": "tfidf"}
    result = nd.dedup(PEOPLE, **settings, threshold=0.3, pairs="all")
    result.save(tmp_path / "first")
    again = nd.Result.load(tmp_path / "first").rethreshold(0.4)
    sums, page = shown_sums(again, tmp_path / "second")
    assert sums
    assert "weights were counted from these two records" in page
