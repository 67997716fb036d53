"""Documents: the whole input as one sequence of bounded batches, with ids and progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import InputError, NoColumnError, SettingError, UnreadableError
from neardup.frozen import dataclass
from neardup.read.advice import advised_of_file
from neardup.read.batch import Batch, Rejected, Rows
from neardup.read.choice import Choice
from neardup.read.columns import Wanted, carried_names, field_texts
from neardup.read.counted import files_read
from neardup.read.expand import Expansion
from neardup.read.file_kinds import WHOLE_FILES
from neardup.read.foreign.copied import FOREIGN, copy_table
from neardup.read.formats import TEXT_FORMATS, check_columns, holds_text
from neardup.read.ids import IdKind, IdLedger
from neardup.read.limits import MAX_DOCUMENT
from neardup.read.source import SNIFF, Source, Spool, explained, sniffed
from neardup.read.whole_files import FILE_COLUMNS, read_whole_files

if TYPE_CHECKING:
    from typing_extensions import Self

Inputs = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


# Refuses an unreadable file; returns the kind of its ids, or None if unknown before reading.
Check = Callable[[Source], "IdKind | None"]


MadeIds = Callable[[], pa.Array]
BATCH_BYTES = 4 << 20


class CountedRows(Protocol):
    """The attributes that the rows of every reader have; see `neardup.read.batch.Rows`."""

    @property
    def id(self) -> pa.Array | None: ...
    @property
    def numbers(self) -> npt.NDArray[np.int64]: ...
    @property
    def rejected(self) -> tuple[Rejected, ...]: ...
    @property
    def seen(self) -> int: ...
    @property
    def bytes_done(self) -> int: ...


R = TypeVar("R", bound=CountedRows)


@dataclass(frozen=True)
class Run:
    """The input of one reader: one file with rows, or several files that are one row each."""

    sources: tuple[Source, ...]

    @property
    def is_whole_files(self) -> bool:
        """Whether each file is one row."""
        return self.sources[0].format in WHOLE_FILES

    @property
    def once(self) -> bool:
        return any(source.once for source in self.sources)

    @property
    def names(self) -> list[str]:
        """The displayed names of the files."""
        return [source.name for source in self.sources]

    @property
    def size(self) -> int | None:
        """The bytes of all files; None if unknown."""
        sizes = [source.size for source in self.sources]
        return None if None in sizes else sum(size or 0 for size in sizes)


class InputRuns(Generic[R]):
    """All inputs, read in order, with the progress in bytes.

    `check` is called immediately with every file to be read. With `again`, inputs that can be read
    only once are copied, so that they can be read again. `how` says which files are read as what.
    """

    def __init__(self, inputs: Inputs, check: Check, how: Expansion, *, again: bool) -> None:
        named = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
        files = how.expand(named)
        sources = files.sources
        self.passed_over = files.passed_over
        if again and any(source.once or source.format in FOREIGN for source in sources):
            self._spool = Spool()
            sources = [_stored(source, self._spool) for source in sources]
        sources, self._mixed_ids = _checked(sources, check, self._advised)
        self._runs = _runs_of(sources)
        sizes = [run.size for run in self._runs]
        known = [size for size in sizes if size is not None]
        self.total_bytes: int | None = sum(known) if len(known) == len(sizes) else None
        self.done_bytes = 0
        self.seen_rows = 0  # by the last iteration, with rejected ones
        # Reasons of files that could not be read completely; later passes must skip the same files.
        self._unread: dict[str, str] = {}
        self._began = self._ended = False
        self._unique_ids = False  # known from another pass
        self._first_place = 0
        self._is_part = False

    @property
    def sources(self) -> list[Source]:
        """All files, in reading order."""
        return [source for run in self._runs for source in run.sources]

    @property
    def counted(self) -> dict[str, Any]:
        """How many files are read as what, as a summary has it."""
        return files_read(self.sources, self.passed_over)

    def part(self, sources: Sequence[Source], first_place: int) -> Self:
        """These sources alone, which are some of the files or parts of one of them.

        The first file begins at the place `first_place`, counting rejected rows. That ids are
        unique, and that there are documents at all, is not checked in a part.
        """
        other = copy(self)
        other._runs = _runs_of(sources)
        other._unread = {}
        other._began = other._ended = False
        other._unique_ids = other._is_part = True
        other._first_place = first_place
        return other

    @property
    def only_once(self) -> bool:
        """Whether the input can be read only once, because of standard input or a pipe."""
        return any(run.once for run in self._runs)

    def settled(
        self, read: Callable[[Run], Iterator[R]], left_out: Callable[[Rejected, int], R]
    ) -> Iterator[tuple[R, pa.Array, npt.NDArray[np.int64], MadeIds | None, str | None]]:
        """Read every run: yields rows, their ids, their places in the input, names, and the file.

        The names (None, or a function that returns them) are made of file and row, for rows
        without ids of their own. The file is None if each row is one. `left_out` makes the rows
        that stand for a file that cannot be read further; it takes the number of rows read before.
        """
        if self._began and self.only_once:
            raise InputError(
                f"{self._runs[0].names[0]} can be read only once; store it in a file first"
            )
        self._began = True
        self.done_bytes, self.seen_rows, place = 0, 0, self._first_place
        ledger = IdLedger(mixed=self._mixed_ids, unique=self._unique_ids)
        tally = _Tally()
        for run in self._runs:
            ledger.begin(run.names, place, run.sources[0].document_id)
            part = run.sources[0].part
            before, seen = self.done_bytes, 0 if part is None else part.first_row
            self.seen_rows -= seen
            for rows in self._all_rows(run, read, left_out):
                self.done_bytes = before + rows.bytes_done
                seen = rows.seen
                places = rows.numbers + place
                tally.count(rows)
                ids = ledger.settle(rows.id, places)
                made = None
                if rows.id is None:
                    made = partial(_row_names, run, rows.numbers)
                elif run.is_whole_files:
                    made = partial(_as_they_are, ids)
                yield rows, ids, places, made, None if run.is_whole_files else run.names[0]
            place += seen
            self.seen_rows += seen
            if run.size is not None:
                self.done_bytes = before + run.size
        self._ended = True
        if not self._is_part:
            tally.require_documents(self._unread)

    def _all_rows(
        self, run: Run, read: Callable[[Run], Iterator[R]], left_out: Callable[[Rejected, int], R]
    ) -> Iterator[R]:
        """The rows of a run; where a file of a folder cannot be read further, a rejected row."""
        seen = 0
        try:
            for rows in read(run):
                seen = rows.seen
                yield rows
        except UnreadableError as error:
            if run.is_whole_files:
                raise
            source = run.sources[0]
            yield left_out(Rejected(source.name, None, self._why_unread(source, error)), seen)

    def _advised(self, error: UnreadableError, source: Source) -> UnreadableError:
        """The error to raise for a source; it may say more than this one."""
        return error

    def _why_unread(self, source: Source, error: UnreadableError) -> str:
        """The reason for skipping a file of a folder; raises the error for any other file."""
        if not source.found or (self._ended and source.name not in self._unread):
            raise self._advised(error, source)
        if not self._unread:  # advice on the first file is enough
            error = self._advised(error, source)
        return self._unread.setdefault(source.name, without_name(error, source))


def _runs_of(sources: Sequence[Source]) -> list[Run]:
    runs: list[Run] = []
    for whole, group in groupby(sources, key=lambda source: source.format in WHOLE_FILES):
        files = tuple(group)
        runs += [Run(files)] if whole else [Run((file,)) for file in files]
    return runs


class _Tally:
    """Counts rows, to refuse an input in which no row can be read."""

    def __init__(self) -> None:
        self._documents = self._rejected = 0
        self._first: Rejected | None = None

    def count(self, rows: CountedRows) -> None:
        self._documents += len(rows.numbers)
        broken = [row for row in rows.rejected if row.row is not None]
        self._rejected += len(broken)
        if broken and self._first is None:
            self._first = broken[0]

    def require_documents(self, unread: Mapping[str, str]) -> None:
        """Raise if rows or files failed and none was read; files skipped at once do not count."""
        if self._documents:
            return
        if self._first is not None:
            rows = "the only row" if self._rejected == 1 else f"any of {self._rejected:,} rows"
            raise InputError(
                f"cannot read {rows}; the first, in {self._first.file}, row {self._first.row}: "
                f"{self._first.reason}"
            )
        for name, reason in unread.items():
            raise InputError(f"{name} {reason}")


def without_name(error: UnreadableError, source: Source) -> str:
    """The message of an error without the file's name."""
    return str(error).removeprefix(f"{source.name} ")


def _stored(source: Source, spool: Spool) -> Source:
    """The source itself, or a copy of it if it can be read only once or is not a file of ours."""
    if source.format in FOREIGN:
        return _stored_table(source, spool)
    if not source.once:
        return source
    with explained(source.name), source.raw() as stream:
        path = spool.store(stream, source.name)
    copy = replace(source, path=path, size=os.stat(path).st_size, once=False, copied=True)
    if copy.format != SNIFF:
        return copy
    with explained(source.name), copy.stream() as text:
        return replace(copy, format=sniffed(text))


def _stored_table(source: Source, spool: Spool) -> Source:
    """A copy of a table as an Arrow file; unreadable ones of a folder are left to the check."""
    try:
        with explained(source.name), spool.new_file() as file:
            copy_table(source, file)
    except UnreadableError:
        if source.found:
            return source
        raise
    size = os.stat(file.name).st_size
    return replace(
        source,
        path=file.name,
        format="arrow",
        compression=None,
        size=size,
        filesystem=None,
        once=False,
        copied=True,
    )


def _checked(
    sources: Sequence[Source],
    check: Check,
    advised: Callable[[UnreadableError, Source], UnreadableError],
) -> tuple[list[Source], bool]:
    """Check every file; unreadable files of a folder are marked with their fault.

    Also returns whether files of a folder have ids of different kinds.
    """
    checked: list[Source] = []
    first: tuple[UnreadableError, Source] | None = None
    kinds: set[IdKind] = set()
    for source in sources:
        try:
            kind = None if source.fault else check(source)
            kinds |= {kind} if kind else set()
        except UnreadableError as error:
            if not source.found:
                raise advised(error, source) from error.__cause__
            first = first or (error, source)
            fault = without_name(error, source)
            source = replace(source, format="document", size=0, fault=fault)
        checked.append(source)
    if first is not None and all(source.fault for source in checked):
        raise advised(*first)
    return checked, len(kinds) > 1 and any(source.found for source in checked)


def _row_names(run: Run, numbers: npt.NDArray[np.int64]) -> pa.Array:
    """Names of file and row such as "a.jsonl:17"; for a file that is one row, its name."""
    files = [name if "://" in name else os.path.normpath(name) for name in run.names]
    if run.is_whole_files:
        return pa.array([files[number] for number in numbers.tolist()], pa.string())
    return pa.array([f"{files[0]}:{number}" for number in numbers.tolist()], pa.string())


def _as_they_are(ids: pa.Array) -> pa.Array:
    return ids


class Documents(InputRuns[Rows]):
    """The documents of files, folders, globs, URLs and standard input, batch by batch.

    `inputs` are read in the given order, the files of a folder or a glob in sorted order.
    `text` and `id` name columns (default: `text`, and `id` if it exists); `id="row"` numbers the
    rows instead. `columns` are carried along; "all" carries every other column. `fields` replaces
    `text` for records: each batch has these columns as texts. Documents of more than `max_document`
    bytes are rejected. `read_as` is the format of all files, whatever their suffix, and `suffix`
    chooses files of folders and globs, as in ".py,.md". Each iteration reads the input again; for
    standard input and pipes this needs `again`, which copies them to a temporary file.

    Missing or unreadable inputs raise `InputError`: immediately if names or headers show it, else
    during the iteration. Bad rows, and unreadable files of a folder, are listed in each batch's
    `rejected`; if all are rejected, that is an error.
    """

    def __init__(
        self,
        inputs: Inputs,
        *,
        text: str | None = None,
        id: str | None = None,
        columns: Sequence[str] | Literal["all"] = (),
        fields: Sequence[str] = (),
        batch_bytes: int = BATCH_BYTES,
        max_document: int = MAX_DOCUMENT,
        read_as: str | None = None,
        suffix: str | None = None,
        again: bool = False,
    ) -> None:
        if batch_bytes < 1:
            raise SettingError(f"batch_bytes={batch_bytes} must be at least 1")
        wanted = Wanted.of_fields(fields, id, columns) if fields else Wanted.of(text, id, columns)
        self.wanted = replace(wanted, max_document=max_document)
        self._batch_bytes = batch_bytes
        how = Expansion(
            Choice.of(read_as, suffix),
            partial(holds_text, column=self.wanted.text),
            only_data=not {*self.wanted.required} <= {*FILE_COLUMNS},
        )
        super().__init__(inputs, self._check, how, again=again)

    def with_all_columns(self) -> Documents:
        """The same documents with all other columns carried along.

        Refuses a file whose header shows that this is impossible. That no id occurs twice is left
        to a pass over these documents.
        """
        other = copy(self)
        other._unique_ids = True
        other.wanted = self.wanted.with_all_columns()
        for source in (source for run in self._runs for source in run.sources):
            if source.format in ("csv", "tsv", "parquet", "arrow", *FOREIGN) and not source.fault:
                other._check(source)
        return other

    def __iter__(self) -> Iterator[Batch]:
        for rows, ids, places, made, file in self.settled(self._rows, _left_out):
            columns = {"id": ids, "text": rows.text, **rows.carried}
            fields = self._fields(rows) if self.wanted.fields else ()
            own_id = self.wanted.id if rows.id is not None or self._mixed_ids else None
            names = (own_id, self.wanted.text)
            batch = pa.RecordBatch.from_pydict(columns)
            yield Batch(batch, places, rows.rejected, fields, names, made, file)

    def _fields(self, rows: Rows) -> tuple[pa.Array, ...]:
        others = self.wanted.fields[1:]
        renamed = carried_names("the input", others)
        columns = [rows.text, *(field_texts(rows.carried[renamed[name]]) for name in others)]
        for name, column in zip(self.wanted.fields, columns, strict=True):
            if column is None:
                raise InputError(
                    f"the field {name!r} holds lists or objects; name a column of plain values"
                )
        return tuple(columns)

    def _check(self, source: Source) -> IdKind | None:
        return check_columns(source, self.wanted) if source.is_local else None

    def _advised(self, error: UnreadableError, source: Source) -> UnreadableError:
        if not isinstance(error, NoColumnError) or self.wanted.fields or source.once:
            return error
        if self.wanted.text in error.found:  # it lacks another column
            return error
        return advised_of_file(error, source)

    def _rows(self, run: Run) -> Iterator[Rows]:
        if run.is_whole_files:
            return read_whole_files(run.sources, self.wanted, self._batch_bytes, self._why_unread)
        return TEXT_FORMATS.read(run.sources[0], self.wanted, self._batch_bytes)


def _left_out(file: Rejected, seen: int) -> Rows:
    """No documents, but one rejected row with the reason why the file ends here."""
    none = pa.nulls(0, pa.large_string())
    return Rows(none, None, {}, np.zeros(0, np.int64), (file,), seen + 1, 0)
