"""Decisions: what people say about pairs of documents, stored, and obeyed by the next run."""
