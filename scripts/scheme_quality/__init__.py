"""How well each scheme tells true pairs from random ones: measured, drawn, and put on a page."""
