"""What crafted documents can do to plain nd1, measured for docs/guides/security.md."""
