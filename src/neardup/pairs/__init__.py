"""Pairs: which documents are near-duplicates, found by features or by fingerprints."""
