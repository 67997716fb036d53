"""Features: text → weighted sets of hashes."""
