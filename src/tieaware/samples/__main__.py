"""The command ``python -m tieaware.samples``, which writes a generated collection to a folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tieaware.samples.generator import generate
from tieaware.samples.writing import write


def main(arguments: Sequence[str] | None = None) -> int:
    """Generate a collection and write it; return the exit status, which is 2 after an error."""
    parser = argparse.ArgumentParser(
        "python -m tieaware.samples", description="Generate a sample collection, and write it as TREC files."
    )
    parser.add_argument("--out", metavar="DIR", required=True, help="the folder to write, which must not exist")
    parser.add_argument("--seed", type=int, default=2008, help="random seed (default: %(default)s)")
    parser.add_argument("--queries", type=int, default=50, help="number of queries (default: %(default)s)")
    parser.add_argument("--depth", type=int, default=100, help="documents per query of a run (default: %(default)s)")
    parser.add_argument("--compress", action="store_true", help="compress the files with xz")
    options = parser.parse_args(arguments)
    try:
        collection = generate(options.seed, options.queries, options.depth)
        write(collection, options.out, compress=options.compress)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
