"""`neardup dedup -o FILE` and `-o -`: the kept rows alone."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.cli import stopping, streams
from neardup.cli.options import UrlPath
from neardup.cli.terminal import count, say
from neardup.errors import SettingError
from neardup.frozen import dataclass

if TYPE_CHECKING:
    from neardup.deduplication.kept_file import KeptFile
    from neardup.deduplication.result import Result
    from neardup.deduplication.save import Saved

_STANDARD_OUTPUT = "-"


@dataclass(frozen=True)
class KeptRows:
    """Where the kept rows go: to the file `path`, or to standard output if that is None."""

    path: Path | None
    file: KeptFile

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard output" if self.path is None else str(self.path)

    @property
    def are_printed(self) -> bool:
        """Whether standard output has the rows, so that messages go to standard error."""
        return self.path is None

    def require_free(self, inputs: Iterable[Any], *, overwrite: bool) -> None:
        """Refuse an output that cannot be written, before any work is done."""
        if self.path is None:
            if self.file.format == "parquet" and sys.stdout.isatty():
                raise SettingError(
                    "parquet cannot be shown in a terminal; use --format jsonl, or name a file"
                )
            return
        from neardup.atomic import require_apart
        from neardup.deduplication.kept_file import require_free

        require_apart(self.path, inputs)
        require_free(self.path, overwrite=overwrite)

    def save(self, result: Result, *, overwrite: bool, **options: Any) -> Saved:
        """Write the rows; to standard output when they are complete."""
        from neardup.atomic import TemporaryFolder
        from neardup.deduplication.kept_file import save_kept

        if self.path is not None:
            return save_kept(result, self.file, self.path, overwrite=overwrite, **options)
        with TemporaryFolder() as folder:
            path = folder / f"kept.{self.file.format}"
            saved = save_kept(result, self.file, path, overwrite=False, **options)
            stopping.if_stopped(lambda: "standard output got only a part of the kept rows")
            streams.copy_to_output(path)
        return saved

    def say_end(self, result: Result, summary: dict[str, Any]) -> None:
        """Warn of what is doubtful, and say what was written where."""
        rejected = result.collected.rejected
        if rejected:
            row = next(iter(rejected))
            rows = f"{count(summary['rejected'], 'row')} rejected" if summary["rejected"] else ""
            files = f"{count(summary['left_out'], 'file')} left out" if summary["left_out"] else ""
            what = " and ".join(filter(None, (rows, files)))
            say(f"{what}, the first: {row.place}: {row.reason} (-o FOLDER lists them)", err=True)
        for warning in summary["warnings"]:
            say(f"Warning: {warning}", err=True)
        say(f"{count(summary['kept'], 'kept row')} → {self.name}", err=self.are_printed)
        if not self.are_printed and sys.stdout.isatty():
            say("For the removed rows, the reasons and the report, name a folder: -o out")


def kept_rows(output: Path, format: str | None, *, json: bool) -> KeptRows | None:
    """The output for the kept rows alone that a name asks for; None if it names a folder."""
    from neardup.deduplication.kept_file import KeptFile, kept_file

    if isinstance(output, UrlPath):
        return None
    if str(output) == _STANDARD_OUTPUT:
        if json:
            raise SettingError("--json and -o - both print to standard output; choose one")
        return KeptRows(None, KeptFile(format or "jsonl"))
    file = kept_file(output, format)
    return None if file is None else KeptRows(output, file)
