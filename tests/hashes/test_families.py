import zlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from neardup import kernels
from neardup.errors import InputError, SettingError
from neardup.hashes import hash_family
from neardup.hashes.family import common_words
from neardup.kernels.reference import text as reference

NAMES = [
    "nd1",
    "md5",
    "xxh3",
    "string64",
    "dek",
    "string:5749:1024",
    "universal:18446744073709551557:7",
    "remainder:1000",
    f"division:257:{2**32}",
]
NUMBERS = ["string64", "dek", "string:5749:1024", "universal:5749:7", "remainder:1000"]
WIDTHS = [1, 9, 32, 63, 64, 65, 128, 129, 4096]
UNTIDY = ["", "a", "文档", "naïve café", "x" * 15, "y" * 16, "z" * 17, "w" * 33, "\0", "\U0001f600"]

texts = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.fixture(params=NAMES)
def family(request):
    return hash_family(request.param)


def as_number(row, bits):
    joined = 0
    for word in row.tolist():
        joined = joined << 64 | word
    return joined >> (64 * len(row) - bits)


@pytest.mark.parametrize("bits", WIDTHS)
def test_rows_have_the_shape_and_nothing_behind_the_bits(family, bits):
    if family.bits is not None and bits > family.bits:
        with pytest.raises(SettingError) as refused:
            family.digest(["word"], bits)
        message = str(refused.value)
        assert f"{family.name!r} gives {family.bits} bits, {bits} are asked for" in message
        return
    rows = family.digest(UNTIDY, bits)
    assert rows.shape == (len(UNTIDY), -(-bits // 64))
    assert rows.dtype == np.uint64
    behind = 64 * rows.shape[1] - bits
    assert all(word & ((1 << behind) - 1) == 0 for word in rows[:, -1].tolist())


def test_no_terms_give_no_rows(family):
    assert family.digest([], 9).shape == (0, 1)


def test_a_term_has_the_same_bits_alone_and_among_many(family):
    bits = family.measured_bits
    terms = [*UNTIDY, *common_words()]
    together = family.digest(terms, bits)
    alone = np.concatenate([family.digest([term], bits) for term in terms])
    assert together.tolist() == alone.tolist()


def test_value_and_digest_agree(family):
    bits = family.measured_bits
    for term in [*UNTIDY, *common_words()[:50]]:
        found = as_number(family.digest([term], bits)[0], bits)
        value = family.value(term)
        assert found == (value >> 64 if family.name == "md5" else value % 2**bits)


def test_a_narrow_digest_begins_a_wide_one():
    for name, widest in (("nd1", 4096), ("md5", 128), ("xxh3", 64)):
        family = hash_family(name)
        wide = as_number(family.digest(["word"], widest)[0], widest)
        for bits in (1, 42, 63, 64):
            narrow = as_number(family.digest(["word"], bits)[0], bits)
            assert narrow == wide >> (widest - bits)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_narrow_number_is_its_low_bits(name):
    family = hash_family(name)
    assert as_number(family.digest(["word"], 5)[0], 5) == family.value("word") % 32


@pytest.mark.parametrize("bits", [0, -1])
def test_no_bits_are_refused(family, bits):
    with pytest.raises(SettingError, match="at least 1"):
        family.digest(["word"], bits)


@given(st.lists(texts, max_size=100), st.sampled_from([1, 64, 65, 200]))
def test_nd1_is_the_scheme_with_one_unit(terms, bits):
    rows = hash_family("nd1").digest(terms * 40, bits)  # many, to be hashed together
    for term, row in zip(terms * 40, rows.tolist(), strict=True):
        feature = reference.feature_hash([term])
        words = [reference.widen(feature, place) for place in range(len(row))]
        behind = 64 * len(row) - bits
        words[-1] = words[-1] >> behind << behind
        assert row == words


def test_nd1_is_what_a_document_of_one_word_has():
    words = list(common_words())
    for bits in (64, 150):
        native, _ = kernels.fingerprint(
            pa.array(words), unit="word", size=1, distinct=True, bits=bits, ties_up=False
        )
        assert hash_family("nd1").digest(words, bits).tolist() == native.tolist()


@given(st.lists(st.text(max_size=6), max_size=20))
def test_string64_is_the_rule_with_128_bits_cut_to_64(terms):
    rows = hash_family("string64").digest(terms * 40, 64)
    assert rows[:, 0].tolist() == [plain_string64(term) for term in terms] * 40


def plain_string64(term):
    if not term:
        return 0
    value = ord(term[0]) << 7
    for char in term:
        value = ((value * 1000003) ^ ord(char)) & (2**128 - 1)
    return (value ^ len(term)) & (2**64 - 1)


@pytest.mark.parametrize("name", ["nd1", "md5", "xxh3", "universal", "remainder", "division"])
def test_half_a_character_has_no_bytes(name):
    family = hash_family(name)
    for hashed in (family.value, lambda term: family.digest([term], 9)):
        with pytest.raises(InputError, match=r"lone surrogate \(U\+D800\)"):
            hashed("ab\ud800")


def test_speed_is_not_that_of_single_values(monkeypatch):
    """The families used for documents hash many terms together."""
    for name in ("nd1", "string64"):
        family = hash_family(name)
        expected = family.digest(["word"], 64).tolist() * 1000
        monkeypatch.setattr(type(family), "value", None)
        assert family.digest(["word"] * 1000, 64).tolist() == expected


def test_common_families_are_fit():
    assert [hash_family(name).fit for name in ("nd1", "md5", "xxh3")] == [None] * 3
    assert hash_family(f"universal:{2**61 - 1}:1").fit is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("string:257:1024", "only 9 bits"),
        ("universal:257:1", "only 9 bits"),
        ("remainder:257", "only 9 bits"),
        ("division:257", "only 9 bits"),
        ("dek", "is never set"),
        ("string64", "bits are biased"),
        (f"string:{2**61 - 1}:1024", "bits are biased"),
    ],
)
def test_weak_families_say_why(name, reason):
    assert reason in hash_family(name).fit


def test_a_function_is_judged_too():
    assert hash_family(zlib.crc32, bits=32).fit is None
    assert "only 8 bits" in hash_family(lambda data: data[0], bits=8).fit
    assert "is never set" in hash_family(zlib.crc32).fit  # 32 bits that do not exist
