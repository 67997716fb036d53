"""A collection read once: its source, its features, and the settings of a run."""
