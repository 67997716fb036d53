"""One pair, explained: what two documents share, and how they differ."""
