"""The choice of a plan: complete, cheapest by the costs, and explained."""

import itertools
from dataclasses import replace

import pytest

import neardup as nd
from neardup.pairs.by_fingerprints import EveryPair, choose
from neardup.pairs.by_fingerprints.planner import complete_plans, duration
from neardup.pairs.costs import Costs
from neardup.settings import bytes_of

COSTS = Costs.load()


@pytest.mark.parametrize("bits", [1, 7, 64, 256, 4096])
@pytest.mark.parametrize("k", [0, 1, 3, 10, 63, 64, 5000])
def test_every_alternative_is_complete(bits, k):
    choice = choose(10_000, k, bits)
    assert choice.plan is choice.alternatives[0].plan
    for estimate in choice.alternatives:
        assert estimate.plan.guarantee >= min(k, bits)
        assert estimate.seconds >= choice.alternatives[0].seconds
    assert choice.reason.startswith(str(choice.plan))


def test_many_fingerprints_and_few_bits_are_worth_blocks():
    choice = choose(10**7, 3, 64)
    assert choice.plan.name == "blocks:3"
    assert "complete to distance 3" in choice.reason
    assert "comparing every pair would take" in choice.reason


def test_where_brute_force_is_cheaper_the_reason_says_so():
    choice = choose(1000, 30, 64)
    assert isinstance(choice.plan, EveryPair)
    assert "499,500 pairs directly" in choice.reason
    assert "no other complete plan is faster" in choice.reason


def test_a_few_new_ones_against_many_old_ones_are_compared_directly():
    assert isinstance(choose(10**7 + 2, 3, 64, pairs=2 * 10.0**7).plan, EveryPair)
    assert choose(2 * 10**6, 3, 64, pairs=10.0**12).plan.name == "blocks:3"


def test_the_choice_follows_the_costs():
    dear = replace(COSTS, move=1e9, table=1e9)
    assert isinstance(choose(10**5, 3, 64, costs=dear).plan, EveryPair)
    free = replace(COSTS, probe=1e-9, sort=1e-9)
    assert choose(10**5, 1, 64, costs=free).plan.name == "probe:1"


def test_larger_distances_never_cost_less():
    seconds = [choose(10**6, k, 64).alternatives[0].seconds for k in range(40)]
    assert all(a <= b * 1.000001 for a, b in itertools.pairwise(seconds))
    assert seconds[-1] == pytest.approx(COSTS.brute_force(10**6 * (10**6 - 1) / 2, 64))


def test_plans_without_a_distance_are_refused():
    with pytest.raises(nd.SettingError, match="'auto' needs max_distance"):
        choose(10, None, 64)


def test_no_probe_where_the_patterns_are_too_many():
    names = [plan.name for plan in complete_plans(6, 64)]
    assert "probe:6" not in names
    assert "blocks:6" in names


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "under 1 ms"),
        (0.0204, "about 20 ms"),
        (3.45, "about 3.5 s"),
        (600, "about 10.0 minutes"),
        (7300, "about 2.0 hours"),
        (864_000, "about 10.0 days"),
        (1e12, "about 31,710 years"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GB", 2 * 10**9), ("1.5 kb", 1500), ("1MiB", 2**20), (77, 77), ("12", 12), ("3B", 3)],
)
def test_amounts_of_memory(text, size):
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "2 XB", "1e9", True, None, 0, "0MB", -5])
def test_what_is_no_amount_of_memory(text):
    with pytest.raises(nd.SettingError, match="memory="):
        bytes_of(text)
