"""What someone who knows nd1 can do with crafted documents, measured for `docs/security.md`."""
