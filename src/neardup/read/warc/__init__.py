"""WARC: archives of the web, record by record."""
