import pytest

from neardup.errors import InputError
from neardup.hashes import hash_family
from neardup.hashes.integers import range_of


def test_remainder_of_numbers_and_words():
    family = hash_family("remainder:257")
    assert family.value("1000") == 1000 % 257
    assert family.value("0") == 0
    assert family.value("the") == int.from_bytes(b"the", "big") % 257
    assert family.value("") == 0


def test_division_of_numbers_and_words():
    assert hash_family("division:10000:1000000000").value("934021234") == 9340
    family = hash_family(f"division:257:{2**32}")
    assert family.value("the") == int.from_bytes(b"the\0", "big") * 257 // 2**32
    assert family.value("theorem") == int.from_bytes(b"theo", "big") * 257 // 2**32
    assert family.value(str(2**32 - 1)) == 256


def test_neighbours_collide_under_division_and_not_under_remainder():
    numbers = [str(934_020_000 + i) for i in range(1000)]
    division, remainder = hash_family("division:10000:1000000000"), hash_family("remainder:10000")
    assert len({division.value(number) for number in numbers}) == 1
    assert len({remainder.value(number) for number in numbers}) == 1000


def test_a_number_above_the_range_is_refused():
    with pytest.raises(InputError, match="'1000' is the number 1000, too large for division:10:10"):
        hash_family("division:10:1000").value("1000")
    with pytest.raises(InputError, match="for words a power of 256"):
        hash_family("division:10:1000").value("zz")


def test_only_ascii_digits_are_numbers_and_not_endless_ones():
    family = hash_family("remainder:1000")
    assert family.value("٣") == int.from_bytes("٣".encode(), "big") % 1000
    assert family.value("9" * 38) == 999
    assert family.value("9" * 5000) == int.from_bytes(b"9" * 5000, "big") % 1000


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([], 10),
        (["0"], 10),
        (["9", "10"], 100),
        (["word"], 2**32),
        (["word", str(2**32)], 2**40),
        (["word", "9" * 38], 2**128),
        (["9" * 38], 10**38),
    ],
)
def test_a_range_that_holds_every_term(terms, expected):
    assert range_of(terms) == expected
    family = hash_family(f"division:257:{expected}")
    assert all(0 <= family.value(term) < 257 for term in terms)
