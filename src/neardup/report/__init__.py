"""What a person sees: tables, diffs, pages."""
