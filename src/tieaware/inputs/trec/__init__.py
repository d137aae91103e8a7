"""The formats of TREC: lines of judgments and of runs."""
