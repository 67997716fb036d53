"""Whole runs, top to bottom: what the commands do, as functions."""
