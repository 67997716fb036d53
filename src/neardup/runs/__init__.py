"""A run that was saved in a folder, opened again: its clusters, documents and pairs."""
