"""Prepared evaluation: labels, measures and a tie rule are prepared once, then any number of scorings is evaluated."""
