"""Entry point of the command ``tieaware``: loads the package quickly, and handles Ctrl-C meanwhile.

This package imports as little as possible: until its handler is installed, Ctrl-C prints Python's traceback.
"""

import gc
import os
import signal


def _end(*_: object) -> None:
    """Print "interrupted" and exit at once; a module that is being loaded might catch an exception or print it."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(130)


def main() -> int:
    """Load the command line and run it."""
    # Do not install a handler if the signal is ignored, as under nohup.
    handles_interrupts = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if handles_interrupts:
        signal.signal(signal.SIGINT, _end)
    # Starting OpenBLAS's threads takes a quarter of NumPy's import; the command needs hardly any matrix products.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Loaded modules are never garbage: searching them for garbage would take a tenth of the loading time.
    gc.disable()
    from tieaware.cli import main as command

    gc.freeze()
    gc.enable()
    if handles_interrupts:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return command()
