"""How good a run is, by labels: rates of pairs and clusters, thresholds, the worst mistakes."""
