"""The commands of the page on choosing settings, run on labelled collections of their kind.

Each row of the page is one command, run on at least two collections as users would run it: as a
process of its own, whose time and memory are measured, and whose clusters are scored by labels.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import child, measure
from benchmarks.choosing_collections import COLLECTIONS, DATA, Labelled, is_here
from benchmarks.result import Json, Result, package_versions

BENCHMARK = "choosing"
DEFAULTS, HARMFUL = "defaults", "harmful"
_CUT = 110  # characters of a text in an example


@dataclass(frozen=True)
class Advice:
    """A kind of data, and the options of `neardup dedup` for it.

    Where documents are records, the names of their fields differ: `fields` has the options for
    each collection. `wrong` says what the command gets wrong, as seen in its mistakes.
    """

    kind: str
    data: str
    options: str
    collections: tuple[str, ...]
    wrong: str
    fields: dict[str, str] = field(default_factory=dict)

    def options_for(self, collection: str) -> str:
        return self.fields.get(collection, self.options)


_PERSON = (
    "given_name:char:3 + surname:char:3 + address_1:char:3 + suburb:char:3 + postcode:exact + "
    "date_of_birth:exact*2 + soc_sec_id:exact*2"
)
_OFFER = "title:word:1*3 + brand:exact + modelno:char:3*2 + price:number:0.2"

ADVICE = (
    Advice(
        "people",
        "names and addresses in columns",
        "--text 'name:char:3 + street:char:3 + town:char:3 + phone:exact*2' --threshold 0.5 "
        "--cluster dense",
        ("persons", "contacts"),
        "Records in which several fields changed at once are missed: given name and surname "
        "in each other's place, another street, initials without a telephone number. With "
        "initials and no number, two persons of one street were taken for one.",
        {"persons": f"--text '{_PERSON}' --threshold 0.5 --cluster dense"},
    ),
    Advice(
        "names",
        "names and addresses as one text: a few words with typing errors",
        "--features char:4 --weights tfidf --threshold 0.3 --cluster dense",
        ("persons", "contacts"),
        "Two persons in one building with a long name are taken for one: its words are rare, "
        "and names count no more. Records with initials, an abbreviated street and a misspelt "
        "town at once are missed.",
    ),
    Advice(
        "records",
        "publications or offers in columns",
        "--text 'title:char:3*3 + authors:char:3*2 + year:number' --threshold 0.6",
        ("citations", "products"),
        "Offers and papers that agree in all but what matters: earphones in red and in "
        "violet, mats of 24 x 36 and of 36 x 60, a tutorial and an article of one title. "
        "Offers whose titles say much more or less are missed. On offers about half of the "
        "labelled pairs that it joins are wrong: label pairs and run "
        "`neardup tune IN --labels labels.csv`.",
        {"products": f"--text '{_OFFER}' --threshold 0.6"},
    ),
    Advice(
        "titles",
        "titles of offers or publications as one text",
        "--features word:1 --weights tfidf --threshold 0.4",
        ("citations", "products", "offers"),
        "Variants: `1 tb` and `1.5 tb` of one drive, the same column in two years, several "
        "papers of the same authors on one subject. Authors in another spelling are missed. "
        "On offers, about half of the pairs are wrong: for these, label pairs and run "
        "`neardup tune IN --labels labels.csv`, or use columns.",
    ),
    Advice(
        "questions",
        "questions, headlines, short messages: the same in other words",
        "--features word:1 --weights tfidf --threshold 0.4 --cluster dense",
        ("django_questions", "rust_questions", "close_questions"),
        "Questions whose rare words were left out or replaced by synonyms are missed; those "
        "that share a rare word and the way of asking are taken for the same. Where topics "
        "are alike, as in `close_questions`, nearly all that it joins is wrong: label pairs "
        "first. All three collections are made, and real questions differ in more ways.",
    ),
    Advice(
        "chinese",
        "short texts in Chinese",
        "--features word:2 --threshold 0.3 --cluster dense",
        ("tang_poems", "varied_poems"),
        "In the Tang poems, nearly all wrong pairs that we looked at are the same poem under "
        "another title or author, which the labels hold for different. Fragments of a long "
        "poem are missed, and so are texts of one line with variant characters.",
    ),
    Advice(
        "edited",
        "abstracts, articles, posts: edited, cut, with other words around them",
        "--features word:2 --threshold 0.3 --cluster dense",
        ("edited_abstracts", "arxiv"),
        "Works on one subject whose abstracts share sentences are taken for the same. In "
        "arXiv, many pairs that are wrong by the labels are two versions of one work all the "
        "same. Abstracts that were written anew, sentence by sentence, are missed.",
    ),
    Advice(
        "scanned",
        "texts read by OCR, or abridged",
        "--features word:1 --threshold 0.3 --cluster dense",
        ("scanned_abstracts", "scanned_manual"),
        "Texts with many misread letters are missed, above all if one of them is abridged. "
        "The few wrong pairs that we saw are abstracts or paragraphs on the same work that "
        "begin alike.",
    ),
    Advice(
        "versions",
        "long documents in several versions: manuals, licences, contracts",
        "--features word:3 --threshold 0.8",
        ("django_docs", "licenses"),
        "Release notes of versions that were published on one day differ in a few words, and "
        "are taken for the same. Pages that were rewritten between releases are missed. On "
        "the licences, the labels are pairs of similar texts, and similar to similar need not "
        "be similar: two licences with a label are often removed for two different ones, "
        "which counts as missed. Each removed licence is similar to the one that it was "
        "removed for.",
    ),
    Advice(
        "pages",
        "web pages from templates, as HTML",
        "--features word:2 --weights tfidf --threshold 0.8",
        ("rust_pages", "shop_pages"),
        "No threshold serves all templates: on the pages of the shop, prices, dates and the "
        "margin are most of what is not template, and nothing is found. Of twelve wrong pairs "
        "of Rust that we looked at, about eight are one item under two paths, which the "
        "labels do not know; the others are short pages, such as those of two constants. "
        "Extract the text of pages first, or label pairs and run "
        "`neardup tune IN --labels labels.csv`.",
    ),
)
# One setting for all short texts, if nothing else is known: two thresholds, two ways to cluster.
_SHORT = "--features word:1 --weights tfidf --threshold"
SHORT = {
    "short 0.3": f"{_SHORT} 0.3",
    "short 0.4": f"{_SHORT} 0.4",
    "short dense": f"{_SHORT} 0.4 --cluster dense",
}
SHORT_COLLECTIONS = (
    *("persons", "contacts", "citations", "products", "offers"),
    *("django_questions", "rust_questions", "close_questions"),
)
# The line that this page once recommended for names, addresses and titles.
FORMER = "--features char:2 --threshold 0.4 --cluster components"
FORMER_COLLECTIONS = ("citations", "products", "offers")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the result."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser = measure.options(BENCHMARK, __doc__, rounds=None)
    parser.add_argument("--only", nargs="+", choices=COLLECTIONS, help="collections to measure")
    parser.add_argument("--documents", type=int, help="at most so many of each, for a trial")
    chosen = parser.parse_args(arguments)
    if not is_here():
        raise SystemExit(f"{DATA} is missing, which this is measured on")
    names = chosen.only or list(COLLECTIONS)
    rows = [row for name in names for row in _rows(name, chosen.documents)]
    versions = package_versions(["neardup", "numpy", "pyarrow"])
    told = [*(["--only", *names] if chosen.only else [])]
    told += ["--documents", str(chosen.documents)] if chosen.documents else []
    Result.of(BENCHMARK, told, versions, {}, rows).save(chosen.out)


def commands_for(name: str) -> Iterator[tuple[str, str]]:
    """The kinds of advice for a collection, with their options; the defaults come first."""
    yield DEFAULTS, ""
    for advice in ADVICE:
        if name in advice.collections:
            yield advice.kind, advice.options_for(name)
    if name in SHORT_COLLECTIONS:
        yield from SHORT.items()
    if name in FORMER_COLLECTIONS:
        yield HARMFUL, FORMER


def _rows(name: str, most: int | None) -> Iterator[Json]:
    collection = COLLECTIONS[name]()
    if most is not None:
        collection = collection.some(most)
    with tempfile.TemporaryDirectory() as folder:
        documents = Path(folder) / f"{name}.parquet"
        pq.write_table(collection.documents, documents)
        for kind, options in commands_for(name):
            print(f"{name}: {options or DEFAULTS}", file=sys.stderr)
            out = Path(folder) / kind
            words = [str(documents), "-o", str(out), "--quiet", *shlex.split(options)]
            cost = child.run([child.neardup_command(), "dedup", *words])
            yield {
                "collection": name,
                "about": collection.about,
                "truth": collection.truth,
                "documents": len(collection.documents),
                "true_pairs": len(collection.same),
                "kind": kind,
                "options": options,
                **scores(collection, pq.read_table(out / "clusters.parquet")),
                "seconds": round(cost.wall, 2),
                "peak_megabytes": round(cost.peak_megabytes),
            }


def scores(collection: Labelled, clusters: pa.Table) -> Json:
    """Rates of pairs in one cluster, what was removed, and an example of each kind of mistake."""
    places = {id: place for place, id in enumerate(collection.documents["id"].to_pylist())}
    found = np.full(len(places), -1, np.int64)
    members = [places[id] for id in clusters["id"].to_pylist()]
    found[members] = clusters["cluster"].to_numpy()
    sizes = np.bincount(found[found >= 0])
    known = np.ones(len(found), np.bool_) if collection.complete is None else collection.complete
    same = _places(collection.same, places)
    together = _together(found, same)
    if collection.different is None:
        judged = np.bincount(found[(found >= 0) & known])
        shown = int((judged * (judged - 1) // 2).sum())
        right = int((together & known[same].all(axis=1)).sum())
    else:
        right = int(together.sum())
        shown = right + int(_together(found, _places(collection.different, places)).sum())
    precision = right / shown if shown else None
    recall = float(together.mean())
    total = (precision or 0.0) + recall
    return {
        "precision": precision if precision is None else round(precision, 4),
        "recall": round(recall, 4),
        "f1": round(2 * (precision or 0.0) * recall / total, 4) if total else 0.0,
        "removed": len(clusters) - int(clusters["kept"].to_numpy().sum()),
        "largest": int(sizes.max(initial=0)),
        "wrong": _wrong(collection, clusters, places, known),
        "missed": _example(collection, *same[np.flatnonzero(~together)[:1]].T),
    }


def _wrong(
    collection: Labelled, clusters: pa.Table, places: dict[str, int], known: np.ndarray
) -> list[str] | None:
    """The most similar pair of a removed document and the one it was removed for that is wrong."""
    removed = clusters.filter(pa.array(~clusters["kept"].to_numpy()))
    order = np.argsort(-removed["similarity"].to_numpy(), kind="stable")
    true = {frozenset(pair) for pair in _places(collection.same, places).tolist()}
    false = collection.different
    judged = None if false is None else {frozenset(p) for p in _places(false, places).tolist()}
    ids, kept = removed["id"].to_pylist(), removed["duplicate_of"].to_pylist()
    for row in order.tolist():
        a, b = places[ids[row]], places[kept[row]]
        pair = frozenset((a, b))
        wrong = pair not in true and known[a] and known[b]
        if wrong if judged is None else pair in judged:
            return _example(collection, np.array([a]), np.array([b]))
    return None


def _places(pairs: pa.Table, places: dict[str, int]) -> np.ndarray:
    sides = [[places[id] for id in pairs[side].to_pylist()] for side in ("a", "b")]
    return np.array(sides, np.int64).T.reshape(-1, 2)


def _together(found: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    a, b = found[pairs].T
    return np.asarray((a == b) & (a >= 0))


def _example(collection: Labelled, first: np.ndarray, second: np.ndarray) -> list[str] | None:
    """Two texts, cut to the part where they differ; None if there is no such pair."""
    if not len(first):
        return None
    column = collection.documents["text"]
    texts = [" ".join(column[int(places[0])].as_py().split()) for places in (first, second)]
    letters = zip(*texts, strict=False)
    equal = next((at for at, (a, b) in enumerate(letters) if a != b), min(map(len, texts)))
    begin = max(0, equal - _CUT // 3) if equal < min(map(len, texts)) else 0
    return [_cut(text, begin) for text in texts]


def _cut(text: str, begin: int) -> str:
    shown = text[begin:]
    shown = shown if len(shown) <= _CUT else shown[: _CUT - 1] + "…"
    return f"…{shown}" if begin else shown


if __name__ == "__main__":
    main()
