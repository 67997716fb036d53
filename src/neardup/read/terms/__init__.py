"""Documents given as terms, with or without weights."""
