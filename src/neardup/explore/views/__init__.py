"""What pages show of documents, pairs and decisions, as plain values for the templates."""
