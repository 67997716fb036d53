import json

import pytest

from neardup.errors import InputError, SettingError
from neardup.hashes import hash_family
from neardup.hashes.family import common_words
from neardup.hashes.measurement import measure


def test_common_words_are_distinct_and_plain():
    words = common_words()
    assert len(words) == len(set(words)) == 1000
    assert all(word.isascii() and word.isalpha() and word.islower() for word in words)


def test_a_measurement_is_json():
    found = json.loads(json.dumps(measure(hash_family("md5"), common_words(), 257).to_dict()))
    assert (found["name"], found["bits"], found["fit"], found["flaw"]) == ("md5", 128, True, None)
    assert found["load"]["distinct"] + found["load"]["collisions"] == 1000
    assert len(found["load"]["chains"]) == found["load"]["longest_chain"] + 1
    assert found["balance"]["bits"] == 64
    assert found["terms_per_second"] > 0


def test_weak_families_are_uneven_and_good_ones_are_not():
    def z_score(name):
        return measure(hash_family(name), common_words(), 257).load.z_score

    assert all(abs(z_score(name)) < 4 for name in ("nd1", "md5", "xxh3", "string", "universal"))
    assert all(z_score(name) > 20 for name in ("remainder", "division"))


def test_a_base_that_divides_the_modulus_sees_the_last_letter_only():
    load = measure(hash_family("string:1024:1024"), common_words(), 1024).load
    assert load.distinct == len({word[-1] for word in common_words()})


def test_what_cannot_be_measured():
    with pytest.raises(InputError, match="no words"):
        measure(hash_family("md5"), [])
    with pytest.raises(SettingError, match="slots=1"):
        measure(hash_family("md5"), ["word"], 1)
