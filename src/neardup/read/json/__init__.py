"""JSON files: JSON lines, arrays, and pretty-printed objects."""
