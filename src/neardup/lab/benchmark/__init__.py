"""Public benchmarks and labelled collections: how good neardup is, beside published figures."""
