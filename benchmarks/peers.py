"""The peers: how each package that a user could install instead is used at its best.

Every peer gets Python strings that were made before the clock starts. A peer that wants its
shingles ready gets words cut at white space, which is quicker than finding them with a regular
expression and leaves it less to do than neardup does.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import ModuleType

SIMHASH_PYBIND = Path(sys.prefix) / "peers" / "simhash-pybind"

Texts = list[str]
Sketcher = Callable[[Texts], object]


@dataclass(frozen=True)
class Shingles:
    """What a document is cut into: runs of `size` words, or of `size` characters."""

    unit: str
    size: int

    def of(self, text: str) -> list[str]:
        """The shingles of a text as strings."""
        if self.unit == "word":
            words = text.lower().split()
            return list(map(" ".join, zip(*(words[i:] for i in range(self.size)), strict=False)))
        lower = text.lower()
        return [lower[i : i + self.size] for i in range(len(lower) - self.size + 1)]

    def encoded(self, text: str) -> list[bytes]:
        """The shingles of a text in UTF-8."""
        if self.unit == "word":
            words = text.lower().encode().split()
            return list(map(b" ".join, zip(*(words[i:] for i in range(self.size)), strict=False)))
        return [shingle.encode() for shingle in self.of(text)]


@dataclass(frozen=True)
class Peer:
    """One way to use one package, and how much text it gets so that a round stays short."""

    name: str
    package: str
    use: str
    sample_megabytes: float
    sketcher: Callable[[Shingles], Sketcher]

    def version(self) -> str:
        """The installed version, or an error that says how to install it."""
        path = [str(SIMHASH_PYBIND)] if self.package == "simhash-pybind" else sys.path
        found = next(iter(metadata.distributions(name=self.package, path=path)), None)
        if found is None:
            raise SystemExit(
                f"{self.package} is not installed: {_install_command(self.package)}, "
                f"or leave it out with --skip {self.package}"
            )
        return found.version


def _install_command(package: str) -> str:
    if package == "simhash-pybind":
        return f"pip install --no-deps --target {SIMHASH_PYBIND} simhash-pybind"
    return "pip install -e '.[bench]'"


def _gaoya(shingles: Shingles) -> Sketcher:
    from gaoya.simhash import SimHashStringIndex

    index = SimHashStringIndex(
        hash_size=64,
        analyzer=shingles.unit,
        lowercase=True,
        ngram_range=(shingles.size, shingles.size),
    ).index
    return lambda texts: [index.doc2signature(text) for text in texts]


def _simhash(shingles: Shingles) -> Sketcher:
    from simhash import Simhash

    return lambda texts: [Simhash(shingles.of(text)).value for text in texts]


def _simhash_xxh3(shingles: Shingles) -> Sketcher:
    from simhash import Simhash
    from xxhash import xxh3_64_digest

    return lambda texts: [
        Simhash(shingles.of(text), hashfunc=xxh3_64_digest).value for text in texts
    ]


def _simhash_text(shingles: Shingles) -> Sketcher:
    from simhash import Simhash

    if shingles != Shingles("char", 4):
        raise ValueError(f"simhash cuts a text into runs of 4 characters, not into {shingles}")
    return lambda texts: [Simhash(text).value for text in texts]


def _simhash_pybind(shingles: Shingles) -> Sketcher:
    from xxhash import xxh3_64_intdigest

    compute = load_simhash_pybind().compute
    return lambda texts: [
        compute(list(map(xxh3_64_intdigest, shingles.encoded(text)))) for text in texts
    ]


def load_simhash_pybind() -> ModuleType:
    """Import it under a name of its own: it installs a module `simhash`, as `simhash` does."""
    folder = SIMHASH_PYBIND / "simhash"
    spec = importlib.util.spec_from_file_location(
        "simhash_pybind", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} holds no Python package")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _rensa(shingles: Shingles) -> Sketcher:
    from rensa import RMinHash

    def digest(tokens: list[bytes]) -> object:
        sketch = RMinHash(num_perm=128, seed=42)
        sketch.update(tokens)
        return sketch.digest()

    return lambda texts: [digest(shingles.encoded(text)) for text in texts]


def _datasketch(shingles: Shingles) -> Sketcher:
    from datasketch import MinHash
    from xxhash import xxh32_intdigest

    return lambda texts: MinHash.bulk(
        (shingles.encoded(text) for text in texts), num_perm=128, hashfunc=xxh32_intdigest
    )


def _scikit_learn(shingles: Shingles) -> Sketcher:
    import numpy as np
    from sklearn.feature_extraction.text import HashingVectorizer

    vectorizer = HashingVectorizer(
        n_features=64, alternate_sign=True, norm=None, analyzer=shingles.of
    )
    return lambda texts: np.packbits(vectorizer.transform(texts).toarray() > 0, axis=1)


GAOYA = Peer(
    "gaoya",
    "gaoya",
    "SimHash64, its own analyzer in Rust with `ngram_range=(n, n)` and `lowercase=True`, "
    "`doc2signature` for each document",
    16,
    _gaoya,
)
SIMHASH = Peer(
    "simhash", "simhash", "`Simhash(list of shingles)` with its default hash, MD5", 2, _simhash
)
WORD_PEERS = (
    GAOYA,
    SIMHASH,
    Peer(
        "simhash + xxh3",
        "simhash",
        "`Simhash(list of shingles, hashfunc=xxh3_64_digest)`: not its default, but quicker",
        2,
        _simhash_xxh3,
    ),
    Peer(
        "simhash-pybind",
        "simhash-pybind",
        "`compute(hashes)`, the hashes XXH3 of the shingles; its C++ is that of simhash-py, which "
        "does not build on Python 3.11",
        4,
        _simhash_pybind,
    ),
    Peer(
        "rensa",
        "rensa",
        "`RMinHash` with 128 permutations over the shingles: MinHash, the nearest thing it has",
        8,
        _rensa,
    ),
    Peer(
        "datasketch",
        "datasketch",
        "`MinHash.bulk` with 128 permutations and xxh32: MinHash, the nearest thing it has",
        2,
        _datasketch,
    ),
    Peer(
        "scikit-learn",
        "scikit-learn",
        "signs of `HashingVectorizer(n_features=64, alternate_sign=True)` over the shingles: "
        "each shingle votes on one bit, not on all 64",
        4,
        _scikit_learn,
    ),
)
CHAR_PEERS = (
    GAOYA,
    Peer(
        "simhash",
        "simhash",
        "`Simhash(text)`: its default, 4 characters of the text without white space, MD5",
        1,
        _simhash_text,
    ),
)


def versions(peers: Iterable[Peer]) -> dict[str, str]:
    """The version of each package the peers come from, and of xxhash, which several use."""
    found = {peer.package: peer.version() for peer in peers}
    return {**found, "xxhash": metadata.version("xxhash")}
