"""The settings that commands, functions and config files share: one table.

Command-line options, the keys of a config file and the `settings` of `summary.json` are made from
this table. Python signatures repeat names and defaults, because editors and mypy read them; a test
compares them with it. This module imports nothing heavy: `neardup --help` needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, Literal, SupportsIndex, TypeVar, cast, get_args

from neardup.errors import SettingError
from neardup.frozen import dataclass

DEFAULT_THRESHOLD = 0.8
# Values of `candidates` beside the names of plans: the cheapest way, or the join on the features.
AUTO, EXACT = "auto", "exact"

# Settings with few values, for signatures.
Similarity = Literal[
    "jaccard",
    "weighted-jaccard",
    "cosine",
    "containment",
    "inclusion",
    "hamming",
    "fields",
    "model",
]
# Similarities that divide by the size of one of the two documents; with or without weights.
CONTAINMENTS = CONTAINMENT, INCLUSION = "containment", "inclusion"
Clustering = Literal["star", "components", "dense"] | str  # or dense:SHARE
PairListing = Literal["evidence", "all", "none"]
# How files are read if their names are not to decide; `text` is one document for each file.
_TABLES = ("json", "jsonl", "csv", "tsv", "parquet", "arrow")
READ_AS = ("text", "lines", "html", "pdf", "warc", *_TABLES)

Function = TypeVar("Function", bound=Callable[..., Any])


_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_MOST_BYTES = 10**18


_TEXT = (str,)
_NUMBER = (int, float)
_SIZE = (str, int)
# The settings that make fingerprints: together they are the recipe of a scheme.
RECIPE = ("features", "weights", "bits", "hash", "tie", "projection")


@dataclass(frozen=True)
class Setting:
    """One setting: its name in Python, its types, its default, and its line in `--help`.

    `default` is the value of an omitted setting; where it depends on other settings it is None, and
    `default_note` says in words what is used. `choices` are the values that a shell completes;
    where others are valid too, `help` describes them.
    """

    name: str
    types: tuple[type, ...]
    default: Any
    help: str
    default_note: str | None = None
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    option_name: str | None = None  # where it differs: `as` is no name in Python

    @property
    def option(self) -> str:
        """The name on the command line, as in `--max-document`."""
        return self.option_name or "--" + self.name.replace("_", "-")


_ALL = (
    Setting(
        "text",
        _TEXT,
        None,
        "Column with the text or terms. Several columns are fields, with optional weights: "
        "name*2+street+city; or each compared in its own way: 'name:char:3*2 + dob:exact + "
        "price:number:0.05'.",
        default_note="text, or terms",
        metavar="COL",
    ),
    Setting(
        "id",
        _TEXT,
        None,
        "Column with the ids; `row` uses row numbers instead.",
        default_note="id if present, else the row number",
        metavar="COL",
    ),
    Setting(
        "read_as",
        _TEXT,
        None,
        "Read all files in this format, whatever their suffix: text (each file is a document), "
        "lines (each line is one), html, pdf, warc, json, jsonl, csv, tsv, parquet or arrow.",
        default_note="by suffix",
        metavar="FORMAT",
        choices=READ_AS,
        option_name="--as",
    ),
    Setting(
        "suffix",
        _TEXT,
        None,
        "Of folders and globs, read the files with one of these suffixes, such as .py,.html,.md.",
        default_note="all that can be read",
        metavar="LIST",
    ),
    Setting(
        "features",
        _TEXT,
        "word:3",
        "Features of a document: word:N, char:N, sentences:N, edges, keywords:N, a union such as "
        "word:1+word:3, or terms.",
        metavar="SPEC",
    ),
    Setting(
        "weights",
        _TEXT,
        None,
        "Feature weights: set (presence), count, tfidf, idf (rarity alone), tfidf:lab, or given "
        "(weights from the input).",
        default_note="set; given for terms; tfidf for keywords",
        metavar="NAME",
        choices=("set", "count", "tfidf", "idf", "tfidf:lab", "given"),
    ),
    Setting("bits", (int,), 64, "Bits of a fingerprint, 1 to 4096."),
    Setting(
        "hash",
        _TEXT,
        "nd1",
        "Hash family; `neardup hashes` lists them. nd1:NAME is nd1 with a secret key, read from "
        "the environment variable NEARDUP_KEY_NAME.",
        metavar="NAME",
    ),
    Setting(
        "tie",
        _TEXT,
        ">0",
        "Whether a sum of zero leaves a bit clear (>0) or sets it (>=0).",
        metavar="RULE",
        choices=(">0", ">=0"),
    ),
    Setting(
        "projection",
        _TEXT,
        None,
        "Project the sums onto a sphere before taking signs, for example sphere:42x64.",
        default_note="none",
        metavar="NAME",
    ),
    Setting(
        "similarity",
        _TEXT,
        None,
        "Similarity measure: jaccard, weighted-jaccard, cosine, containment (the shared part of "
        "the smaller document), inclusion (the part of a removed document that the kept one has), "
        "hamming, fields (of records, each compared in its own way), or model (the probability by "
        "a fitted model).",
        default_note="jaccard for sets, cosine for given terms, fields for fields with kinds of "
        "their own, else weighted-jaccard",
        metavar="NAME",
        choices=get_args(Similarity),
    ),
    Setting(
        "model",
        _TEXT,
        None,
        "Score pairs by this fitted model, as `neardup tune --fit` writes it; it names the columns "
        "and the threshold.",
        default_note="none",
        metavar="PATH",
    ),
    Setting(
        "threshold",
        _NUMBER,
        None,
        "Minimum similarity of near-duplicates; for hamming, the maximum number of differing bits.",
        default_note=f"{DEFAULT_THRESHOLD}, or that of the model",
    ),
    Setting(
        "candidates",
        _TEXT,
        "auto",
        "How to search: auto, exact, or a plan such as bands:40x16.",
        metavar="PLAN",
        choices=("auto", "exact"),
    ),
    Setting(
        "recall",
        _NUMBER,
        0.99,
        "Share of the pairs at the threshold that a plan is expected to find, at least.",
    ),
    Setting(
        "keep",
        _TEXT,
        "first",
        "Which document of a cluster to keep: first, longest, shortest, max:COL or min:COL; none "
        "keeps no document of a cluster, each:N the first N.",
        metavar="RULE",
        choices=("first", "longest", "shortest", "none"),
    ),
    Setting(
        "cluster",
        _TEXT,
        "star",
        "Clusters: star (every removed document is similar to the kept one), components "
        "(connected components, in which chains of pairs may remove documents that are not) or "
        "dense[:SHARE] (two clusters are joined only if SHARE of their cross pairs reach the "
        "threshold; 0.25 if omitted).",
        metavar="NAME",
        choices=("star", "components", "dense"),
    ),
    Setting(
        "pairs",
        _TEXT,
        None,
        "Pairs to list: evidence (one for each removed document), all, or none.",
        default_note="evidence; all with a floor and for presets with several distances",
        metavar="NAME",
        choices=("evidence", "all", "none"),
    ),
    Setting(
        "floor",
        _NUMBER,
        None,
        "List all pairs from this similarity on, which is below the threshold; for near misses "
        "and for lower thresholds later.",
        default_note="the threshold",
    ),
    Setting(
        "memory",
        _SIZE,
        "2GB",
        "Memory to use, for example 8GB. Features that do not fit go to a temporary file.",
        metavar="SIZE",
    ),
    Setting(
        "max_document",
        _SIZE,
        "64MB",
        "Reject documents larger than this, for example 200MB.",
        metavar="SIZE",
    ),
    Setting(
        "threads",
        (int,),
        None,
        "Number of threads, 1 to 1024.",
        default_note="one per core",
    ),
)
SETTINGS = {setting.name: setting for setting in _ALL}


def require_known(names: Iterable[str], known: Iterable[str], where: str = "") -> None:
    """Refuse a misspelt setting, and suggest the one that was meant; `where` begins the message."""
    from difflib import get_close_matches

    allowed = list(known)
    for name in names:
        if name not in allowed:
            meant = get_close_matches(name, allowed, n=1)
            hint = f"did you mean {meant[0]!r}?" if meant else f"choose from {', '.join(allowed)}"
            raise SettingError(f"{where}unknown setting {name!r}; {hint}")


def suggests_settings(function: Function) -> Function:
    """Make a function refuse a misspelt keyword with a `SettingError` that suggests the right one.

    A decorator, because `**unknown` in the signature would hide such mistakes from type checkers.
    """
    code = cast(Any, function).__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    @wraps(function)
    def called(*arguments: Any, **keywords: Any) -> Any:
        if not keywords.keys() <= set(names):
            require_known((name for name in keywords if name not in names), names[1:])
        return function(*arguments, **keywords)

    return cast(Function, called)


def bytes_of(memory: str | int, name: str = "memory") -> int:
    """The number of bytes: `2GB`, `512 MiB`, or a plain number.

    >>> bytes_of("1.5GB")
    1500000000
    """
    import re

    if isinstance(memory, SupportsIndex) and not isinstance(memory, bool):
        amount = float(int(memory))
    else:
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(memory), re.ASCII)
        if not found or found[2].upper() not in _UNITS or isinstance(memory, bool):
            raise SettingError(f"{name}={memory!r} is no amount of memory; write it like 2GB")
        amount = float(found[1]) * _UNITS[found[2].upper()]
    if not 1 <= amount <= _MOST_BYTES:
        raise SettingError(f"{name}={memory!r} must be more than nothing and at most 1,000,000 TB")
    return int(amount)


_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def seconds_of(value: str | float, name: str) -> float:
    """An amount of time in seconds: `45s`, `2m`, `12h`, `30d`, `4w`, or a plain number.

    >>> seconds_of("1.5h", "ttl")
    5400.0
    """
    import re

    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhdw]?)\s*", str(value), re.ASCII)
    if isinstance(value, bool) or not found or not float(found[1]):
        raise SettingError(
            f"{name}={value!r} is not an amount of time; write it like 60s, 2m, 12h or 30d"
        )
    return float(found[1]) * _SECONDS[found[2]]
