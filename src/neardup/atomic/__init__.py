"""Atomic outputs: files and folders appear complete or not at all, and replace only our own."""

from neardup.atomic.files import replacing, require_folder_of, require_writable
from neardup.atomic.folders import FolderKind, replacing_folder
from neardup.atomic.overlap import require_apart
from neardup.atomic.unfinished import TemporaryFolder, abandon, written
from neardup.atomic.work_folder import DamagedError, WorkFolder, work_folder_of

__all__ = [
    "DamagedError",
    "FolderKind",
    "TemporaryFolder",
    "WorkFolder",
    "abandon",
    "replacing",
    "replacing_folder",
    "require_apart",
    "require_folder_of",
    "require_writable",
    "work_folder_of",
    "written",
]
