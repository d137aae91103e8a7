"""Prepared evaluation: labels, measures and tie rules are prepared once, then scores become values."""
