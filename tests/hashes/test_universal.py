import pytest
from hypothesis import given, strategies as st

from neardup.errors import SettingError
from neardup.hashes import hash_family
from neardup.hashes.universal import coefficients, is_prime, next_prime, universal_hash


def test_the_family_is_the_function_with_coefficients_of_the_seed():
    for modulus in (257, 2**61 - 1):
        family = hash_family(f"universal:{modulus}:5")
        for term in ("", "a", "hola", "指纹", "long " * 50):
            data = term.encode()
            drawn = coefficients(modulus, 5, len(data))
            assert family.value(term) == universal_hash(data, drawn, modulus)


def test_more_coefficients_begin_with_the_same():
    assert coefficients(5749, 3, 100)[:10] == coefficients(5749, 3, 10)
    assert coefficients(5749, 3, 10) != coefficients(5749, 4, 10)


def test_two_keys_meet_once_in_257_functions():
    meetings = sum(
        hash_family(f"universal:257:{seed}").value("hola")
        == hash_family(f"universal:257:{seed}").value("hole")
        for seed in range(5140)
    )
    assert 5 <= meetings <= 40  # 20 expected, 4.5 standard deviations


def test_what_a_universal_hash_needs():
    with pytest.raises(SettingError, match="must be prime, which 256 is not"):
        universal_hash((1, 2), (3, 4), 256)
    with pytest.raises(SettingError, match="3 digits needs at least that many coefficients, not 2"):
        universal_hash((1, 2, 5), (3, 4), 257)


def test_small_primes():
    sieve = [n for n in range(2000) if n > 1 and all(n % d for d in range(2, n))]
    assert [n for n in range(2000) if is_prime(n)] == sieve


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (2**61 - 1, True),
        (2**64 - 59, True),
        (3_215_031_751, False),  # passes Miller-Rabin for the bases 2, 3, 5 and 7
        (3_825_123_056_546_413_051, False),  # and this one for all up to 23
        ((2**31 - 1) ** 2, False),
        (2**64, False),
        (-7, False),
    ],
)
def test_large_primes(number, expected):
    assert is_prime(number) is expected


@given(st.integers(0, 2**65))
def test_next_prime(number):
    found = next_prime(number)
    assert is_prime(found)
    assert found >= min(max(number, 257), 2**64 - 59)
    assert found < 2**64
