"""Entry point of the command ``tieaware``: it loads the package quickly, and handles Ctrl-C while it does.

This module imports as little as possible, because Ctrl-C prints a Python traceback until the handler is installed.
"""

import gc
import os
import signal


def _end(*_: object) -> None:
    """Print "interrupted" and exit at once. An exception might be caught or printed by the module that is loading."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(130)


def main() -> int:
    """Load the command line and run it."""
    # Do not install a handler if SIGINT is ignored, as in a background job of a shell script.
    handles_interrupts = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handles_interrupts:
        signal.signal(signal.SIGINT, _end)
    # Do not let OpenBLAS start threads, which takes a quarter of the time to import NumPy: commands hardly multiply
    # matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Disable garbage collection during the import: searching the loaded modules, which are never garbage, would take a
    # tenth of the loading time.
    gc.disable()
    from tieaware.cli import main as command

    gc.freeze()
    gc.enable()
    if handles_interrupts:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return command()
