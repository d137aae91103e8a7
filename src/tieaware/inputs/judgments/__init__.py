"""Judgments: the labels of documents for queries."""
