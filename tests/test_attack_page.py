"""The attacks of `docs/guides/security.md`, on a few crafted documents."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scripts.attack import craft
from scripts.attack.__main__ import BEGIN, END, every_attack

import neardup as nd

PAGE = (Path(__file__).parents[1] / "docs/guides/security.md").read_text(encoding="utf-8")
# The result of `craft.common_start()`, whose search would take too long in a test.
START = "sjhpfaaaaaaaaaaay1065apl"


@pytest.fixture(scope="module")
def keyed():
    return nd.keyed("page", bytes.fromhex("7c1f09b2a3d4e5f60718293a4b5c6d7e"))


def test_the_page_has_every_attack():
    table = PAGE.split(BEGIN)[1].split(END)[0]
    for attack in every_attack():
        assert attack.name in table


def test_documents_without_a_common_word_are_the_same_without_a_key(keyed):
    documents = [" ".join(craft.numbered_words(i * 50, 50, 7, START)) for i in range(20)]
    assert len(nd.dedup(documents).kept) == 1
    assert len(nd.dedup(documents, hash=keyed).kept) == 20


def test_a_chosen_fingerprint_is_not_met_with_a_key(keyed):
    text, target = craft.victim()
    documents = craft.steered(target, 2**64 - 1, 10, 100, tried=32, seed=1)
    assert not any("harbour" in document for document in documents)

    def distances(hash):
        prints = nd.fingerprint([text, *documents], hash=hash)
        return np.array([nd.hamming(prints[:1], prints[i : i + 1])[0] for i in range(1, 11)])

    assert (distances("nd1") <= 3).all()
    assert (distances(keyed) > 10).all()
