"""Benchmarks against the peers a user could install instead; `python -m benchmarks` runs all."""
