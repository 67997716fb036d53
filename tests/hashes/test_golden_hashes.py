"""Values published with the hash families, or derived from their definitions."""

import hashlib

import pytest

from neardup.hashes import hash_family
from neardup.hashes.universal import universal_hash

# The hundred words on which the slides test their string hash, and its values for the first ten.
TEXT = """
    the and to of a I in was he that it his her you as had with for she not at but be my on have him
    is said me which by so this all from they no were if would or when what there been one could
    very an who them Mr we now more out do are up their your will little than then some into any
    well much about time know should man did like upon such never only good how before other see
    must am own come down say after think made might being Mrs again
"""
HUNDRED_WORDS = TEXT.split()
FIRST_TEN = {
    257: [256, 184, 161, 172, 97, 73, 204, 89, 199, 136],
    5749: [589, 4073, 3915, 4535, 97, 73, 4148, 209, 3115, 1260],
}


def bit_string(family, term, bits):
    row = hash_family(family).digest([term], bits)[0]
    return "".join(f"{word:064b}" for word in row.tolist())[:bits]


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("bit", "111101100111000101101001110111111011111101"),
        ("coin", "100101101010100101010001100110111000111111"),
        ("quantum", "001101110000011101010111110100101101111101"),
    ],
)
def test_md5_bits(term, expected):
    assert bit_string("md5", term, 42) == expected


def test_md5_is_the_digest_of_the_utf8_bytes():
    digest = hashlib.md5("指纹".encode()).hexdigest()
    assert hash_family("md5").value("指纹") == int(digest, 16)
    assert bit_string("md5", "指纹", 128) == f"{int(digest, 16):0128b}"


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("a", "00000002e40db1e0"),
        ("hash", "6c3db4c29c6010c4"),
        ("simhash", "906715e69d079fba"),
        ("文档", "2e2b68caea6d14b4"),
        ("指纹", "2d085e82307432ee"),
    ],
)
def test_string64(term, expected):
    family = hash_family("string64")
    assert f"{family.value(term):016x}" == expected
    assert f"{family.digest([term], 64)[0, 0]:016x}" == expected


def test_dek():
    assert hash_family("dek").value("algorismica") == 291014770516511749
    assert hash_family("dek").digest(["algorismica"], 64)[0, 0] == 291014770516511749


@pytest.mark.parametrize(
    ("term", "expected"), [("hola", 182), ("adeu", 245), ("adeu hol adeu", 208), ("a", 97)]
)
def test_string_modulo(term, expected):
    assert hash_family("string:257:1024").value(term) == expected


@pytest.mark.parametrize(("modulus", "distinct"), [(257, 83), (5749, 99)])
def test_string_modulo_over_a_hundred_words(modulus, distinct):
    family = hash_family(f"string:{modulus}:1024")
    values = [family.value(word) for word in HUNDRED_WORDS]
    assert len(values) == 100
    assert len(set(values)) == distinct
    assert values[:10] == FIRST_TEN[modulus]


def test_universal_with_given_coefficients():
    address = bytes((128, 32, 168, 24, 7, 80))
    assert universal_hash(address, (87, 23, 125, 4, 17, 231), 257) == 167


@pytest.mark.parametrize(
    ("term", "expected"),
    [("", "2d06800538d394c2"), ("a", "e6c632b61e964e1f"), ("abc", "78af5f94892f3950")],
)
def test_xxh3_has_the_published_values(term, expected):
    assert f"{hash_family('xxh3').value(term):016x}" == expected
    assert f"{hash_family('xxh3').digest([term], 64)[0, 0]:016x}" == expected


def test_xxh3_wide_is_the_canonical_128_bit_hash():
    assert bit_string("xxh3", "", 128) == f"{0x99AA06D3014798D86001C324468D497F:0128b}"


# Must never change: stored fingerprints of a seed must be reproducible.
def test_universal_seeds_are_a_promise():
    values = [hash_family(f"universal:257:{seed}").value("hola") for seed in range(4)]
    assert values == [135, 82, 51, 158]
