"""Validation of arguments and arrays that callers pass.

A check returns the value in the form that the package works with, or raises `InputError`. Two parameters have
the same meaning in all checks:

where
    The name of the argument, as messages show it. An error in one element adds its index, as in ``labels[0, 3]``.
place : callable, optional
    Returns the name of an element for messages, given its index in the flattened array. It is needed where the user
    would not understand ``where[index]``: for a line of a file (``run.txt:12``), or keys (``run['q1']['d1']``).

`tieaware.checks.rounding` compares numbers that were computed, not passed.
"""
