"""Output for people: tables, diffs, pages."""
