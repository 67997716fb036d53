"""The first stage: files of any known format become bounded Arrow batches of documents."""

from neardup.read.batch import Batch, Rejected
from neardup.read.documents import Documents

__all__ = ["Batch", "Documents", "Rejected"]
