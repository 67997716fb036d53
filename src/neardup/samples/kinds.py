"""The kinds of sample data, and the tables they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from neardup.errors import SettingError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Kind:
    """Sample data of one kind: what it is, and its rows, as dataclasses.

    `folder` has the content of each file, where the sample can also be a folder of files.
    """

    about: str
    rows: Callable[[], Sequence[Any]]
    folder: Callable[[Sequence[Any]], dict[str, str]] | None = None


def _texts() -> Sequence[Any]:
    from neardup.samples.notices import notices

    return notices()


def _records() -> Sequence[Any]:
    from neardup.samples.people import people

    return people()


def _labels() -> Sequence[Any]:
    from neardup.samples.people import labels

    return labels()


def _truth() -> Sequence[Any]:
    from neardup.samples.people import truth

    return truth()


def _code() -> Sequence[Any]:
    from neardup.samples.programs import programs

    return programs()


def _articles() -> Sequence[Any]:
    from neardup.samples.articles import articles

    return articles()


def _chinese() -> Sequence[Any]:
    from neardup.samples.articles import chinese

    return chinese()


@dataclass(frozen=True)
class Notebook:
    """A Jupyter notebook, with its output; its id is its file name."""

    id: str
    text: str


def _notebooks() -> Sequence[Any]:
    from importlib.resources import files

    folder = files(__package__) / "notebooks"
    return [
        Notebook(file.name, file.read_text(encoding="utf-8"))
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".ipynb")
    ]


def _source_files(rows: Sequence[Any]) -> dict[str, str]:
    return {row.id: row.text for row in rows}


KINDS = {
    "texts": Kind("355 short texts in six languages, with copies", _texts),
    "code": Kind("a folder of 28 source files, with copies", _code, _source_files),
    "records": Kind("598 people from the lists of a clinic and a library", _records),
    "labels": Kind("200 pairs of these people, the same or different", _labels),
    "truth": Kind("every pair of these people who are the same", _truth),
    "notebooks": Kind("a folder of 3 notebooks for Jupyter", _notebooks, _source_files),
    "articles": Kind("1500 generated English articles, with edited copies", _articles),
    "chinese": Kind("600 generated Chinese articles, with edited copies", _chinese),
}


def kind_of(name: str) -> Kind:
    """The kind of this name; `SettingError` if there is none."""
    if name not in KINDS:
        raise SettingError(f"there is no sample {name!r}; choose {', '.join(KINDS)}")
    return KINDS[name]


def sample(kind: str = "texts") -> pa.Table:
    """Sample data that neardup brings along: the same rows on every machine.

    Args:
        kind: `texts`, short texts in six languages with copies; `code`, source files with copies;
            `records`, people from two lists; `labels`, pairs of these people, the same or
            different; `truth`, every pair of them who are the same; `articles` and `chinese`,
            generated articles with edited copies; `notebooks`, three notebooks for Jupyter.

    `copy_of` of texts, code and articles is the id of the document that a copy was made from.

    >>> people = sample("records")
    >>> people.column_names[:3], people.num_rows
    (['id', 'given_name', 'surname'], 598)
    """
    import pyarrow as pa

    rows = kind_of(kind).rows()
    columns = [field.name for field in fields(rows[0])]
    return pa.table({name: [getattr(row, name) for row in rows] for name in columns})
