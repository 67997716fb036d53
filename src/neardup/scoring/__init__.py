"""Similarities that are made of several parts: the fields of records, or a fitted model."""
