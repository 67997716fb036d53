"""Check, query, add, get and delete documents, as JSON."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import httpx
import pytest
from tests.service.conftest import make_index
from tests.service.running import lines_of, ndjson, texts, until

LONG = "the quick brown fox jumps over the lazy dog and runs far away from the old grey wolf"
NEAR = f"{LONG} today"
OTHER = "nothing of this text has anything to do with any animal in the forest at all, never"
NDJSON = {"Content-Type": "application/x-ndjson"}

IDS = [
    *(
        0,
        1,
        -1,
        2**63 - 1,
        -(2**63),
        "a",
        "17x",
        "a/b",
        "/a",
        "a/",
        "a//b",
        "../../etc",
        "...",
        "-",
        "-0",
    ),
    *(
        "a b",
        "a%20b",
        "a%2Fb",
        "a+b",
        "a?b=c&d",
        "a#b",
        "ä",
        "中文",
        "مرحبا",
        "😀",
        "e\u0301",
        "a\nb",
    ),
    *(
        "a\n",
        "\n",
        "a\0b",
        "\u2028",
        "delete",
        "documents/delete",
        "x" * 500,
        '"',
        "\\",
        "<script>",
    ),
]
METADATA = [
    *(
        None,
        True,
        False,
        0,
        -1,
        2**63 - 1,
        2**64 - 1,
        -(2**63),
        0.5,
        -0.25,
        1e300,
        5e-324,
        "",
        "text",
    ),
    *(
        [],
        {},
        [1, [2, [3, {}]]],
        {"a": {"b": None}},
        {"": ""},
        "é中😀\u2028",
        'quote " and \\ slash',
    ),
    *(
        "line\nfeed\ttab\x00\x1f",
        {"kéy 😀": ["</script>", 1.5, None, True]},
        "null",
        "true",
        "5",
        "[]",
    ),
]


def path_of(index: str, id: object) -> str:
    return f"{index}/documents/{quote(str(id), safe='')}"


def test_the_shortest_way(client):
    """One check makes the index, the next one finds the near-duplicate."""
    first = client.post("/v1/indexes/news/check?create=true", json={"id": 1, "text": LONG})
    assert first.status_code == 200
    assert first.json() == {"id": 1, "is_new": True, "added": True, "match": None, "matches": []}
    second = client.post("/v1/indexes/news/check?create=true", json={"id": 2, "text": NEAR}).json()
    assert (second["id"], second["is_new"], second["added"]) == (2, False, False)
    assert second["match"] == second["matches"][0]
    assert second["match"]["id"] == 1
    assert 0.8 <= second["match"]["similarity"] < 1
    assert second["match"]["distance"] > 0
    assert client.get("/v1/indexes/news").json()["documents"] == 1


def test_a_document_without_id_gets_a_new_one(client, index):
    found = [client.post(f"{index}/check", json={"text": text}).json() for text in texts(20)]
    ids = [each["id"] for each in found]
    assert all(each["is_new"] and isinstance(each["id"], str) for each in found)
    assert len(set(ids)) == 20
    assert client.get(path_of(index, ids[0])).json()["id"] == ids[0]


def test_the_true_similarity(client, index):
    """Jaccard of the sets of three words, counted here."""

    def grams(text: str) -> set[tuple[str, ...]]:
        words = text.split()
        return {tuple(words[place : place + 3]) for place in range(len(words) - 2)}

    a = " ".join(f"word{number}" for number in range(60))
    b = a.replace("word30 ", "other ")
    client.post(f"{index}/documents", json={"id": "a", "text": a})
    (match,) = client.post(f"{index}/query", json={"text": b}).json()["matches"]
    expected = len(grams(a) & grams(b)) / len(grams(a) | grams(b))
    assert match["similarity"] == pytest.approx(expected, abs=1e-6)


def test_add_always_and_never(client, index):
    client.post(f"{index}/check", json={"id": 1, "text": LONG})
    never = client.post(f"{index}/check?add=never", json={"id": 2, "text": OTHER}).json()
    assert (never["is_new"], never["added"]) == (True, False)
    always = client.post(f"{index}/check?add=always", json={"id": 3, "text": LONG}).json()
    assert (always["is_new"], always["added"], always["match"]["id"]) == (False, True, 1)
    assert client.get(index).json()["documents"] == 2


def test_keep_per_group(client, index):
    verdicts = [
        client.post(f"{index}/check?keep_per_group=3", json={"id": n, "text": LONG}).json()
        for n in range(5)
    ]
    assert [each["is_new"] for each in verdicts] == [True, True, True, False, False]
    assert [each["added"] for each in verdicts] == [True, True, True, False, False]
    assert len(verdicts[4]["matches"]) == 3


def test_limit_and_order(client, index):
    words = [f"w{number}" for number in range(100)]
    for changed in range(0, 5):
        text = " ".join([*words[: 100 - changed], *(f"x{n}" for n in range(changed))])
        client.post(f"{index}/documents", json={"id": changed, "text": text})
    asked = {"text": " ".join(words)}
    found = client.post(f"{index}/query", json=asked).json()["matches"]
    assert [match["id"] for match in found] == [0, 1, 2, 3, 4]
    similarities = [match["similarity"] for match in found]
    assert similarities == sorted(similarities, reverse=True)
    assert similarities[0] == 1.0
    two = client.post(f"{index}/query?limit=2", json=asked).json()["matches"]
    assert two == found[:2]
    strict = client.post(f"{index}/query?threshold=0.95", json=asked).json()["matches"]
    assert strict == [match for match in found if match["similarity"] >= 0.95]
    assert 0 < len(strict) < 5


def test_a_document_is_no_match_of_itself(client, index):
    client.post(f"{index}/check", json={"id": 1, "text": LONG})
    again = client.post(f"{index}/check", json={"id": 1, "text": LONG}).json()
    assert again["match"] is None
    assert client.get(index).json()["documents"] == 1


def test_an_id_replaces(client, index):
    for text in (LONG, OTHER):
        stored = client.post(f"{index}/documents", json={"id": "x", "text": text})
        assert stored.json() == {"id": "x", "stored": True}
    assert client.get(index).json()["documents"] == 1
    assert client.post(f"{index}/query", json={"text": LONG}).json()["matches"] == []
    assert client.post(f"{index}/query", json={"text": OTHER}).json()["matches"][0]["id"] == "x"


def test_many_documents_are_answered_in_order(client, index):
    some = texts(40)
    documents = [{"id": f"d{n}", "text": text} for n, text in enumerate(some)]
    documents[5:5] = [{"id": "copy", "text": some[3]}]
    found = client.post(f"{index}/check", json={"documents": documents}).json()["results"]
    assert [row["id"] for row in found] == [each["id"] for each in documents]
    assert [row["id"] for row in found if not row["is_new"]] == ["copy"]
    assert found[5]["match"]["id"] == "d3"
    asked = {"documents": [{"text": some[9]}, {"id": 8, "text": OTHER}, {"text": some[2]}]}
    found = client.post(f"{index}/query", json=asked).json()["results"]
    assert [row["id"] for row in found] == [None, 8, None]
    assert [[match["id"] for match in row["matches"]] for row in found] == [["d9"], [], ["d2"]]


def test_errors_of_single_documents_concern_only_these(client, index):
    documents = [{"id": 1, "text": LONG}, {"id": 2}, {"text": OTHER}, {"id": 4, "text": OTHER}]
    answer = client.post(f"{index}/documents", json={"documents": documents}).json()
    assert answer["stored"] == 2
    assert [row.get("stored") for row in answer["results"]] == [True, None, None, True]
    assert [row["id"] for row in answer["results"]] == [1, 2, None, 4]
    assert "id" in answer["results"][2]["error"]["detail"]
    assert client.get(index).json()["documents"] == 2
    checked = client.post(f"{index}/check", json={"documents": documents}).json()["results"]
    assert ["error" in row for row in checked] == [False, True, False, False]


def test_no_documents(client, index):
    for path, expected in (
        ("check", {"results": []}),
        ("query", {"results": []}),
        ("documents", {"results": [], "stored": 0}),
    ):
        answer = client.post(f"{index}/{path}", json={"documents": []})
        assert (answer.status_code, answer.json()) == (200, expected)


@pytest.mark.parametrize("id", IDS, ids=lambda id: ascii(id)[:20])
def test_ids(client, index, id):
    """They come back as they were, in answers, as matches, and by their own path."""
    text = texts(1)[0]
    stored = client.post(f"{index}/documents", json={"id": id, "text": text})
    assert stored.json() == {"id": id, "stored": True}
    found = client.post(f"{index}/query", json={"text": text}).json()["matches"]
    assert [match["id"] for match in found] == [id]
    assert type(found[0]["id"]) is type(id)
    got = client.get(path_of(index, id))
    assert (got.status_code, got.json()["id"]) == (200, id)
    assert client.delete(path_of(index, id)).json() == {"id": id, "deleted": True}
    assert client.get(path_of(index, id)).status_code == 404
    assert client.get(index).json()["documents"] == 0


@pytest.mark.parametrize("id", ["", ".", ".."], ids=ascii)
def test_ids_that_no_path_can_name(client, index, id):
    """They can be stored, found and deleted all the same."""
    client.post(f"{index}/documents", json={"id": id, "text": LONG}).raise_for_status()
    found = client.post(f"{index}/query", json={"text": LONG}).json()["matches"]
    assert [match["id"] for match in found] == [id]
    assert client.post(f"{index}/documents/delete", json={"ids": [id]}).json() == {"deleted": 1}


def test_a_line_feed_makes_another_id(client, index):
    """What is deleted is what was named, and nothing that is spelt alike."""
    client.post(f"{index}/documents", json={"id": "a", "text": LONG})
    for method in ("GET", "DELETE"):
        assert client.request(method, f"{index}/documents/a%0A").status_code == 404
    assert client.get(f"{index}/documents/a").status_code == 200


def test_numbers_and_strings_are_different_ids(client, index):
    client.post(f"{index}/documents", json={"id": 17, "text": LONG})
    assert client.get(f"{index}/documents/17").json()["id"] == 17
    client.post(f"{index}/documents", json={"id": "17", "text": OTHER})
    assert client.get(index).json()["documents"] == 2
    assert client.get(f"{index}/documents/17").json()["id"] == "17"  # the string if there is one
    for spelt in ("017", "+17", "17.0", " 17", "１７"):
        assert client.get(path_of(index, spelt)).status_code == 404
    assert client.delete(f"{index}/documents/17").json()["id"] == "17"
    assert client.delete(f"{index}/documents/17").json()["id"] == 17
    assert client.delete(f"{index}/documents/17").status_code == 404


@pytest.mark.parametrize("way", ["json", "many", "lines", "check", "check lines"])
def test_metadata_come_back_as_they_were(client, index, way):
    some = texts(len(METADATA), seed=1)
    rows = [{"id": n, "text": text, "metadata": METADATA[n]} for n, text in enumerate(some)]
    # In the lines of one portion, metadata of every kind stand beside each other.
    if way == "json":
        for row in rows:
            assert client.post(f"{index}/documents", json=row).status_code == 200
    elif way == "many":
        client.post(f"{index}/documents", json={"documents": rows}).raise_for_status()
    elif way == "check":
        client.post(f"{index}/check", json={"documents": rows}).raise_for_status()
    else:
        path = "check" if way == "check lines" else "documents"
        lines_of(client.post(f"{index}/{path}", content=ndjson(rows), headers=NDJSON))
    found = client.post(f"{index}/query", json={"documents": [{"text": text} for text in some]})
    for number, row in enumerate(found.json()["results"]):
        (match,) = row["matches"]
        assert match["metadata"] == METADATA[number]
        assert type(match["metadata"]) is type(METADATA[number])
        stored = client.get(f"{index}/documents/{number}").json()["metadata"]
        assert stored == METADATA[number]


@pytest.mark.parametrize("metadata", METADATA, ids=lambda value: ascii(value)[:25])
def test_metadata_of_one_kind_by_lines(client, index, metadata):
    """A portion whose metadata are all of one kind is read by another way than a mixed one."""
    some = texts(3, seed=2)
    rows = [{"id": f"d{n}", "text": text, "metadata": metadata} for n, text in enumerate(some)]
    lines_of(client.post(f"{index}/documents", content=ndjson(rows), headers=NDJSON))
    for row in rows:
        found = client.get(f"{index}/documents/{row['id']}").json()["metadata"]
        assert found == metadata
        assert type(found) is type(metadata)


@pytest.mark.parametrize(
    "text",
    [
        "这是一个关于近似重复检测的中文句子，用来测试索引是否能够正确地处理没有空格的语言。",
        "هذا نص عربي طويل بما يكفي لاختبار الفهرس والبحث عن النصوص المتشابهة في الخدمة",
        "😀 so many 😃 smiling 😄 faces 😁 between 😆 the 😅 words 😂 of 🤣 this 😊 text",
        "एक हिन्दी वाक्य जो परीक्षण के लिए लिखा गया है और जिसमें बहुत से शब्द हैं",
        "line\nfeeds and\ttabs and \x00 zeros \x1f in the middle of one text of words",
        "surrogates written as escapes: \U0001f600 \U0001f680 \U0001d11e and more of them",
    ],
    ids=["Chinese", "Arabic", "emoji", "Hindi", "control", "astral"],
)
def test_scripts(client, text):
    index = make_index(client, store_text=True)
    client.post(f"{index}/documents", json={"id": 1, "text": text}).raise_for_status()
    lines_of(
        client.post(f"{index}/documents", content=ndjson([{"id": 2, "text": text}]), headers=NDJSON)
    )
    for id in (1, 2):
        assert client.get(f"{index}/documents/{id}").json()["text"] == text
    found = client.post(f"{index}/query", json={"text": text}).json()["matches"]
    assert [(match["id"], match["similarity"]) for match in found] == [(1, 1.0), (2, 1.0)]


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_empty_texts(client, index, text):
    """Stored and told, but near nothing; they have no fingerprint."""
    stored = client.post(f"{index}/check", json={"id": "e", "text": text}).json()
    assert (stored["is_new"], stored["added"]) == (True, True)
    again = client.post(f"{index}/check", json={"id": "f", "text": text}).json()
    assert again["match"] is None
    got = client.get(f"{index}/documents/e").json()
    assert (got["fingerprint"], got["words"]) == (None, 0)
    assert client.post(f"{index}/query", json={"text": text}).json() == {"id": None, "matches": []}


def test_a_stored_document(client):
    index = make_index(client, store_text=True, ttl="30d")
    before = time.time()
    client.post(f"{index}/check", json={"id": 1, "text": LONG, "metadata": {"url": "x"}})
    client.post(f"{index}/check", json={"id": 2, "text": NEAR})
    found = client.get(f"{index}/documents/1").json()
    assert list(found) == [
        *("id", "fingerprint", "words", "metadata", "text", "seen", "expires"),
    ]
    assert len(found["fingerprint"]) == 16
    made = client.post("/v1/fingerprint", json={"texts": [LONG]}).json()
    assert found["fingerprint"] == made["fingerprints"][0]
    assert found["words"] == made["words"][0] == len(LONG.split())
    assert (found["metadata"], found["text"]) == ({"url": "x"}, LONG)
    assert found["seen"]["times"] == 2
    assert before - 5 <= found["seen"]["first"] <= found["seen"]["last"] <= time.time() + 5
    assert found["expires"] - found["seen"]["last"] == pytest.approx(30 * 86400, abs=5)


def test_documents_expire(client, index):
    for path, id in (("check", 1), ("documents", 2)):
        rows = {"id": id, "text": texts(3)[id]}
        client.post(f"{index}/{path}?ttl=1s", json=rows).raise_for_status()
    client.post(f"{index}/documents", json={"id": 3, "text": OTHER})
    asked = {"documents": [{"text": text} for text in (*texts(3)[1:], OTHER)]}

    def matches() -> list[int]:
        rows = client.post(f"{index}/query", json=asked).json()["results"]
        return [len(row["matches"]) for row in rows]

    until(lambda: matches() == [0, 0, 1], "the end of two documents")
    again = client.post(f"{index}/check", json={"id": 4, "text": texts(3)[1]}).json()
    assert again["is_new"]
    expired = client.post(f"{index}/expire").json()
    assert expired == {"removed": 2, "documents": 2}


def test_delete_many(client, index):
    documents = [
        {"id": id, "text": text} for id, text in zip([1, 2, "a", "b"], texts(4), strict=True)
    ]
    client.post(f"{index}/documents", json={"documents": documents})
    answer = client.post(f"{index}/documents/delete", json={"ids": [1, "b", "none", 1, 99]})
    assert answer.json() == {"deleted": 2}
    assert client.post(f"{index}/documents/delete", json={"ids": []}).json() == {"deleted": 0}
    left = client.post(f"{index}/query", json={"documents": [{"text": t} for t in texts(4)]}).json()
    assert [[m["id"] for m in row["matches"]] for row in left["results"]] == [[], [2], ["a"], []]


def test_terms(client):
    index = make_index(client, features="terms", weights="given")
    one = {"id": 1, "terms": ["a", "b", "c"], "weights": [1.0, 2.0, 3.0]}
    assert client.post(f"{index}/check", json=one).json()["is_new"]
    near = {"id": 2, "terms": ["a", "b", "c"], "weights": [1.0, 2.0, 3.1]}
    found = client.post(f"{index}/check", json=near).json()
    assert found["match"]["id"] == 1
    assert 0.99 < found["match"]["similarity"] < 1
    lines = lines_of(client.post(f"{index}/check", content=ndjson([near, one]), headers=NDJSON))
    assert [line["match"]["id"] for line in lines[:1]] == [1]
    other = {"terms": ["x", "y"], "weights": [1, 1]}
    assert client.post(f"{index}/query", json=other).json()["matches"] == []


def test_records(client):
    index = make_index(client, text="name+city", features="char:3", threshold=0.6)
    rows = [
        {"id": 1, "name": "Margaret Hamilton", "city": "Paoli", "metadata": {"born": 1936}},
        {"id": 2, "name": "Grace Hopper", "city": "New York"},
    ]
    lines = lines_of(client.post(f"{index}/documents", content=ndjson(rows), headers=NDJSON))
    assert [line["stored"] for line in lines] == [True, True]
    asked = {"name": "Margaret Hamiltom", "city": "Paoli"}
    (match,) = client.post(f"{index}/query", json=asked).json()["matches"]
    assert (match["id"], match["metadata"]) == (1, {"born": 1936})
    nothing = client.post(f"{index}/query", json={"nom": "x"})
    assert (nothing.status_code, nothing.json()["code"]) == (422, "invalid_document")


def test_an_index_by_distance(client):
    index = make_index(client, max_distance=3, bits=64)
    client.post(f"{index}/check", json={"id": 1, "text": LONG})
    same = client.post(f"{index}/check", json={"id": 2, "text": LONG}).json()
    assert (same["match"]["id"], same["match"]["distance"], same["is_new"]) == (1, 0, False)
    assert same["match"]["similarity"] is None
    far = client.post(f"{index}/check", json={"id": 3, "text": OTHER}).json()
    assert far["is_new"]
    asked = client.post(f"{index}/query?max_distance=0", json={"text": LONG}).json()
    assert [match["distance"] for match in asked["matches"]] == [0]


def test_two_checks_of_one_text_at_once_are_never_both_new(client, server, index):
    """Over many connections, which both workers serve."""
    some = texts(40, seed=3)
    together = threading.Barrier(8)

    def check(number: int) -> list[bool]:
        found = []
        with httpx.Client(base_url=server.url, timeout=60) as own:
            for text in some:
                together.wait()
                answer = own.post(f"{index}/check", json={"text": text})
                found.append(answer.json()["is_new"])
        return found

    with ThreadPoolExecutor(8) as pool:
        verdicts = list(pool.map(check, range(8)))
    assert [sum(column) for column in zip(*verdicts, strict=True)] == [1] * len(some)
    assert client.get(index).json()["documents"] == len(some)


def test_both_workers_see_what_was_added(server, index):
    """What is acknowledged is there for every later request, whichever worker serves it."""
    clients = [httpx.Client(base_url=server.url, timeout=60) for _ in range(8)]
    try:
        for number, text in enumerate(texts(20, seed=4)):
            clients[0].post(f"{index}/documents", json={"id": number, "text": text})
            for other in clients:
                found = other.post(f"{index}/query", json={"text": text}).json()["matches"]
                assert [match["id"] for match in found] == [number]
    finally:
        for each in clients:
            each.close()


def test_unknown_keys_of_a_document_are_ignored(client, index):
    answer = client.post(f"{index}/check", json={"id": 1, "text": LONG, "url": "x", "n": [1]})
    assert answer.json()["is_new"]
