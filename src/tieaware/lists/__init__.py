"""Columns of identifiers, judgments, and lists of documents per query, stored as arrays."""
