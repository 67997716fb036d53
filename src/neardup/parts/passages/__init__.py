"""Passages that occur in several documents: found, shown, and removed on request."""
