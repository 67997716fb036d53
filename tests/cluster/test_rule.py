import pytest

from neardup.cluster import ClusterRule
from neardup.errors import SettingError


@pytest.mark.parametrize(
    ("given", "stored", "share"),
    [
        ("star", "star", None),
        ("components", "components", None),
        ("dense", "dense:0.25", 0.25),
        ("dense:0.25", "dense:0.25", 0.25),
        ("dense:.5", "dense:0.5", 0.5),
        ("dense:1", "dense:1", 1.0),
        ("dense:1.0", "dense:1", 1.0),
        ("dense:1e-3", "dense:0.001", 0.001),
        ("dense:1e-30", "dense:1e-30", 1e-30),
        ("dense:0.1234567890123", "dense:0.1234567890123", 0.1234567890123),
    ],
)
def test_rules_are_stored_in_one_way(given, stored, share):
    rule = ClusterRule.parse(given)
    assert str(rule) == stored
    assert rule.share == share
    assert ClusterRule.parse(stored) == rule == ClusterRule.parse(rule)


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "Dense",
        "dense:",
        "dense:0",
        "dense:-0.5",
        "dense:1.01",
        "dense:1e99",
        "dense:nan",
        "dense:25%",
        "dense: 0.5",
        "dense:0_5",
        "dense:٠.5",
        "star:0.5",
        "components:1",
        None,
        0.25,
    ],
)
def test_other_rules_are_refused_in_a_sentence(wrong):
    with pytest.raises(SettingError, match=r"choose star, components, dense or dense:SHARE, where"):
        ClusterRule.parse(wrong)
