"""Idf tables: what they count, damage to their files, and bounded memory."""

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import neardup as nd
from neardup.errors import InputError, SettingError
from neardup.features.hashed import text_features
from neardup.features.idf import IdfCounter, IdfTable
from neardup.features.spec import FeatureSpec, TextColumn
from neardup.kernels.reference import text as reference

WORD = FeatureSpec.parse("word:1")
TEXTS = ["the cat sat", "the dog sat", "the end", "", "..."]


def counted(texts, spec=WORD, limit=1000):
    counter = IdfCounter(str(spec), limit)
    for text in texts:
        found = text_features([TextColumn(pa.array([text], pa.large_string()))], spec)
        counter.add(found.offsets, found.hashes)
    return counter.table()


def idf_of(table, words, how="tfidf"):
    hashes = np.array([reference.feature_hash([word]) for word in words], np.uint64)
    return table.idf(hashes, how).tolist()


def test_the_idf_of_words():
    table = counted(TEXTS)
    assert (table.documents, len(table)) == (3, 2)
    expected = [math.log(1 + 3 / n) for n in (3, 2, 1, 1)]
    assert idf_of(table, ["the", "sat", "cat", "unseen"]) == expected
    lab = [math.log2(3 / n) for n in (3, 2, 1, 1)]
    assert idf_of(table, ["the", "sat", "cat", "unseen"], "tfidf:lab") == lab


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6).map(" ".join), max_size=12))
def test_frequencies_are_those_of_a_plain_count(texts):
    table = counted(texts)
    documents = [set(text.split()) for text in texts if text]
    frequencies = Counter(word for document in documents for word in document)
    assert table.documents == len(documents)
    found = idf_of(table, "abcdefgh")
    wanted = [math.log(1 + len(documents) / max(1, frequencies[word])) for word in "abcdefgh"]
    assert found == wanted


def test_the_order_and_the_batches_do_not_matter():
    table = counted(TEXTS)
    assert counted(TEXTS[::-1]).content == table.content
    counter = IdfCounter("word:1")
    found = text_features([TextColumn(pa.array(TEXTS))], WORD)
    counter.add(found.offsets, found.hashes)
    assert counter.table().content == table.content


def test_content_tells_tables_apart():
    tables = [counted(TEXTS), counted(TEXTS[:2]), counted([*TEXTS, "more"])]
    tables.append(counted(TEXTS, FeatureSpec.parse("char:1")))
    assert len({table.content for table in tables}) == len(tables)


def test_too_many_features_are_counted_in_bounded_room():
    counter = IdfCounter("word:1", limit=5000)
    rng = np.random.default_rng(0)
    common = rng.integers(0, 2**64, 50, dtype=np.uint64)
    for _ in range(2000):
        rare = rng.integers(0, 2**64, 20, dtype=np.uint64)
        features = np.concatenate((common, rare))
        counter.add(np.array([0, len(features)]), features)
    table = counter.table()
    assert table.forgotten >= 1
    assert len(table) < 5000
    frequencies = dict(zip(table.hashes.tolist(), table.counts.tolist(), strict=True))
    assert all(2000 - table.forgotten <= frequencies[h] <= 2000 for h in common.tolist())


def test_a_table_is_read_back(tmp_path):
    table = counted(TEXTS)
    table.save(tmp_path / "idf.parquet")
    again = IdfTable.load(tmp_path / "idf.parquet")
    assert (again.content, again.documents, again.features) == (table.content, 3, "word:1")
    assert idf_of(again, ["the", "cat"]) == idf_of(table, ["the", "cat"])
    assert "2 features of 3 documents" in repr(again)


def test_files_that_are_no_tables_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        IdfTable.load(tmp_path / "missing.parquet")
    (tmp_path / "text").write_text("not a table")
    with pytest.raises(InputError, match="cannot be read as an idf table"):
        IdfTable.load(tmp_path / "text")
    nd.fingerprint(["a"]).save(tmp_path / "fps.parquet")
    with pytest.raises(InputError, match="neardup fingerprints 1, not neardup idf 1"):
        IdfTable.load(tmp_path / "fps.parquet")


def test_a_table_that_was_changed_is_refused(tmp_path):
    path = tmp_path / "idf.parquet"
    counted(TEXTS).save(path)
    table = pq.read_table(path)
    columns = {"feature": table["feature"], "documents": pa.array([9, 9], pa.uint32())}
    pq.write_table(pa.table(columns).replace_schema_metadata(table.schema.metadata), path)
    with pytest.raises(InputError, match="damaged"):
        IdfTable.load(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match="cannot be read as an idf table"):
        IdfTable.load(path)


def test_a_table_of_other_features_is_refused():
    with pytest.raises(SettingError, match=r"counts word:1, not word:3"):
        nd.fingerprint(["a"], "word:3", "tfidf", idf=counted(TEXTS))
    with pytest.raises(SettingError, match="does not use one"):
        nd.fingerprint(["a"], idf=counted(TEXTS))
