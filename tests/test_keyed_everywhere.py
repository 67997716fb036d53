"""A keyed hash wherever one is accepted: the same results, and no trace of the key."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.cli.forked import neardup

import neardup as nd
from neardup.errors import SchemeMismatchError, SettingError
from neardup.hashes.keyed import KeyedNd1

SECRET = bytes.fromhex("7c1f09b2a3d4e5f60718293a4b5c6d7e")
OTHER = bytes.fromhex("00112233445566778899aabbccddeeff")
SAMPLE = Path(__file__).parents[1] / "examples/sample.jsonl"
ROWS = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
TEXTS = [row["text"] for row in ROWS if row.get("text")]


@pytest.fixture(scope="module")
def keyed():
    return nd.keyed("everywhere", SECRET)


def found(**settings):
    """Pairs with their similarity, in any order."""
    pairs = nd.dedup(TEXTS, threads=1, **settings).pairs
    table = pairs.to_pydict() if isinstance(pairs, pa.Table) else dict(pairs)
    columns = [table[name] for name in ("a", "b", "similarity")]
    return sorted(
        (a, b, None if s is None else round(s, 9)) for a, b, s in zip(*columns, strict=True)
    )


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"features": "char:4", "weights": "count"},
        {"features": "word:1+word:3"},
        {"features": "sentences:3"},
        {"features": "edges"},
        {"features": "word:1", "weights": "tfidf"},
        {"features": "word:1", "weights": "idf"},
        {"features": "word:1", "weights": "tfidf:lab", "similarity": "cosine"},
        {"features": "keywords:10"},
    ],
    ids=str,
)
def test_the_exact_join_finds_the_same_pairs(settings, keyed):
    plain = found(**settings, candidates="exact")
    assert plain
    assert found(**settings, candidates="exact", hash=keyed) == plain


def test_records_and_given_terms(keyed):
    records = [{"name": f"Anna {i % 5} Maier", "city": "Ulm am See"} for i in range(20)]
    terms = [{"cat": 2.0, f"dog{i % 3}": 1.0} for i in range(9)]
    for documents, settings in (
        (records, {"text": "name*2+city", "features": "char:3"}),
        (terms, {"features": "terms"}),
    ):
        plain = nd.fingerprint(documents, **settings)
        secret = nd.fingerprint(documents, **settings, hash=keyed)
        same = plain.array == plain.array.T
        assert np.array_equal(secret.array == secret.array.T, same)
        assert not np.array_equal(secret.array, plain.array)


def test_an_idf_table_belongs_to_its_key(keyed):
    own, plain = nd.idf(TEXTS, hash=keyed), nd.idf(TEXTS)
    assert sorted(own.counts) == sorted(plain.counts)
    weighted = {"features": "word:1", "weights": "tfidf"}
    assert nd.fingerprint(TEXTS, **weighted, hash=keyed, idf=own) == nd.fingerprint(
        TEXTS, **weighted, hash=keyed
    )
    for table, family in ((plain, keyed), (own, "nd1"), (own, KeyedNd1("everywhere", OTHER))):
        with pytest.raises(SettingError, match="the idf table counts"):
            nd.fingerprint(TEXTS, **weighted, hash=family, idf=table)


def test_wide_fingerprints_begin_with_narrow_ones(keyed):
    narrow = nd.fingerprint(TEXTS, bits=64, hash=keyed)
    wide = nd.fingerprint(TEXTS, bits=512, hash=keyed)
    assert np.array_equal(wide.array[:, :1], narrow.array)


def test_an_index_keeps_the_name_and_wants_the_key(tmp_path, monkeypatch):
    monkeypatch.setenv("NEARDUP_KEY_SEEN", SECRET.hex())
    path = tmp_path / "seen.index"
    with nd.Index(path, hash="nd1:seen", store_features=True) as index:
        index.add_many(enumerate(TEXTS))
        name = index.scheme.hash
        found = index.query(TEXTS[0], threshold=0.8)
    with nd.MemoryIndex(store_features=True) as plain:
        plain.add_many(enumerate(TEXTS))
        expected = plain.query(TEXTS[0], threshold=0.8)
    assert [(m.id, m.similarity) for m in found][:1] == [(m.id, m.similarity) for m in expected][:1]
    with nd.Index(path) as again:
        assert again.query(TEXTS[0], limit=1)[0].distance == 0
    monkeypatch.setenv("NEARDUP_KEY_SEEN", OTHER.hex())
    for settings in ({}, {"hash": "nd1:seen"}):
        with pytest.raises(SchemeMismatchError, match=name):
            nd.Index(path, **settings)
    monkeypatch.delenv("NEARDUP_KEY_SEEN")
    with pytest.raises(SettingError, match=f"{name} needs its key"):
        nd.Index(path)
    with pytest.raises(SchemeMismatchError, match=name):
        nd.Index(path, hash="nd1")
    with nd.Index(path, hash=nd.keyed("seen", SECRET)) as index:
        assert len(index) == len(TEXTS)


def test_compare_sweep_tune_and_exact_pairs(keyed):
    both = nd.compare(TEXTS[0], TEXTS[0] + " indeed", hash=keyed)
    plain = nd.compare(TEXTS[0], TEXTS[0] + " indeed")
    assert (both.jaccard, both.cosine) == (plain.jaccard, plain.cosine)
    assert both.scheme.hash == keyed.name
    assert nd.compare(TEXTS[0], TEXTS[1], features="sentences:2", hash=keyed).scheme.is_keyed
    assert len(nd.sweep(TEXTS, bands=[4], band_bits=[16], hash=keyed).rows) > 0
    pairs = nd.exact_pairs(TEXTS, hash=keyed)
    assert pairs.sort_by([("a", "ascending"), ("b", "ascending")]).equals(
        nd.exact_pairs(TEXTS).sort_by([("a", "ascending"), ("b", "ascending")])
    )


def test_tuned_settings_name_the_key(keyed):
    tuning = nd.tune(TEXTS, hash=keyed)
    assert tuning.settings["hash"] == keyed.name
    assert f'hash = "{keyed.name}"' in tuning.to_toml()
    assert nd.dedup(TEXTS, **tuning.settings).pairs is not None


def run(folder, environment, *arguments):
    done = neardup(*arguments, cwd=folder, env=environment)
    return done.returncode, done.stdout + done.stderr


def test_no_command_leaves_a_trace_of_the_key(tmp_path):
    """Searches all written and printed bytes for the key and everything derived from it."""
    environment = {"NEARDUP_KEY_CRAWL": SECRET.hex()}
    shown, source = "", str(SAMPLE)
    for arguments in (
        ["dedup", source, "-o", "out", "--hash", "nd1:crawl"],
        ["fingerprint", source, "-o", "fp.parquet", "--hash", "nd1:crawl", "--bits", "128"],
        ["idf", source, "-o", "idf.parquet", "--hash", "nd1:crawl", "--json"],
        ["index", "create", "seen.index", "--hash", "nd1:crawl", "--store-features"],
        ["index", "add", "seen.index", source],
        ["index", "stats", "seen.index"],
        ["hashes", "nd1:crawl", "--json"],
    ):
        code, said = run(tmp_path, environment, *arguments)
        assert code == 0, said
        shown += said
    missing = ["dedup", "missing.jsonl", "-o", "x", "--hash", "nd1:crawl"]
    code, said = run(tmp_path, environment, *missing)
    assert code != 0
    shown += said
    key = KeyedNd1("crawl", SECRET).key
    secrets = [SECRET, SECRET.hex().encode(), SECRET.hex().upper().encode()]
    for word in key.words.tolist():
        secrets += [word.to_bytes(8, "little"), word.to_bytes(8, "big")]
        secrets += [str(word).encode(), f"{word:x}".encode()]
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 8
    for data in [shown.encode(), *(path.read_bytes() for path in written)]:
        assert not any(secret in data for secret in secrets)
    assert "nd1:crawl#" in shown
    # Stored fingerprints can be compared without the key, but not mixed with others.
    code, said = run(tmp_path, {}, "pairs", "fp.parquet", "-o", "p.parquet", "--max-distance", "3")
    assert code == 0, said
    code, said = run(tmp_path, {}, "index", "query", "seen.index", "fp.parquet")
    assert code == 2
    assert "needs its key: set NEARDUP_KEY_CRAWL" in said
    assert "Traceback" not in said
