"""Tuning: settings for a collection, from a sample of it."""
