"""Build wheels with what this machine has, and try them where there is no compiler."""
