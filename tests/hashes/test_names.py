import hashlib
import zlib
from functools import partial

import numpy as np
import pytest

from neardup.errors import SettingError
from neardup.hashes import HashFamily, hash_family


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("nd1", "nd1"),
        (" md5 ", "md5"),
        ("string", "string:257:1024"),
        ("string:05749", "string:5749:1024"),
        ("string:5749:31", "string:5749:31"),
        ("universal", "universal:257:1"),
        ("universal:263", "universal:263:1"),
        ("universal:263:99", "universal:263:99"),
        ("division", "division:257:4294967296"),
        ("division:100:1000", "division:100:1000"),
        ("remainder", "remainder:257"),
        ("remainder:10", "remainder:10"),
    ],
)
def test_full_names(name, full):
    family = hash_family(name)
    assert isinstance(family, HashFamily)
    assert family.name == str(family) == full
    assert hash_family(full) == family
    assert hash_family(family) is family


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("nd1", None),
        ("md5", 128),
        ("xxh3", 128),
        ("string64", 64),
        ("dek", 64),
        ("string:256", 8),
        ("string:257", 9),
        ("string:18446744073709551616", 64),
        ("universal:18446744073709551557", 64),
        ("division:2:10", 1),
        ("remainder:1025", 11),
    ],
)
def test_bits(name, bits):
    assert hash_family(name).bits == bits


@pytest.mark.parametrize(
    "name",
    [
        *("", "sha1", "MD5", "md5:1", "string:", "string:a", "string:-5", "string:1:2:3"),
        *("string:²", "remainder:5:5", "universal:257:x", "string:" + 40 * "9"),
    ],
)
def test_unknown_names_are_refused_with_the_choice(name):
    with pytest.raises(SettingError) as refused:
        hash_family(name)
    assert repr(name) in str(refused.value)
    assert "choose nd1, nd1:NAME, md5, xxh3, string64, dek, string:M:C" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("string:1", "between 2 and 2^64"),
        ("string:0", "between 2 and 2^64"),
        ("string:18446744073709551617", "between 2 and 2^64"),
        ("string:257:0", "base must be at least 1"),
        ("remainder:1", "between 2 and 2^64"),
        ("division:1:10", "between 2 and 2^64"),
        ("division:10:1", "between 2 and 2^128"),
        (f"division:10:{2**128 + 1}", "between 2 and 2^128"),
        ("universal:256", "which 256 is not; 257 is"),
        ("universal:251", "which 251 is not; 257 is"),
        ("universal:1000", "which 1000 is not; 1009 is"),
        ("universal:0", "which 0 is not; 257 is"),
        (f"universal:{2**64 + 13}", "18446744073709551557 is"),
    ],
)
def test_numbers_that_cannot_work(name, message):
    with pytest.raises(SettingError) as refused:
        hash_family(name)
    assert message in str(refused.value)


def sha256(data):
    return int.from_bytes(hashlib.sha256(data).digest(), "big")


def test_any_function_from_bytes_to_int():
    family = hash_family(sha256)
    assert family.bits is None
    assert family.value("指纹") == sha256("指纹".encode())
    rows = family.digest(["coin"], 256)
    assert rows.astype(">u8").tobytes() == hashlib.sha256(b"coin").digest()


def test_a_function_with_so_many_bits():
    family = hash_family(zlib.crc32, bits=32)
    assert family.digest(["coin"], 32)[0, 0] == zlib.crc32(b"coin") << 32
    with pytest.raises(SettingError, match="gives 32 bits, 33 are asked for"):
        family.digest(["coin"], 33)


def test_negative_numbers_are_two_s_complements():
    assert hash_family(lambda data: -1).digest(["coin"], 70).tolist() == [[2**64 - 1, 63 << 58]]


def test_numpy_numbers_are_numbers():
    def seven(data):
        return np.uint64(7)

    assert hash_family(seven).value("coin") == 7


def test_functions_of_one_name_are_told_apart():
    def longer_by(add):
        return lambda data: len(data) + add

    one, other = (hash_family(longer_by(add)) for add in (1, 2))
    assert one.name.split("@")[0] == other.name.split("@")[0]
    assert one.name != other.name
    assert hash_family(zlib.crc32).name == hash_family(zlib.crc32).name
    assert hash_family(partial(zlib.crc32)).name.startswith("python:functools.partial@")
    assert "/" not in one.name


def test_a_function_cannot_be_had_by_its_name():
    with pytest.raises(SettingError, match="pass the function itself"):
        hash_family(hash_family(zlib.crc32).name)


@pytest.mark.parametrize("wrong", [lambda data: "7", lambda data: None, lambda data: 0.5])
def test_a_function_that_gives_no_int(wrong):
    with pytest.raises(SettingError, match="it must turn bytes into an int"):
        hash_family(wrong).value("coin")


def test_bits_are_for_functions_only():
    with pytest.raises(SettingError, match="leave it out for md5"):
        hash_family("md5", bits=32)
    with pytest.raises(SettingError, match="at least 1"):
        hash_family(zlib.crc32, bits=0)
