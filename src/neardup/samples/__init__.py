"""Sample data that neardup brings along: made by us, the same bytes on every machine."""
