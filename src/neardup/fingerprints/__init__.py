"""Fingerprints: features → bits."""

from neardup.fingerprints.distance import hamming
from neardup.fingerprints.fingerprinter import fingerprint, idf
from neardup.fingerprints.fingerprints import Fingerprints
from neardup.fingerprints.scheme import Scheme

__all__ = ["Fingerprints", "Scheme", "fingerprint", "hamming", "idf"]
