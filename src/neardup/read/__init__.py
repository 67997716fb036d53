"""Read: files of any supported format → Arrow batches of documents, of bounded size."""

from neardup.read.batch import Batch, Rejected
from neardup.read.documents import Documents

__all__ = ["Batch", "Documents", "Rejected"]
