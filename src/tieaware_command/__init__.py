"""The command ``tieaware`` while the package is loaded: an interruption then ends it as it does later, in one line.

It imports as little as can be, for an interruption before there is a handler is Python's to tell.
"""

import gc
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
    # Threads for the products of matrices, of which the command has next to none, take NumPy a quarter of its start.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What is loaded stays: to look for garbage in it, again and again, would take a tenth of the time to load it.
    gc.disable()
    from tieaware.cli import main as command

    gc.freeze()
    gc.enable()
    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return command()
