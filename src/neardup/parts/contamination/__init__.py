"""Which items of benchmarks occur in the documents of a corpus."""
