"""Identifiers, judgments and lists of documents per query, as columns."""
