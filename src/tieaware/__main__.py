"""The command ``python -m tieaware``, which is the command ``tieaware``."""

import sys

from tieaware.cli import main

if __name__ == "__main__":
    sys.exit(main())
