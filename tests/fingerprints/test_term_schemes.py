"""Terms, hash families and the sphere, through the public interface."""

import zlib
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import neardup as nd
from neardup.features.spec import FeatureSpec, TextColumn
from neardup.features.terms import text_terms
from neardup.fingerprints import Scheme
from neardup.hashes import hash_family
from neardup.kernels.reference import text as reference

TEXTS = ["the quick brown fox jumps", "Привет, мир!", "", None, "東京タワー", "a b a b"]
DOCUMENTS = [{"bit": 0.4, "coin": 1.2}, {}, {"quantum": 2.0}]
LISTS = {"terms": [["bit", "coin"], [], ["quantum"]], "weights": [[0.4, 1.2], [], [2.0]]}
PAIRS = pa.list_(pa.struct([("term", pa.string()), ("weight", pa.float64())]))

SWAPPED = pa.list_(pa.struct([("weight", pa.float64()), ("term", pa.string())]))


def bits_of(fingerprints):
    return [f"{fingerprints[i]:0{fingerprints.bits}b}" for i in range(len(fingerprints))]


def test_the_golden_fingerprint_of_the_seeds():
    """Sums 1.6, -0.8, -0.8, 1.6."""
    found = nd.fingerprint([{"bit": 0.4, "coin": 1.2}], features="terms", hash="md5", bits=4)
    assert bits_of(found) == ["1001"]
    assert str(found.scheme) == "md5/terms/given/4"


@pytest.mark.parametrize(("tie", "wanted"), [(">0", "1001"), (">=0", "1111")])
def test_a_tie_goes_as_the_seeds_have_it(tie, wanted):
    found = nd.fingerprint([{"bit": 1, "coin": 1}], features="terms", hash="md5", bits=4, tie=tie)
    assert bits_of(found) == [wanted]


@pytest.mark.parametrize(
    "documents",
    [
        DOCUMENTS,
        iter(DOCUMENTS),
        [[("bit", 0.4), ("coin", 1.2)], None, [["quantum", 2.0]]],
        pa.array([list(d.items()) for d in DOCUMENTS], pa.map_(pa.string(), pa.float64())),
        pa.array([[{"term": t, "weight": w} for t, w in d.items()] for d in DOCUMENTS], PAIRS),
        pa.table(LISTS),
        pd.DataFrame(LISTS),
        pl.DataFrame(LISTS),
        pa.concat_tables([pa.table(LISTS)] * 2).slice(3),
        pa.array([[{"weight": w, "term": t} for t, w in d.items()] for d in DOCUMENTS], SWAPPED),
        pa.array([[*d.items()] or None for d in DOCUMENTS], pa.map_(pa.binary(), pa.float64())),
        pd.Series(DOCUMENTS),
    ],
    ids=lambda documents: type(documents).__name__,
)
def test_every_shape_of_terms_gives_the_same(documents):
    found = nd.fingerprint(documents, features="terms", hash="md5", bits=64)
    assert found.words.tolist() == [2, 0, 1]
    assert found.empty.tolist() == [False, True, False]
    assert found == nd.fingerprint(DOCUMENTS, features="terms", hash="md5", bits=64)


def test_terms_without_weights_count_once_for_each_time():
    lists = pa.array([[], ["a", "b", "a"]], pa.list_(pa.string())).slice(1)
    assert (
        nd.fingerprint(lists, features="terms")[0]
        == nd.fingerprint([{"a": 2, "b": 1}], features="terms")[0]
    )


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        ("bit coin", "one document"),
        ({"bit": 1}, "one document"),
        ([{"bit": "heavy"}], "documents 0 to 0"),
        ([{"bit": float("inf")}], "not finite"),
        ([{"bit": None}], "missing"),
        (["bit"], "document 0 is of type str"),
        (pa.array(["bit"]), "Arrow type string"),
        (pa.table({"words": [["bit"]]}), "no column 'terms'"),
        (pa.table({"terms": [["bit"]], "weights": [[1.0, 2.0]]}), "same number"),
        (pa.array([["bit", None]]), "null"),
        (3, "type int"),
        (pa.array([[1, 2]]), "Arrow type list<item: int64>"),
        (pa.array([[b"\xff"]]), "not UTF-8"),
        (pa.table({"terms": [["bit"]], "weights": [1.0]}), "weights are of Arrow type double"),
        (pa.array([[{"weight": 1.0, "term": "bit"}, None]], SWAPPED), "null"),
    ],
    ids=str,
)
def test_what_has_no_terms_is_refused_in_a_sentence(documents, said):
    with pytest.raises(nd.InputError, match=said) as caught:
        nd.fingerprint(documents, features="terms")
    assert "\n" not in str(caught.value)


def test_weights_of_terms():
    documents = [["a", "b", "a"], ["b", "a"]]
    by_set = nd.fingerprint(documents, features="terms", weights="set")
    by_count = nd.fingerprint(documents, features="terms", weights="count")
    assert by_set[0] == by_set[1]
    assert by_count[0] == nd.fingerprint([{"a": 2, "b": 1}], features="terms")[0]


@pytest.mark.parametrize("weights", ["set", "count"])
@pytest.mark.parametrize("features", ["word:1", "char:1"])
@given(text=st.text(max_size=80))
def test_nd1_hashes_terms_as_it_hashes_shingles(features, weights, text):
    """Of single units, whose hash as a term is their hash as a shingle."""
    scheme = Scheme.of(features, weights, 130)
    texts = pa.array([text])  # a list could be taken for the name of a file
    terms = text_terms([TextColumn(texts)], scheme.features)
    documents = [dict(zip(terms.vocabulary, terms.counts.tolist(), strict=True))]
    how = "given" if weights == "count" else "set"
    rows = nd.fingerprint(documents, "terms", how, 130).array
    assert rows.tolist() == nd.fingerprint(texts, features, weights, 130).array.tolist()


@pytest.mark.parametrize("spec", ["word:2", "char:3"])
@given(text=st.text(max_size=60))
def test_shingles_as_strings(spec, text):
    parsed = FeatureSpec.parse(spec)
    terms = text_terms([TextColumn(pa.array([text]))], parsed)
    unit, size = parsed.kinds[0].unit, parsed.kinds[0].size
    between = " " if unit == "word" else ""
    units = reference.units(text, unit) if reference.words(text) else []
    wanted = Counter(map(between.join, reference.shingles(units, size)))
    assert dict(zip(terms.vocabulary, terms.counts.tolist(), strict=True)) == wanted


def oracle(text, family, bits, unit, size):
    """Count signs, one feature and one bit at a time."""
    between = " " if unit == "word" else ""
    features = set(map(between.join, reference.shingles(reference.units(text, unit), size)))
    value = 0
    for bit in range(bits):
        place, shift = divmod(bit, 64)
        rows = [int(family.digest([f], bits)[0, place]) >> (63 - shift) & 1 for f in features]
        value = value << 1 | (2 * sum(rows) > len(rows))
    return value


@pytest.mark.parametrize(
    ("hash", "bits"),
    [("md5", 42), ("md5", 128), ("xxh3", 64), ("string64", 64), ("dek", 64), (zlib.crc32, 32)],
    ids=str,
)
def test_any_hash_family(hash, bits):
    found = nd.fingerprint(TEXTS, hash=hash, bits=bits)
    family = hash_family(hash)
    assert found.scheme.hash == family.name
    assert found.empty.tolist() == [False, False, True, True, False, False]
    for place, text in enumerate(TEXTS):
        if text:
            assert found[place] == oracle(text, family, bits, "word", 3)


@pytest.mark.parametrize("hash", ["md5", "string:257:1024", zlib.crc32], ids=str)
def test_such_schemes_are_stored_and_read_back(tmp_path, hash):
    bits = 9 if hash == "string:257:1024" else 32
    found = nd.fingerprint(TEXTS, hash=hash, bits=bits)
    found.save(tmp_path / "f.parquet")
    assert nd.Fingerprints.load(tmp_path / "f.parquet") == found


def test_too_many_bits_for_a_hash():
    with pytest.raises(nd.SettingError, match="gives 128 bits, 129 are asked for"):
        nd.fingerprint(TEXTS, hash="md5", bits=129)


def test_given_weights_need_terms():
    with pytest.raises(nd.SettingError, match="set or count"):
        nd.fingerprint(TEXTS, weights="given")


def candidates(bits, bands, band_bits):
    """How many pairs agree in a whole band, by a plain dictionary of bands."""
    pairs = set()
    for band in range(bands):
        buckets = {}
        for place, row in enumerate(bits[:, band * band_bits : (band + 1) * band_bits]):
            buckets.setdefault(row.tobytes(), []).append(place)
        for members in buckets.values():
            pairs.update((a, b) for i, a in enumerate(members) for b in members[i + 1 :])
    return len(pairs)


def test_the_golden_candidate_counts_of_the_labs(shared_data):
    table = pq.read_table(shared_data / "arxiv" / "features.parquet")
    found = nd.fingerprint(table, features="terms", hash="md5", bits=90)
    bits = np.unpackbits(found.row_bytes(), axis=1)[:, :90]
    counts = {
        (m, k): candidates(bits, m, k) for m, k in [(3, 18), (2, 27), (3, 22), (4, 18), (5, 18)]
    }
    assert counts == {
        (3, 18): 38_837,
        (2, 27): 14_353,
        (3, 22): 17_406,
        (4, 18): 45_890,
        (5, 18): 53_307,
    }
    assert candidates(bits, 3, 12) == 1_283_956
