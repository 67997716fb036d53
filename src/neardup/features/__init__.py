"""Features: text → weighted hashes."""
