"""The keyed scheme still gives the published fingerprints for its published key."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from tests.golden.test_golden import load_script

import neardup as nd
from neardup import kernels
from neardup.fingerprints import Scheme

FILE = Path(__file__).parent / "nd1_keyed.json"
VECTORS = json.loads(FILE.read_text(encoding="ascii"))
SCHEMES = list(next(iter(VECTORS.values()))["fingerprints"])
SHA256 = "d5f365c1f07b96f0257e9191940f64e4a833a81777a3bf808b4168dd1a8e4d7b"


def test_the_vectors_are_those_that_were_published():
    found = hashlib.sha256(FILE.read_bytes()).hexdigest()
    assert found == SHA256, "the keyed scheme is a promise too: indexes hold its bits"


def test_the_script_writes_the_same_again(capsys):
    load_script().main(keyed=True)
    assert capsys.readouterr().out == FILE.read_text(encoding="ascii")


@pytest.mark.parametrize("isa", [None, *kernels.available_isas()])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_kernels_give_them(scheme, isa, monkeypatch):
    if isa is not None:
        native = kernels.fingerprint
        monkeypatch.setattr(kernels, "fingerprint", lambda *a, **b: native(*a, **b, isa=isa))
    script, parts = load_script(), Scheme.parse(scheme)
    fps = nd.fingerprint(
        [vector["text"] for vector in VECTORS.values()],
        features=str(parts.features),
        weights=parts.weights,
        bits=parts.bits,
        tie=parts.tie,
        hash=nd.keyed(script.KEY_NAME, script.KEY),
    )
    assert str(fps.scheme) == scheme
    stored = [None if empty else digits for digits, empty in zip(fps.hex(), fps.empty, strict=True)]
    assert stored == [vector["fingerprints"][scheme] for vector in VECTORS.values()]


def test_no_bits_are_those_of_plain_nd1():
    plain = json.loads((FILE.parent / "nd1.json").read_text(encoding="ascii"))
    for name, vector in VECTORS.items():
        if not vector["words"]:
            continue
        for scheme, digits in vector["fingerprints"].items():
            own, unkeyed = int(digits, 16), scheme.replace(scheme.split("/")[0], "nd1", 1)
            if Scheme.parse(scheme).bits >= 42:
                assert own != int(plain[name]["fingerprints"][unkeyed], 16), (name, scheme)
