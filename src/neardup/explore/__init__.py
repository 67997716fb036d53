"""`neardup explore`: pages to look at a run, decide, and try settings."""
