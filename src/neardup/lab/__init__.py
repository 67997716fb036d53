"""The lab: ways to try settings out, and known systems run again."""
