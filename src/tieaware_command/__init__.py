"""The command ``tieaware`` while the package is loaded: an interruption then ends it as it does later, in one line.

It imports as little as can be, for an interruption before there is a handler is Python's to tell.
"""

import os
import signal


def _end(*_: object) -> None:
    """Say what ended the command, and end it at once: what is being loaded could catch an exception, or print it."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(130)


def main() -> int:
    """Load the command line and run it."""
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, _end)
    from tieaware.cli import main as command

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return command()
