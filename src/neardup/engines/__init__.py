"""Engines: they move batches between stages; stages compute."""
