"""Validation of arguments and arrays that callers pass."""
