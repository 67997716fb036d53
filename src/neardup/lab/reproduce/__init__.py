"""Known systems, run again beside their published figures."""
