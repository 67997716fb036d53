"""Atomic folders: they appear complete or not at all, and replace only folders we wrote."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neardup.atomic.files import require_folder_of, synchronize, unwritable
from neardup.atomic.unfinished import (
    NEW,
    OLD,
    changing,
    clear_abandoned,
    took_place,
    unfinished_beside,
)
from neardup.errors import NeardupError
from neardup.frozen import dataclass
from neardup.system.files import remove_unless_open
from neardup.system.folders import UNABLE, exchange, move_into_place


@dataclass(frozen=True)
class FolderKind:
    """Describes the folders that a command writes.

    `files` are regular expressions for the names of their files. `marker` is one of these files, a
    JSON object with at least the `keys`; a folder without it is not ours. `carried` are names of
    files that others add, and that stay when the folder is replaced. What a file holds may also be
    in a folder of its name, whose files match `parts`.
    """

    marker: str
    keys: frozenset[str]
    files: tuple[str, ...]
    carried: tuple[str, ...] = ()
    parts: str = ""

    def is_ours(self, entry: os.DirEntry[str]) -> bool:
        """Whether a file, or a folder of parts, is one that the command writes."""
        if not self.names(entry.name):
            return False
        if entry.is_dir(follow_symlinks=False) and self.parts:
            inside = list(os.scandir(entry.path))
            return all(
                re.fullmatch(self.parts, one.name) and one.is_file(follow_symlinks=False)
                for one in inside
            )
        return entry.is_file(follow_symlinks=False)

    def names(self, name: str) -> bool:
        """Whether a file in such a folder may have this name."""
        if name in self.carried:
            return True
        return any(re.fullmatch(pattern, name) for pattern in self.files)

    def require_free(self, path: str | os.PathLike[str], *, overwrite: bool) -> None:
        """Refuse a folder that must not be replaced, before any work is done.

        An empty folder may be filled. With `overwrite`, a folder may be replaced if all of its
        files are ours.
        """
        target = Path(os.path.realpath(path))
        clear_abandoned(target)
        if target.is_symlink():
            raise NeardupError(f"{path} is a link that leads to itself; name another folder")
        if not target.exists():
            require_folder_of(path)
            return
        if not target.is_dir():
            raise NeardupError(f"{path} is not a folder; name a folder for the output")
        try:
            entries = sorted(os.scandir(target), key=lambda entry: entry.name)
        except OSError as error:
            raise unwritable(path, error) from None
        if entries and not overwrite:
            raise NeardupError(f"{path} is there already; name another folder or give --overwrite")
        for entry in entries:
            if not self.is_ours(entry):
                raise NeardupError(
                    f"{path} holds {entry.name}, which this command does not write, so --overwrite "
                    "does not replace the folder; name another folder for the output"
                )
        if entries and not self._is_marked(target):
            raise NeardupError(
                f"{path} has no {self.marker} of this command, so --overwrite does not replace "
                "the folder; name another folder for the output"
            )
        self._require_movable(path, target)

    def _is_marked(self, folder: Path) -> bool:
        try:
            found = json.loads((folder / self.marker).read_bytes())
        except (OSError, ValueError, RecursionError):
            return False
        return isinstance(found, dict) and self.keys <= found.keys()

    @staticmethod
    def _require_movable(path: str | os.PathLike[str], target: Path) -> None:
        here = Path(os.path.realpath("."))
        if target in (here, *here.parents):
            raise NeardupError(
                f"{path} is the current folder, which cannot be replaced; name "
                "another folder for the output, or run neardup from elsewhere"
            )
        if os.path.ismount(target):
            raise NeardupError(
                f"{path} is a mount point, which nothing can replace; name a folder inside it for "
                "the output"
            )
        require_folder_of(target)


@contextmanager
def replacing_folder(
    path: str | os.PathLike[str], kind: FolderKind, *, overwrite: bool
) -> Iterator[Path]:
    """Yield a temporary folder to write to; on success it replaces `path`, else it is removed.

    Links are followed. Whatever happens, an existing folder either stays or is replaced by the
    complete new one.
    """
    kind.require_free(path, overwrite=overwrite)
    target = Path(os.path.realpath(path))
    try:
        with unfinished_beside(target) as unfinished:
            new = unfinished / NEW
            new.mkdir()
            yield new
            for name in os.listdir(new):
                if not kind.names(name):
                    raise AssertionError(f"{name} is not among the files of {kind.marker}")
            replaces = overwrite and target.exists() and any(target.iterdir())
            if target.exists():
                new.chmod(stat.S_IMODE(target.stat().st_mode))
            if replaces:
                _carry_over(target, new, kind)
                for file in (*new.iterdir(), new):
                    synchronize(file)
            with changing:
                if replaces:
                    _replace(new, target, unfinished / OLD, kind)
                else:
                    move_into_place(new, target)
                took_place(target)
    except OSError as error:
        raise unwritable(path, error) from error


def _carry_over(target: Path, new: Path, kind: FolderKind) -> None:
    """Put the files that stay into the new folder, as links: a writer does not notice."""
    for name in kind.carried:
        if (target / name).is_file():
            try:
                os.link(target / name, new / name)
            except OSError as error:
                if error.errno not in UNABLE:
                    raise
                shutil.copy2(target / name, new / name)


def _replace(new: Path, target: Path, aside: Path, kind: FolderKind) -> None:
    """Replace `target` by `new`, then remove the old folder."""
    if exchange(new, target):
        _discard(new, target, kind)
        return
    # If the process dies between the two renames, the next run restores the old folder.
    target.rename(aside)
    try:
        new.rename(target)
    except OSError:
        aside.rename(target)
        raise
    _discard(aside, target, kind)


def _discard(old: Path, target: Path, kind: FolderKind) -> None:
    """Remove our files of a replaced folder; keep files that others added during the run."""
    in_use = set()  # these stay in the unfinished folder, which the next run removes
    for entry in list(os.scandir(old)):
        if not kind.is_ours(entry):
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
            continue
        if entry.name in kind.carried:
            here = target / entry.name
            if not here.exists():  # made after the others were carried over
                os.rename(entry.path, here)
                continue
            if not _is_carried(Path(entry.path), here):
                continue
        if not remove_unless_open(entry.path):
            in_use.add(entry.name)
    if any(left.name not in in_use for left in old.iterdir()):
        kept = target.with_name(f"{target.name}.kept-{old.parent.name.rpartition('-')[2]}")
        old.rename(kept)
        warnings.warn(
            f"files that neardup did not write were added to {target} during the run; "
            f"they are in {kept}",
            stacklevel=2,
        )


def _is_carried(old: Path, new: Path) -> bool:
    """Whether nothing of the old file is missing in the new one."""
    return old.samefile(new) or old.read_bytes() == new.read_bytes()
