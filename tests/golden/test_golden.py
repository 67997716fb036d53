"""The nd1 scheme still gives the published fingerprints, on every machine."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from pathlib import Path

import pytest

import neardup as nd
from neardup import kernels
from neardup.fingerprints import Scheme
from neardup.kernels.reference import text as reference

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).parent / "nd1.json"
VECTORS = json.loads(FILE.read_text(encoding="ascii"))
CASES = [(name, scheme) for name, vector in VECTORS.items() for scheme in vector["fingerprints"]]
SHA256 = "939ac866fa64efdd38aa775780d9d194aac83c4a729c2bb7d3623de0393e2e52"


def load_script():
    spec = importlib.util.spec_from_file_location("golden", ROOT / "scripts/golden_vectors.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_vectors_are_those_that_were_published():
    found = hashlib.sha256(FILE.read_bytes()).hexdigest()
    assert found == SHA256, "nd1 is a promise: change the name, not the bits"


def test_the_script_writes_the_same_again(capsys):
    load_script().main()
    assert capsys.readouterr().out == FILE.read_text(encoding="ascii")


@pytest.mark.parametrize(("name", "scheme"), CASES)
def test_the_reference_gives_them(name, scheme):
    vector = VECTORS[name]
    found = load_script().fingerprint(vector["text"], Scheme.parse(scheme))
    assert found == vector["fingerprints"][scheme]
    assert len(reference.words(vector["text"])) == vector["words"]


@pytest.mark.parametrize("isa", [None, *kernels.available_isas()])
@pytest.mark.parametrize("scheme", sorted({scheme for _, scheme in CASES}))
def test_the_kernels_give_them(scheme, isa, monkeypatch):
    if isa is not None:
        native = kernels.fingerprint
        monkeypatch.setattr(kernels, "fingerprint", lambda *a, **b: native(*a, **b, isa=isa))
    parts = Scheme.parse(scheme)
    fps = nd.fingerprint(
        [vector["text"] for vector in VECTORS.values()],
        features=str(parts.features),
        weights=parts.weights,
        bits=parts.bits,
        tie=parts.tie,
    )
    assert str(fps.scheme) == scheme
    assert fps.words.tolist() == [vector["words"] for vector in VECTORS.values()]
    stored = [None if empty else digits for digits, empty in zip(fps.hex(), fps.empty, strict=True)]
    assert stored == [vector["fingerprints"][scheme] for vector in VECTORS.values()]
