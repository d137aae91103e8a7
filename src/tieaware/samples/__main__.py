"""``python -m tieaware.samples --out DIR`` writes a generated collection."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tieaware.samples.generator import generate
from tieaware.samples.writing import write


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a generated collection: ``python -m tieaware.samples --out DIR``."""
    parser = argparse.ArgumentParser("python -m tieaware.samples", description="Write a sample collection.")
    parser.add_argument("--out", metavar="DIR", required=True, help="the folder to make")
    parser.add_argument("--seed", type=int, default=2008, help="(default: %(default)s)")
    parser.add_argument("--queries", type=int, default=50, help="(default: %(default)s)")
    parser.add_argument("--depth", type=int, default=100, help="documents per query (default: %(default)s)")
    parser.add_argument("--compress", action="store_true", help="write .xz files")
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
