"""The pictures of docs/concepts, drawn from what neardup computes."""
