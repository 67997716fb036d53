"""Pairs by features: the exact join, and the verification of candidates."""
