"""Reproductions of five systems: measurements, pictures and docs/how-it-works/reproductions.md."""
