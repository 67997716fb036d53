import numpy as np
import pytest

from neardup.hashes import hash_family
from neardup.hashes.balance import BitBalance
from neardup.hashes.rows import bit_columns


def fair_rows(words, seed=1):
    return np.random.default_rng(seed).integers(0, 2**64, (words, 1), np.uint64)


def test_numbers_against_numpy():
    rows = hash_family("string64").digest([f"w{i}" for i in range(500)], 40)
    found = BitBalance.of(rows, 40)
    columns = bit_columns(rows, 40)
    shares = columns.mean(axis=0)
    assert found.worst_share == pytest.approx(shares[found.worst_bit])
    assert abs(found.worst_share - 0.5) == pytest.approx(abs(shares - 0.5).max())
    changing = np.flatnonzero((shares > 0) & (shares < 1))
    correlations = np.triu(np.corrcoef(columns[:, changing].T), 1)
    assert abs(found.worst_correlation) == pytest.approx(abs(correlations).max())
    assert found.worst_pair is not None
    i, j = found.worst_pair
    assert found.worst_correlation == pytest.approx(np.corrcoef(columns[:, i], columns[:, j])[0, 1])


@pytest.mark.parametrize("words", [100, 1000, 100_000])
@pytest.mark.parametrize("seed", range(5))
def test_fair_bits_are_fit(words, seed):
    found = BitBalance.of(fair_rows(words, seed), 64)
    assert found.flaw is None
    assert found.fit is True


def test_few_bits():
    found = BitBalance.of(hash_family("md5").digest([str(i) for i in range(200)], 31), 31)
    assert found.flaw == "only 31 bits"
    one = BitBalance.of(hash_family("md5").digest([str(i) for i in range(200)], 1), 1)
    assert one.flaw == "only 1 bit"
    assert one.worst_pair is None


def test_a_biased_bit_is_named():
    rows = fair_rows(1000)
    rows[:700] |= np.uint64(1 << 60)
    share = bit_columns(rows, 64)[:, 3].mean()
    flaw = BitBalance.of(rows, 64).flaw
    assert flaw == f"1 of 64 bits is biased, bit 3 is set in {share:.1%} of the words"


def test_a_bit_that_never_changes():
    rows = fair_rows(1000)
    assert "bit 0 is always set" in BitBalance.of(rows | np.uint64(1 << 63), 64).flaw
    cleared = BitBalance.of(rows & np.uint64(2**63 - 1), 64)
    assert cleared.flaw == "1 of 64 bits is biased, bit 0 is never set"


def test_bits_that_follow_each_other():
    rows = fair_rows(1000)
    first = rows >> np.uint64(63)
    same = BitBalance.of(rows & ~np.uint64(1) | first, 64)
    assert same.flaw == "bits 0 and 63 have a correlation of 1.00"
    opposite = BitBalance.of(rows & ~np.uint64(1) | (first ^ np.uint64(1)), 64)
    assert opposite.flaw == "bits 0 and 63 have a correlation of -1.00"


def test_a_small_bias_counts_only_where_it_is_sure():
    def leaning(words):
        rows = fair_rows(words)
        rows[: words // 7] |= np.uint64(1 << 63)  # set in about 57 % of the words
        return BitBalance.of(rows, 64)

    assert leaning(500).flaw is None
    assert "bit 0 is set in 57" in leaning(100_000).flaw


def test_few_words_prove_nothing():
    found = BitBalance.of(hash_family("md5").digest(["one", "two"], 64), 64)
    assert (found.flaw, found.fit) == (None, None)
    assert BitBalance.of(hash_family("md5").digest(["one", "two"], 9), 9).fit is False
