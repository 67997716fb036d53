"""Known systems, run again and compared with their published figures."""
