"""The examples of the slides, with their published values."""

from __future__ import annotations

ADDRESSES = {
    "1A": "Burra Hotel, 5 Market Sq, Burra, SA, 5417",
    "1B": "Camping Country Superstore, 401 Pacific Hwy, Belmont North, NSW, 2280",
    "2A": "One Stop Bakery, 1304 High St Rd, Wantirna, VIC, 3152",
    "2B": "One Stop Bakery, 1304 High Street Rd, Wantirna South, VIC, 3152",
    "3A": "Park Beach Interiors, Showroom Park Beach Plaza Pacific Hwy, Coffs Harbour, NSW, 2450",
    "3B": "Park Beach Interiors, Showroom Park Beach Plaza Pacific Highway, Coffs Harbour, NSW, "
    "2450",
    "3C": "Park Beach Interiors, Park Beach Plaza Pacific Hwy, Coffs Harbour, NSW, 2450",
    "3D": "Park Beach Interiors, 26 Park Beach Plaza, Pacific Hwy, Coffs Harbour, NSW, 2450",
    "4A": "Weaver Interiors, 955 Pacific Hwy, Pymble, NSW, 2073",
    "4B": "Weaver Interiors, 997 Pacific Hwy, Pymble, NSW, 2073",
    "5A": "Gibbon Hamor Commercial Interiors, 233 Johnston St, Annandale, NSW, 2038",
    "5B": "Gibbon Hamor Development Planners, 233 Johnston St, Annandale, NSW, 2038",
}
# Truncated, not rounded, to three digits, as in the slides.
JACCARD = {
    ("1A", "1B"): 0.068,
    ("2A", "2B"): 0.807,
    ("3A", "3B"): 0.888,
    ("3A", "3C"): 0.861,
    ("3A", "3D"): 0.808,
    ("3B", "3C"): 0.760,
    ("3B", "3D"): 0.716,
    ("3C", "3D"): 0.932,
    ("4A", "4B"): 0.877,
    ("5A", "5B"): 0.644,
}

SENTENCES = {
    "the cat sat on the mat": 851459198,
    "the cat sat on a mat": 847263864,
    "we all scream for ice cream": 984968088,
}
HAMMING: dict[tuple[int | str, int | str], int] = {
    (851459198, 847263864): 4,
    (851459198, 984968088): 16,
    (847263864, 984968088): 12,
    ("toned", "roses"): 3,
    ("1011101", "1001001"): 2,
    ("2173896", "2233796"): 3,
}

# Eight numbers of 16 bits, and their order in the slides before and after a rotation.
NUMBERS = (37586, 50086, 2648, 934, 40957, 2650, 64475, 40955)
NUMBER_BITS = 16
TURN = 2
SORTED = (934, 2648, 2650, 37586, 40955, 40957, 50086, 64475)
SORTED_DISTANCES = (9, 1, 5, 6, 2, 9, 9)
TURNED = (3736, 3739, 10592, 10600, 19274, 32750, 32758, 61295)
TURNED_DISTANCES = (2, 11, 1, 5, 6, 2, 6)

DEK_HASH = {"algorismica": 291014770516511749}
STRING_HASH = {"hola": 182, "adeu": 245, "adeu hol adeu": 208, "a": 97}
STRING_BASE = 1024
SMALL_TABLE, LARGE_TABLE = 257, 5749
# Number of distinct values of the hundred words, by table size.
DISTINCT = {SMALL_TABLE: 83, LARGE_TABLE: 99}
_WORDS = """
    the and to of a I in was he that it his her you as had with for she not at but be my on have him
    is said me which by so this all from they no were if would or when what there been one could
    very an who them Mr we now more out do are up their your will little than then some into any
    well much about time know should man did like upon such never only good how before other see
    must am own come down say after think made might being Mrs again
"""
HUNDRED_WORDS = tuple(_WORDS.split())
COMPARISONS = {
    50: 1_225,
    100: 4_950,
    250: 31_125,
    500: 124_750,
    750: 280_875,
    2_000: 1_999_000,
    1_000_000: 499_999_500_000,
}
