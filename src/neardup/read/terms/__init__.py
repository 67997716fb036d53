"""Documents that bring their own terms."""
