"""Parts of documents: passages that occur in several, and what leaked from benchmarks."""
