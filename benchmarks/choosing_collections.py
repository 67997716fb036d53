"""The labelled collections of the page on choosing settings: eight real ones, ten made here.

Real collections lie beside the repository. A made one takes real texts apart and puts them together
again by rules that are written down in its function, with a fixed seed, so that the truth is known:
two documents are the same if they were made of one origin.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks import corpora

DATA = corpora.ARXIV.parent
COMPLETE = "complete: any other pair counts as wrong"
LABELLED = "labelled pairs only: other pairs are unknown"
BY_SIMILARITY = "by similarity, so it says what the search finds, not what people would say"
MADE = "known, because the documents were made: any other pair counts as wrong"


@dataclass(frozen=True, eq=False)
class Labelled:
    """Documents (`id`, `text` and perhaps fields), and what is known about their pairs.

    `same` and `different` have the columns `a` and `b`. Where nothing is known to be different,
    `complete` says for which documents all pairs are known.
    """

    name: str
    about: str
    truth: str
    documents: pa.Table
    same: pa.Table
    different: pa.Table | None = None
    complete: np.ndarray | None = None

    def some(self, count: int) -> Labelled:
        """At most so many documents, those of the first true pairs before others, for a trial."""
        ids = self.documents["id"].to_pylist()
        paired = self.same.slice(0, count // 4)
        first = {*map(str, paired["a"].to_pylist()), *map(str, paired["b"].to_pylist())}
        order = sorted(range(len(ids)), key=lambda place: str(ids[place]) not in first)
        places = pa.array(sorted(order[:count]))
        documents = self.documents.take(places)
        same, different = (
            None if pairs is None else _among(pairs, documents["id"])
            for pairs in (self.same, self.different)
        )
        assert same is not None
        complete = None if self.complete is None else self.complete[places.to_numpy()]
        return replace(self, documents=documents, same=same, different=different, complete=complete)


def is_here() -> bool:
    """Whether the real collections are beside the repository."""
    return all((DATA / name / "docs.parquet").exists() for name in ("persons", "rustdoc", "arxiv"))


def _among(pairs: pa.Table, ids: pa.ChunkedArray) -> pa.Table:
    ids = ids.combine_chunks()
    known = (pc.is_in(pairs[side].cast(ids.type), value_set=ids) for side in ("a", "b"))
    return pairs.filter(pc.and_(*known))


def _pairs(pairs: Iterable[tuple[str, str]]) -> pa.Table:
    a, b = zip(*pairs, strict=True)
    return pa.table({"a": list(a), "b": list(b)})


def _stored(name: str, about: str, truth: str) -> Labelled:
    folder = DATA / name
    different = folder / "non_pairs.parquet"
    return Labelled(
        name,
        about,
        truth,
        pq.read_table(folder / "docs.parquet"),
        pq.read_table(folder / "pairs.parquet"),
        pq.read_table(different) if different.exists() else None,
    )


def persons() -> Labelled:
    return _stored("persons", "made-up persons with typing errors (FEBRL data set 2)", COMPLETE)


def products() -> Labelled:
    return _stored("products", "offers of two shops (Walmart and Amazon)", LABELLED)


def citations() -> Labelled:
    return _stored("citations", "bibliographic records of two databases (DBLP and ACM)", LABELLED)


def tang_poems() -> Labelled:
    found = _stored(
        "tang_poems",
        "two editions of the Complete Tang Poems",
        "same author and title; precision is measured where both editions are complete",
    )
    return replace(found, complete=found.documents["in_gold"].to_numpy())


def django_docs() -> Labelled:
    return _stored("django_docs", "documentation pages of seven Django releases", COMPLETE)


def arxiv() -> Labelled:
    found = _stored("arxiv", "arXiv abstracts", f"cosine 0.8 of tf-idf vectors: {BY_SIMILARITY}")
    same = found.same.filter(pc.greater_equal(found.same["cosine"], 0.8))
    return replace(found, same=same)


def licenses() -> Labelled:
    """English texts of at least 20 words, where every pair is known."""
    found = _stored(
        "licenses", "licence texts and notices", f"Jaccard 0.8 of `word:3`: {BY_SIMILARITY}"
    )
    documents = found.documents
    known = pc.and_(
        pc.equal(documents["language"], "en"), pc.greater_equal(documents["n_words"], 20)
    )
    same = found.same.filter(pc.greater_equal(found.same["jaccard3"], 0.8))
    return replace(found, documents=documents.filter(known), same=same)


def rust_pages() -> Labelled:
    """HTML pages of Rust's standard library: one item has a page in each crate that offers it.

    Pages of machine intrinsics (`core_arch`, 50,000 pages from one template) are left out.
    """
    documents = pq.read_table(DATA / "rustdoc" / "docs.parquet")
    ids = documents["id"].to_pylist()
    taken = [_rust_item(id) is not None for id in ids]
    pages: dict[str, list[str]] = defaultdict(list)
    for id in ids:
        if (item := _rust_item(id)) is not None:
            pages[item].append(id)
    return Labelled(
        "rust_pages",
        "HTML pages of Rust's core, alloc and std",
        "same path in another crate; an item that has a second path counts as wrong, although it "
        "is the same, so precision is too low",
        documents.filter(pa.array(taken)),
        _pairs(_within(pages.values())),
    )


def _rust_item(id: str) -> str | None:
    """The path of an item below its crate."""
    crate, _, item = id.removeprefix("html/").partition("/")
    return item if crate in ("core", "alloc", "std") and "arch/" not in item else None


def _within(groups: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    return [(a, b) for same in groups for place, b in enumerate(same) for a in same[:place]]


class _Made:
    """Documents made of origins: the first is the origin itself, the others are variants."""

    def __init__(self) -> None:
        self._rows: list[dict[str, str]] = []
        self._same: list[list[str]] = []

    def add(self, texts: Iterable[str]) -> None:
        self.add_records({"text": text} for text in texts)

    def add_records(self, rows: Iterable[dict[str, str]]) -> None:
        """The origin with its variants; one that became empty or equal to another is left out."""
        distinct = list({row["text"]: row for row in rows if row["text"].strip()}.values())
        ids = [f"d{len(self._same)}-{place}" for place in range(len(distinct))]
        self._same.append(ids)
        self._rows += [{"id": id, **row} for id, row in zip(ids, distinct, strict=True)]

    def labelled(self, name: str, about: str, seed: int) -> Labelled:
        rows = self._rows.copy()
        random.Random(seed).shuffle(rows)
        same = _pairs(_within(self._same))
        return Labelled(name, about, MADE, pa.Table.from_pylist(rows), same)


_NEIGHBOURS = dict(
    zip(
        "qwertyuiopasdfghjklzxcvbnm",
        ("wa", "es", "rd", "tf", "yg", "uh", "ij", "ok", "pl", "l", "sq", "dw", "fe", "gr", "ht",
         "jy", "ku", "li", "o", "xa", "zc", "xv", "cb", "vn", "bm", "n"),
        strict=True,
    )
)  # fmt: skip


def _typo(word: str, chance: random.Random) -> str:
    """One letter left out, doubled, swapped with the next, or hit on the next key."""
    if len(word) < 3:
        return word
    at = chance.randrange(len(word) - 1)
    before, letter, after = word[:at], word[at], word[at + 1 :]
    return chance.choice(
        (
            before + after,
            before + letter + letter + after,
            before + after[0] + letter + after[1:],
            before + chance.choice(_NEIGHBOURS.get(letter, letter)) + after,
        )
    )


_SHORTER = {"street": "st", "place": "pl", "road": "rd", "avenue": "ave", "crescent": "cres",
            "court": "ct", "close": "cl", "circuit": "cct", "drive": "dr"}  # fmt: skip


def contacts() -> Labelled:
    """Contacts: names, streets and towns of the persons, drawn anew, with a telephone number.

    Half of them are entered again, up to three times: 1 or 2 typing errors in name and address,
    streets abbreviated (probability 0.5), first names as initials (0.2), the telephone number
    missing (0.3), the name behind the address (0.2; only in `text`, which joins the fields).
    """
    chance = random.Random(19)
    source = pq.read_table(DATA / "persons" / "docs.parquet")
    given, surname, street, suburb = (
        sorted(set(filter(None, source[name].to_pylist())))
        for name in ("given_name", "surname", "address_1", "suburb")
    )
    made = _Made()
    for _ in range(4000):
        name = f"{chance.choice(given)} {chance.choice(surname)}"
        address = f"{chance.randrange(1, 200)} {chance.choice(street)}"
        town = chance.choice(suburb)
        phone = "".join(chance.choice("0123456789") for _ in range(8))
        versions = [_contact(name, address, town, phone)]
        for _ in range(chance.choice((0, 0, 0, 1, 1, 2, 3))):
            again = [name, address, town]
            if chance.random() < 0.5:
                again[1] = " ".join(_SHORTER.get(word, word) for word in address.split())
            if chance.random() < 0.2:
                again[0] = f"{name[0]} {name.split()[-1]}"
            for _ in range(chance.choice((1, 2))):
                field = chance.randrange(3)
                words = again[field].split()
                at = chance.randrange(len(words))
                words[at] = _typo(words[at], chance)
                again[field] = " ".join(words)
            known = "" if chance.random() < 0.3 else phone
            last = chance.random() < 0.2
            versions.append(_contact(again[0], again[1], again[2], known, last=last))
        made.add_records(versions)
    about = "made: names, addresses and telephone numbers, entered again"
    return made.labelled("contacts", about, 1)


def _contact(name: str, street: str, town: str, phone: str, last: bool = False) -> dict[str, str]:
    parts = (street, town, name, phone) if last else (name, street, town, phone)
    text = " ".join(filter(None, parts))
    return {"text": text, "name": name, "street": street, "town": town, "phone": phone}


def offers() -> Labelled:
    """Offers: titles of the shop `l` of the products, worded anew.

    Half of them are offered again, up to twice: the words that are no numbers change their order
    (probability 0.5), each word is left out (0.15), the first two words stand at the end (0.3), a
    word such as `new` or `genuine` is added (0.5), sizes lose their unit's space (0.5).
    """
    chance = random.Random(20)
    source = pq.read_table(DATA / "products" / "docs.parquet")
    titles = source.filter(pc.equal(source["side"], "l"))["title"].to_pylist()
    made = _Made()
    for title in dict.fromkeys(titles):
        versions = [title]
        for _ in range(chance.choice((0, 0, 1, 2))):
            words = [word for word in title.split() if chance.random() >= 0.15]
            if chance.random() < 0.5:
                moved = [word for word in words if not re.search(r"\d", word)]
                chance.shuffle(moved)
                words = [word if re.search(r"\d", word) else moved.pop() for word in words]
            if chance.random() < 0.3:
                words = words[2:] + words[:2]
            if chance.random() < 0.5:
                words.insert(chance.randrange(len(words) + 1), chance.choice(_SALES))
            text = " ".join(words)
            if chance.random() < 0.5:
                text = re.sub(r"(\d) (gb|mb|inch|mm|ft|oz)\b", r"\1\2", text)
            versions.append(text)
        made.add(versions)
    return made.labelled("offers", "made: titles of offers, worded anew", 2)


_SALES = ("new", "genuine", "original", "refurbished", "pack", "retail", "sale", "black", "by")
_ASKING = (
    "how do i {}",
    "how can i {}",
    "what is the best way to {}",
    "is there a way to {}",
    "please help me {}",
    "can somebody explain how to {}",
    "{}, how does that work",
    "i want to {}, but how",
)
_SYNONYMS = {
    "use": "employ", "using": "with", "create": "make", "creating": "making", "delete": "remove",
    "deleting": "removing", "change": "modify", "changing": "modifying", "get": "fetch",
    "set": "assign", "setting": "option", "settings": "options", "file": "document",
    "files": "documents", "returns": "gives", "return": "give", "error": "failure",
    "errors": "failures", "custom": "own", "write": "author", "writing": "authoring",
    "test": "check", "tests": "checks", "method": "function", "methods": "functions",
    "value": "entry", "values": "entries", "list": "sequence", "object": "instance",
    "objects": "instances", "run": "execute", "running": "executing", "start": "begin",
    "new": "fresh", "default": "standard", "between": "among", "contains": "has",
}  # fmt: skip


def _questions(name: str, about: str, topics: Sequence[str], seed: int) -> Labelled:
    """A topic is asked about once to three times.

    Each time with other words around it; known words are replaced by synonyms (0.5), and words of
    the topic are left out (0.1 each), of which at least three remain.
    """
    chance = random.Random(seed)
    made = _Made()
    for topic in topics:
        versions = []
        for asking in chance.sample(_ASKING, chance.choice((1, 1, 2, 3))):
            words = [
                _SYNONYMS.get(word, word) if chance.random() < 0.5 else word
                for word in topic.split()
                if chance.random() >= 0.1
            ]
            if len(words) > 2:
                versions.append(asking.format(" ".join(words)) + "?")
        made.add(versions)
    return made.labelled(name, about, seed)


def django_questions() -> Labelled:
    """The headings of the newest Django documentation, without topics that are alike."""
    topics = _topics(_django_headings())
    about = "made: questions on headings of Django, no two topics alike"
    return _questions("django_questions", about, topics, 21)


def close_questions() -> Labelled:
    """The same headings without the rule that leaves out topics that are alike."""
    topics = list(dict.fromkeys(" ".join(words) for words in _topic_words(_django_headings())))
    about = "made: questions on headings of Django, many of them on topics that are alike"
    return _questions("close_questions", about, topics, 21)


def _django_headings() -> list[str]:
    heading = re.compile(r"^(\S[^\n]{8,80})\n[=\-~]{8,}$", re.MULTILINE)
    return [found for text in _newest_django() for found in heading.findall(text)]


def _newest_django() -> list[str]:
    documents = pq.read_table(DATA / "django_docs" / "docs.parquet")
    versions = documents["version"].to_pylist()
    newest = max(versions, key=lambda version: [int(part) for part in version.split(".")])
    texts: list[str] = documents.filter(pc.equal(documents["version"], newest))["text"].to_pylist()
    return texts


def rust_questions() -> Labelled:
    """The first sentences of the pages of Rust's standard library."""
    pages = rust_pages().documents["text"].to_pylist()
    meta = re.compile(r'<meta name="description" content="([^"]{15,120})"')
    found = (unescape(match.group(1)) for text in pages if (match := meta.search(text)))
    return _questions(
        "rust_questions",
        "made: questions on items of Rust, no two topics alike",
        _topics(found),
        22,
    )


def _topics(texts: Iterable[str]) -> list[str]:
    """Topics without those that share half of their words with an earlier one.

    This rule was added after a first measurement: most headings are variants of each other ("what's
    new in 4.1", "what's new in 4.2"), and F1 was below 0.4 at any setting tried. `close_questions`
    shows the same headings without it.
    """
    topics: list[frozenset[str]] = []
    with_word: dict[str, list[int]] = defaultdict(list)
    found: list[str] = []
    for words in _topic_words(texts):
        known = frozenset(words)
        shared = Counter(place for word in known for place in with_word[word])
        if any(2 * count >= min(len(known), len(topics[at])) for at, count in shared.items()):
            continue
        for word in known:
            with_word[word].append(len(topics))
        topics.append(known)
        found.append(" ".join(words))
    return found


def _topic_words(texts: Iterable[str]) -> Iterator[list[str]]:
    """The words of texts that have 4 to 12, and at least four different ones."""
    for text in texts:
        words = re.findall(r"[a-z0-9_.]*[a-z0-9_]", text.lower())
        if 4 <= len(words) <= 12 and len(set(words)) >= 4:
            yield words


def _abstracts(count: int) -> list[str]:
    """Abstracts of at least 60 words that are no near-duplicates of each other."""
    found = arxiv()
    ids = set(found.same["a"].to_pylist()) | set(found.same["b"].to_pylist())
    rows = zip(found.documents["id"].to_pylist(), found.documents["text"].to_pylist(), strict=True)
    texts = [text for id, text in rows if id not in ids and len(text.split()) >= 60]
    return random.Random(23).sample(texts, count)


def edited_abstracts() -> Labelled:
    """Abstracts as repositories have them: edited, cut, with other words around them.

    Half of them have 1 or 2 variants: 2 to 15 % of the words replaced by words of other abstracts,
    a sentence left out (0.5), only the first half kept (0.2), a line such as a licence notice or
    `Abstract:` added (0.5).
    """
    chance = random.Random(24)
    abstracts = _abstracts(4000)
    pool = [word for text in abstracts[:500] for word in text.split()]
    made = _Made()
    for text in abstracts:
        versions = [text]
        for _ in range(chance.choice((0, 0, 1, 2))):
            sentences = re.split(r"(?<=\.)\s+", text)
            if len(sentences) > 2 and chance.random() < 0.5:
                del sentences[chance.randrange(len(sentences))]
            words = " ".join(sentences).split()
            share = chance.uniform(0.02, 0.15)
            words = [chance.choice(pool) if chance.random() < share else word for word in words]
            if chance.random() < 0.2:
                words = words[: len(words) // 2]
            before, after = chance.choice(_AROUND) if chance.random() < 0.5 else ("", "")
            versions.append(before + " ".join(words) + after)
        made.add(versions)
    return made.labelled("edited_abstracts", "made: abstracts, edited and cut", 3)


_AROUND = (
    ("Abstract: ", ""),
    ("", " Comment: accepted for publication, 12 pages, 5 figures"),
    ("", " This is the author's version of the work, posted here for your personal use."),
    ("Preprint. ", " Keywords: see the full text."),
)
_MISREAD = {"e": "c", "c": "e", "l": "1", "i": "l", "o": "0", "m": "rn", "h": "b", "t": "f",
            "s": "5", "u": "n", "n": "u", "a": "o"}  # fmt: skip


def scanned_abstracts() -> Labelled:
    return _scanned("scanned_abstracts", "abstracts", _abstracts(4000), 25)


def scanned_manual() -> Labelled:
    """Paragraphs of the newest Django documentation with 60 to 300 words, each once."""
    paragraphs = (part for text in _newest_django() for part in text.split("\n\n"))
    texts = list({text: None for text in paragraphs if 60 <= len(text.split()) <= 300})
    return _scanned("scanned_manual", "paragraphs of a manual", _unlike(texts), 28)


def _scanned(name: str, what: str, texts: Sequence[str], seed: int) -> Labelled:
    """Texts as from newspapers read by OCR: misread letters, and abridged from the end.

    All versions of a text, 1 to 4, are scans: each has 1 to 8 % of its letters misread, words torn
    apart (0.03 each) and, with probability 0.5, only its first 40 to 90 % of words.
    """
    chance = random.Random(seed)
    made = _Made()
    for text in texts:
        versions = []
        for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
            words = text.split()
            if chance.random() < 0.5:
                words = words[: int(len(words) * chance.uniform(0.4, 0.9))]
            share = chance.uniform(0.01, 0.08)
            letters = [
                _MISREAD.get(letter, letter) if chance.random() < share else letter
                for letter in " ".join(words)
            ]
            scanned = "".join(letters).split()
            versions.append(" ".join(_torn(word, chance) for word in scanned))
        made.add(versions)
    return made.labelled(name, f"made: {what} with errors of OCR, abridged", seed)


def _torn(word: str, chance: random.Random) -> str:
    if len(word) > 3 and chance.random() < 0.03:
        at = chance.randrange(1, len(word) - 1)
        return f"{word[:at]} {word[at:]}"
    return word


def shop_pages() -> Labelled:
    """Pages of a shop, from one template: navigation, an offer of the products, terms.

    Half of the offers have 1 or 2 more pages: with another session number, another price, another
    date, other offers of twenty in the margin, and 0 to 2 words of the title left out.
    """
    chance = random.Random(26)
    source = pq.read_table(DATA / "products" / "docs.parquet")
    rows = source.filter(pc.equal(source["side"], "r")).to_pylist()
    chance.shuffle(rows)
    rows = list({row["title"]: row for row in rows}.values())[:3000]
    made = _Made()
    for row in rows:
        versions = []
        for version in range(1 + chance.choice((0, 0, 1, 2))):
            words = row["title"].split()
            for _ in range(chance.choice((0, 1, 2)) if version else 0):
                if len(words) > 3:
                    del words[chance.randrange(len(words))]
            margin = " ".join(
                f"<li>{chance.choice(rows[:20])['title'][:40]}</li>" for _ in range(3)
            )
            versions.append(
                _SHOP.format(
                    title=" ".join(words),
                    category=row["category"],
                    brand=row["brand"],
                    model=row["modelno"],
                    price=f"{chance.uniform(5, 500):.2f}",
                    session=chance.randrange(10**9),
                    date=f"2024-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}",
                    margin=margin,
                )
            )
        made.add(versions)
    return made.labelled("shop_pages", "made: HTML pages of a shop, from one template", 5)


_SHOP = """\
<!DOCTYPE html><html lang="en"><head><title>{title} - The Shop</title>
<meta name="session" content="{session}"></head><body>
<nav><a href="/">Home</a> <a href="/new">New arrivals</a> <a href="/sale">Sale</a>
<a href="/account">Your account</a> <a href="/basket">Basket</a> <a href="/help">Help</a></nav>
<main><h1>{title}</h1><p>Category: {category}</p><p>Brand: {brand}</p><p>Model: {model}</p>
<p>Price: {price} USD, as of {date}</p><p>In stock, usually dispatched within two working days.
Free returns within thirty days of delivery. Customers rate our service four stars of five.</p>
<button>Add to basket</button></main>
<aside><h2>Other customers looked at</h2><ul>{margin}</ul></aside>
<footer><p>All prices include value added tax. Delivery costs are shown in the basket. By ordering
you accept our terms of sale and our privacy notice. The Shop is a trade mark of The Shop
Limited, registered in England and Wales.</p><p>Page made on {date}.</p></footer></body></html>
"""


def varied_poems() -> Labelled:
    """Poems outside the part of `tang_poems` that is labelled, with variants as copyists make them.

    Half of 4,000 poems have 1 or 2 variants: 5 to 25 % of the characters replaced by characters of
    other poems, a couplet left out (0.3), other punctuation (0.5).
    """
    chance = random.Random(27)
    found = tang_poems()
    known = set(found.same["a"].to_pylist()) | set(found.same["b"].to_pylist())
    rows = zip(found.documents["id"].to_pylist(), found.documents["text"].to_pylist(), strict=True)
    texts = list({text: None for id, text in rows if id not in known and len(text) >= 20})
    texts = chance.sample(_unlike(texts), 4000)
    pool = [letter for text in texts[:300] for letter in text if letter.isalpha()]
    made = _Made()
    for text in texts:
        versions = [text]
        for _ in range(chance.choice((0, 0, 1, 2))):
            lines = text.split("\n")
            if len(lines) > 2 and chance.random() < 0.3:
                del lines[chance.randrange(len(lines))]
            share = chance.uniform(0.05, 0.25)
            letters = [
                chance.choice(pool) if letter.isalpha() and chance.random() < share else letter
                for letter in "\n".join(lines)
            ]
            varied = "".join(letters)
            versions.append(varied.replace("，", "、") if chance.random() < 0.5 else varied)
        made.add(versions)
    return made.labelled("varied_poems", "made: Tang poems with variants", 6)


def _unlike(texts: list[str]) -> list[str]:
    """The texts without near-duplicates of others, even distant ones."""
    import neardup as nd

    found = nd.dedup(pa.table({"text": texts}), features="word:2", threshold=0.15)
    alike = set(found.clusters["id"].to_pylist())
    return [text for place, text in enumerate(texts) if place not in alike]


COLLECTIONS: dict[str, Callable[[], Labelled]] = {
    make.__name__: make
    for make in (
        *(
            persons,
            contacts,
            citations,
            products,
            offers,
            django_questions,
            rust_questions,
            close_questions,
        ),
        *(arxiv, edited_abstracts, scanned_abstracts, scanned_manual, tang_poems, varied_poems),
        *(django_docs, licenses, rust_pages, shop_pages),
    )
}
