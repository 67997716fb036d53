"""The weights by rarity of a run, counted again: the folder of a run does not store them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.features.spec import TextColumn
from neardup.fingerprints.fingerprinter import Fingerprinter, fitted
from neardup.fingerprints.scheme import Scheme
from neardup.hashes import hash_family

if TYPE_CHECKING:
    from neardup.features.idf import IdfTable
    from neardup.runs.run import Run

# Counting the features of so many words takes a second or two, once for each opened run.
_MOST_DOCUMENTS, _MOST_WORDS = 200_000, 2_000_000


def counted_idf(run: Run, scheme: Scheme) -> IdfTable | None:
    """The table of the run for a scheme; None if the scheme needs none, or if it cannot be had.

    That is so for long collections, and for runs that counted another collection, too.
    """
    if not scheme.needs_idf or scheme.features.are_given or scheme.is_keyed or run.others:
        return None
    if run.documents > _MOST_DOCUMENTS or run.words > _MOST_WORDS:
        return None
    fields = (None,) if scheme.fields is None else scheme.fields.fields
    batches = (list(map(TextColumn, texts, fields)) for texts in run.text_columns())
    table = fitted(Fingerprinter(scheme, hash_family(scheme.hash), 1), batches, None).idf
    own = Scheme.parse(run.summary["scheme"])
    # A text file may hold values in another form than the input did.
    is_wrong = own.counted == scheme.counted and table is not None and table.content != own.idf
    return None if is_wrong else table
