"""Passages of whole collections, beside plain counting."""

import json
from collections import defaultdict

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import neardup as nd
from neardup.kernels.reference import passages as twin
from neardup.parts.cutting import put_back

WORDS = {
    "English": ["alpha", "Beta", "gamma", "delta", "epsilon"],
    "Chinese": list("春眠不觉晓处"),
    "Arabic": ["مرحبا", "بالعالم", "كتاب", "بيت"],
    "Thai": ["ไป", "มา", "บ้าน", "เรา"],
    "emoji": ["🙂", "🎉", "🚀", "x"],
}
ENDS = {"Chinese": "。", "Arabic": "؟"}
UNITS = ["line", "paragraph", "sentence", "window:10"]


@st.composite
def collections(draw):
    """Documents that share passages, in one of several scripts."""
    script = draw(st.sampled_from(sorted(WORDS)))
    gap = "" if script in ("Chinese", "Thai") else " "
    word = st.sampled_from(WORDS[script])
    sentence = st.lists(word, min_size=1, max_size=9).map(gap.join)
    sentence = sentence.map(lambda one: one + ENDS.get(script, "."))
    pool = draw(st.lists(sentence, min_size=1, max_size=6))
    separators = st.sampled_from(["\n\n", "\n", " ", "\r\n\r\n"])
    document = st.lists(st.tuples(st.sampled_from(pool), separators), max_size=6)
    documents = draw(st.lists(document, max_size=6))
    return ["".join(part + gap for part, gap in one) for one in documents]


def cut(text, unit):
    if not unit.startswith("window"):
        return twin.cut_passages(text, unit)
    from neardup.kernels.columns import text_column
    from neardup.kernels.passages import cut_passages

    size = int(unit.partition(":")[2])
    return cut_passages(text_column([text]), unit="sentence", window=size).texts.to_pylist()


def counted(texts, unit, least):
    """Plain counting: the documents and occurrences of each passage, by its words."""
    found = defaultdict(list)
    for number, text in enumerate(texts):
        at = 0
        for passage in cut(text, unit):
            words = twin.words_of(passage)
            if len(words) >= least:
                found[words].append((number, at, at + len(passage)))
            at += len(passage)
    return {words: some for words, some in found.items() if len({one[0] for one in some}) > 1}


@pytest.mark.parametrize("unit", UNITS)
@settings(max_examples=60)
@given(collections(), st.integers(1, 4))
def test_copies_are_those_of_plain_counting(unit, texts, least):
    result = nd.passages(texts, unit=unit, threshold=1, min_words=least)
    expected = counted(texts, unit, least)
    found = defaultdict(list)
    for row in result.passages.to_pylist():
        found[row["family"]].append((row["document"], row["start"], row["end"]))
    assert sorted(map(sorted, found.values())) == sorted(expected.values())
    for row in result.families.to_pylist():
        occurrences = found[row["family"]]
        words = twin.words_of(row["text"])
        assert occurrences == expected[words]
        assert row["words"] == len(words)
        assert row["documents"] == len({document for document, *_ in occurrences})
        assert row["passages"] == len(occurrences)
        assert (row["document"], row["start"], row["end"]) == occurrences[0]
        source = row["document"]
        sizes = [len(texts[d][a:b].encode()) for d, a, b in occurrences if d != source]
        assert row["repeated_bytes"] == sum(sizes)


def shingles(words):
    if len(words) < 3:
        return {words}
    return {words[i : i + 3] for i in range(len(words) - 2)}


def jaccard(a, b):
    return len(a & b) / len(a | b)


@settings(max_examples=80)
@given(collections(), st.sampled_from([0.5, 0.7, 0.9]))
def test_families_of_near_passages_are_stars_and_complete(texts, threshold):
    result = nd.passages(texts, unit="sentence", threshold=threshold, min_words=1)
    sets, where = {}, defaultdict(list)
    for number, text in enumerate(texts):
        at = 0
        for passage in cut(text, "sentence"):
            words = twin.words_of(passage)
            if words:
                sets.setdefault(words, shingles(words))
                where[words].append((number, at))
            at += len(passage)
    sources, family = [], {}
    for words, features in sets.items():  # in the order of their first occurrence
        best = max((jaccard(features, sets[one]) for one in sources), default=0)
        if best >= threshold:
            family[words] = {one for one in sources if jaccard(features, sets[one]) == best}
        else:
            sources.append(words)
            family[words] = {words}
    found = defaultdict(set)
    for row in result.passages.to_pylist():
        found[row["family"]].add((row["document"], row["start"]))
    listed = set()
    for row in result.families.to_pylist():
        source = twin.words_of(row["text"])
        assert source in sources
        members = [words for words, near in family.items() if source in near]
        possible = {place for words in members for place in where[words]}
        sure = {
            place for words, near in family.items() if near == {source} for place in where[words]
        }
        assert sure <= found[row["family"]] <= possible
        assert row["documents"] == len({document for document, _ in found[row["family"]]}) > 1
        listed |= found[row["family"]]
    # Nothing is missed: what is not listed is alone, or in one document.
    for words in sources:
        certain = [w for w, near in family.items() if near == {words}]
        places = {place for one in certain for place in where[one]}
        if len({document for document, _ in places}) > 1:
            assert places <= listed


REMOVALS = ["all-but-first", "all", "boilerplate:2", "boilerplate:3"]


@pytest.mark.parametrize("unit", UNITS)
@settings(max_examples=40)
@given(collections(), st.sampled_from(REMOVALS), st.sampled_from([0.6, 0.9, 1]))
def test_what_is_kept_and_what_was_removed_are_the_original(unit, texts, remove, threshold):
    result = nd.passages(texts, unit=unit, remove=remove, threshold=threshold, min_words=2)
    kept = result.kept["text"].to_pylist() if texts else []
    assert len(kept) == len(texts)  # empty ones, too
    parts, byte_parts = defaultdict(list), defaultdict(list)
    families = {row["family"]: row for row in result.families.to_pylist()}
    for row in result.passages.to_pylist():
        text = texts[row["document"]]
        own = text[row["start"] : row["end"]]
        assert own == text.encode()[row["start_byte"] : row["end_byte"]].decode()
        source = families[row["family"]]
        assert [row["source"], row["source_start"], row["source_end"]] == [
            source[name] for name in ("document", "start", "end")
        ]
        stays = {
            "all-but-first": row["document"] == row["source"],
            "all": False,
            "boilerplate:2": False,
            "boilerplate:3": source["documents"] < 3,
        }
        assert row["kept"] == stays[remove]
        if not row["kept"]:
            assert row["text"] == own
            parts[row["document"]].append((row["start"], own))
            byte_parts[row["document"]].append((row["start_byte"], own.encode()))
    for number, text in enumerate(texts):
        assert put_back(kept[number], parts[number]) == text
        left = kept[number].encode()
        for start, part in sorted(byte_parts[number]):
            left = left[:start] + part + left[start:]
        assert left == text.encode()
        # No passage is left in part.
        whole = cut(text, unit)
        gone = {start for start, _ in parts[number]}
        at, expected = 0, ""
        for passage in whole:
            expected += "" if at in gone else passage
            at += len(passage)
        assert kept[number] == expected


@settings(max_examples=30)
@given(collections(), st.sampled_from(UNITS), st.sampled_from([0.7, 1]))
def test_little_memory_and_many_threads_change_nothing(texts, unit, threshold):
    texts = texts * 3
    more = {"unit": unit, "threshold": threshold, "min_words": 1, "remove": "all-but-first"}
    one = nd.passages(texts, threads=1, **more)
    other = nd.passages(texts, threads=3, memory=1, **more)
    assert one.families == other.families
    assert one.passages == other.passages
    assert one.kept == other.kept


@settings(max_examples=30)
@given(collections(), st.data())
def test_a_scope_is_compared_within_itself(texts, data):
    groups = [data.draw(st.sampled_from(["a", "b", None])) for _ in texts]
    table = pa.table({"text": pa.array(texts, pa.string()), "site": pa.array(groups, pa.string())})
    more = {"unit": "sentence", "threshold": 0.7, "min_words": 1}
    result = nd.passages(table, scope="site", **more)
    found = {
        (row["document"], row["start"], row["source"], row["source_start"])
        for row in result.passages.to_pylist()
    }
    expected = set()
    for name in ("a", "b", None):
        own = [number for number, group in enumerate(groups) if group == name]
        alone = nd.passages([texts[number] for number in own], **more)
        for row in alone.passages.to_pylist():
            source = own[row["source"]]
            expected.add((own[row["document"]], row["start"], source, row["source_start"]))
    assert found == expected


NOTICE = "You may use this notice for whatever purpose you can think of."


def test_a_keep_policy_chooses_the_document_that_keeps_a_passage():
    texts = [f"{NOTICE}\n\nShort.", f"Here is some more text than there.\n\n{NOTICE}", NOTICE]
    table = pa.table({"text": texts, "date": [2, 1, 3]})
    for keep, expected in (("first", 0), ("longest", 1), ("shortest", 2), ("max:date", 2)):
        result = nd.passages(table, keep=keep, remove="all-but-first")
        rows = result.passages.to_pylist()
        assert [row["document"] for row in rows if row["kept"]] == [expected]
        assert {row["source"] for row in rows} == {expected}
        start = texts[expected].index(NOTICE)
        assert {row["source_start"] for row in rows} == {start}
    with pytest.raises(nd.SettingError, match="say with remove"):
        nd.passages(table, keep="none")


def test_a_passage_may_occur_again_in_the_document_that_keeps_it():
    refrain = "And so we sing it over and over again.\n\n"
    result = nd.passages([refrain + "One.\n\n" + refrain, refrain], remove="all-but-first")
    assert result.kept["text"].to_pylist() == [refrain + "One.\n\n" + refrain, ""]
    assert result.summary["emptied_documents"] == 1
    assert nd.passages([refrain * 3]).families.num_rows == 0


def test_near_passages_are_one_family():
    words = [f"word{number}" for number in range(100)]
    first, second = " ".join(words), " ".join([*words[:-1], "other"])
    assert nd.passages([first, second]).families["documents"].to_pylist() == [2]
    assert nd.passages([first, second], threshold=1).families.num_rows == 0


def test_small_differences_do_not_hide_a_copy():
    other = NOTICE.upper().replace(" ", " \t ").replace(".", "!")
    assert nd.passages([NOTICE, other], threshold=1).families["documents"].to_pylist() == [2]


def test_domains_are_hosts_of_addresses_or_folders(tmp_path):
    table = pa.table(
        {
            "text": [NOTICE] * 4,
            "url": ["https://www.A.org/x", "http://a.org/y", "https://b.net:80/", None],
        }
    )
    row = nd.passages(table).families.to_pylist()[0]
    assert (row["domains"], row["top_domains"]) == (3, ["a.org", "b.net", ""])
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for number in range(2):
            (tmp_path / folder / f"{number}.txt").write_text(NOTICE)
    row = nd.passages(str(tmp_path)).families.to_pylist()[0]
    assert (row["documents"], row["domains"]) == (4, 2)


def test_nothing_to_find():
    for texts in ([], [""], ["One document alone, with some words."], ["", " \n"]):
        result = nd.passages(texts, remove="all")
        assert result.families.num_rows == 0
        assert result.summary["removed_passages"] == 0


def test_a_folder_without_anything_has_all_files(tmp_path):
    import pyarrow.parquet as pq

    nd.passages([]).save(tmp_path / "out")
    found = nd.passages(["", "One document alone."]).passages.schema
    for name in ("families", "passages"):
        assert pq.read_table(tmp_path / "out" / f"{name}.parquet").num_rows == 0
    assert pq.read_schema(tmp_path / "out/passages.parquet").names == found.names


def test_settings_are_checked():
    for wrong in (
        {"unit": "page"},
        {"unit": "window:3"},
        {"unit": "line:2"},
        {"threshold": 0},
        {"threshold": 1.1},
        {"remove": "some"},
        {"remove": "boilerplate"},
        {"remove": "boilerplate:1"},
        {"min_words": 0},
        {"text": "a+b"},
    ):
        with pytest.raises(nd.SettingError):
            nd.passages(["text"], **wrong)
    with pytest.raises(nd.InputError, match="no such column"):
        nd.passages(["text"], scope="site")
    with pytest.raises(nd.SettingError, match="did you mean 'threshold'"):
        nd.passages(["text"], treshold=1)  # type: ignore[call-arg]


def test_a_saved_folder_has_it_all(tmp_path):
    lines = [{"id": f"d{n}", "text": f"Text {n}.\n\n{NOTICE}", "n": n} for n in range(3)]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = nd.passages(str(path), remove="all-but-first")
    summary = result.save(tmp_path / "out", format="jsonl")
    kept = [json.loads(line) for line in (tmp_path / "out/kept.jsonl").read_text().splitlines()]
    assert kept == [lines[0], *({**line, "text": f"Text {line['n']}.\n\n"} for line in lines[1:])]
    assert summary["removed_passages"] == 2
    assert json.loads((tmp_path / "out/summary.json").read_text()) == summary
    import pyarrow.parquet as pq

    assert pq.read_table(tmp_path / "out/families.parquet") == result.families
    assert pq.read_table(tmp_path / "out/passages.parquet") == result.passages
    assert "You may use this notice" in (tmp_path / "out/report.html").read_text()
    with pytest.raises(nd.NeardupError, match="there already"):
        result.save(tmp_path / "out")


def test_rows_whose_types_show_late_are_all_written(tmp_path):
    rows: list[dict] = [{"text": f"{NOTICE}\n\nNumber {n}."} for n in range(20_000)]
    rows[-1] = {"text": NOTICE, "late": 1.5}
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    nd.passages(str(path), remove="all").save(tmp_path / "out")
    import pyarrow.parquet as pq

    kept = pq.read_table(tmp_path / "out/kept.parquet")
    expected = [row["text"].removeprefix(NOTICE).lstrip() for row in rows]
    assert kept["text"].to_pylist() == expected
    assert kept["late"].to_pylist() == [None] * (len(rows) - 1) + [1.5]
    assert pq.read_metadata(tmp_path / "out/passages.parquet").num_rows == len(rows)


def test_an_index_is_refused(tmp_path):
    nd.Index(tmp_path / "seen.index").close()
    for ask in (nd.passages, lambda path: nd.contamination(path, ["one item"])):
        with pytest.raises(nd.InputError, match="is an index"):
            ask(str(tmp_path / "seen.index"))
