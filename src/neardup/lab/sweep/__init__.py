"""Sweeps: many plans over one collection."""
