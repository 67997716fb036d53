"""JSON files: lines, arrays and printed objects."""
