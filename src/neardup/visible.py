"""Text of strangers, made safe to print."""
