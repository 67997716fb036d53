"""Deduplication in tasks that exchange messages, on as many machines as an engine has."""
