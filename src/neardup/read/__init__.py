"""Read: files of any supported format → Arrow batches of documents, of bounded size."""

from neardup.read.batch import Batch, Rejected
from neardup.read.documents import Documents
from neardup.read.terms.batch import TermBatch
from neardup.read.terms.documents import TermDocuments

__all__ = ["Batch", "Documents", "Rejected", "TermBatch", "TermDocuments"]
