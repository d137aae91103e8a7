"""The one kind of error that a user's input causes."""


class InputError(ValueError):
    """Input that cannot be used: one line that says where, what was found, and what was expected."""
