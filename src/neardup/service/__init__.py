"""`neardup serve`: indexes and jobs over HTTP."""
