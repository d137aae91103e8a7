"""Validation of arguments and arrays that callers pass.

A check returns the value in the form that the package works with, or raises `InputError`. Two parameters are the same
in all checks:

where
    The name of the argument, as messages show it. An error in one element adds its index, as in ``labels[0, 3]``.
place : callable, optional
    Returns the name of an element, given its index in the flattened array. For data whose elements the caller knows by
    other names than ``where[index]``: lines of a file (``run.txt:12``), or keys (``run['q1']['d1']``).
"""
