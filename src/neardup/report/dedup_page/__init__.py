"""The report page of a deduplication."""
