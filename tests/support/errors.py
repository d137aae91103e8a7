"""The message of an error in input."""

import pytest

from tieaware import InputError


def message_of(call, *args, **options):
    """Return the message of the InputError that a call raises, which is one line."""
    with pytest.raises(InputError) as caught:
        call(*args, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


def refusal(call, *args, **options):
    """Return the message of the InputError that a call raises, which is one line; "" if the call raises none."""
    try:
        call(*args, **options)
    except InputError as error:
        message = str(error)
        assert "\n" not in message
        return message
    return ""
