"""Benchmarks: ratios of times and of memory against named baselines. ``make bench`` runs them."""
