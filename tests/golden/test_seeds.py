"""Worked values of the systems that neardup reproduces, through the public interface."""

from fractions import Fraction

import pytest

import neardup as nd

BURRA = "Burra Hotel, 5 Market Sq, Burra, SA, 5417"
CAMPING = "Camping Country Superstore, 401 Pacific Hwy, Belmont North, NSW, 2280"
BAKERY = [
    "One Stop Bakery, 1304 High St Rd, Wantirna, VIC, 3152",
    "One Stop Bakery, 1304 High Street Rd, Wantirna South, VIC, 3152",
]
PARK_BEACH = [
    "Park Beach Interiors, Showroom Park Beach Plaza Pacific Hwy, Coffs Harbour, NSW, 2450",
    "Park Beach Interiors, Showroom Park Beach Plaza Pacific Highway, Coffs Harbour, NSW, 2450",
    "Park Beach Interiors, Park Beach Plaza Pacific Hwy, Coffs Harbour, NSW, 2450",
    "Park Beach Interiors, 26 Park Beach Plaza, Pacific Hwy, Coffs Harbour, NSW, 2450",
]
WEAVER = [
    "Weaver Interiors, 955 Pacific Hwy, Pymble, NSW, 2073",
    "Weaver Interiors, 997 Pacific Hwy, Pymble, NSW, 2073",
]
GIBBON = [
    "Gibbon Hamor Commercial Interiors, 233 Johnston St, Annandale, NSW, 2038",
    "Gibbon Hamor Development Planners, 233 Johnston St, Annandale, NSW, 2038",
]


def bigrams(text):
    return {text[i : i + 2] for i in range(len(text) - 1)}


@pytest.mark.parametrize(
    ("a", "b", "shared", "either"),
    [
        (BURRA, CAMPING, 6, 87),
        (*BAKERY, 46, 57),
        (PARK_BEACH[0], PARK_BEACH[1], 63, 71),
        (PARK_BEACH[0], PARK_BEACH[2], 56, 65),
        (PARK_BEACH[0], PARK_BEACH[3], 55, 68),
        (PARK_BEACH[1], PARK_BEACH[2], 54, 71),
        (PARK_BEACH[1], PARK_BEACH[3], 53, 74),
        (PARK_BEACH[2], PARK_BEACH[3], 55, 59),
        (*WEAVER, 43, 49),
        (*GIBBON, 49, 76),
    ],
)
def test_jaccard_of_addresses(a, b, shared, either):
    assert nd.jaccard(bigrams(a), bigrams(b)) == float(Fraction(shared, either))


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        (851459198, 847263864, 4),
        (851459198, 984968088, 16),
        (847263864, 984968088, 12),
        ("toned", "roses", 3),
        ("1011101", "1001001", 2),
        (0b1011101, 0b1001001, 2),
        ("2173896", "2233796", 3),
    ],
)
def test_hamming(a, b, distance):
    assert nd.hamming(a, b) == distance


def test_strings_of_two_lengths_have_no_distance():
    with pytest.raises(nd.SettingError, match="same length"):
        nd.hamming("abc", "ab")


@pytest.mark.parametrize(
    ("term", "bits"),
    [
        ("bit", "111101100111000101101001110111111011111101"),
        ("coin", "100101101010100101010001100110111000111111"),
        ("quantum", "001101110000011101010111110100101101111101"),
    ],
)
def test_the_fingerprint_of_one_term_is_its_md5(term, bits):
    found = nd.fingerprint([{term: 0.5}], features="terms", hash="md5", bits=42)
    assert f"{found[0]:042b}" == bits


@pytest.mark.parametrize(
    ("term", "digits"),
    [
        ("a", "00000002e40db1e0"),
        ("hash", "6c3db4c29c6010c4"),
        ("simhash", "906715e69d079fba"),
        ("文档", "2e2b68caea6d14b4"),
        ("指纹", "2d085e82307432ee"),
    ],
)
def test_the_fingerprint_of_one_term_is_its_string_hash(term, digits):
    assert nd.fingerprint([[term]], features="terms", hash="string64").hex() == [digits]
