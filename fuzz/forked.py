"""A search in forked processes, so that a case that crashes is reported with its number and does not end the search."""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from tieaware import InputError

# The number of cases that a forked process reads.
CASES = 200
# A forged length may ask for any memory: the process gets MemoryError instead.
MEMORY = 8 << 30
EXPECTED = (InputError, MemoryError)

# Reads a case, which the source of random decisions determines, and counts the outcomes. The string is a folder for
# files.
Check = Callable[[random.Random, str], "Counter[str]"]


class _Cases(NamedTuple):
    check: Check
    seed: int
    folder: str

    def read(self, numbers: range, write: int) -> None:
        """Read several cases, and write the number of each case and then their counts to a pipe."""
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        counts: Counter[str] = Counter()
        for number in numbers:
            os.write(write, b"%d\n" % number)
            counts += self.check(random.Random(f"{self.seed}-{number}"), self.folder)
        os.write(write, json.dumps(counts).encode() + b"\n")

    def read_in_a_process(self, numbers: range) -> tuple[int, int, Counter[str]]:
        """Read several cases in a forked process: return its status, the number of the last case, and the counts."""
        read, write = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(read)
            status = 1
            try:
                self.read(numbers, write)
                status = 0
            except BaseException as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            finally:
                os._exit(status)
        os.close(write)
        with os.fdopen(read) as pipe:
            lines = pipe.read().splitlines()
        _, status = os.waitpid(process, 0)
        if status:
            return status, int(lines[-1]) if lines else numbers[0], Counter()
        return 0, numbers[-1], Counter(json.loads(lines[-1]))


def outcome(call: Callable[[], object]) -> str:
    """Return "read" or "refused"; raise AssertionError for an error of several lines, and any other exception."""
    try:
        call()
    except EXPECTED as error:
        assert "\n" not in str(error), f"the error has several lines: {error}"
        return "refused"
    return "read"


def search(target: str, check: Check, description: str) -> int:
    """Search until the time is over, or for a single case; return 1 if a case crashed or raised another error."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="read only the case with this number")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    start, first = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        cases = _Cases(check, options.seed, folder)
        while True:
            numbers = range(first, first + CASES) if options.case is None else range(options.case, options.case + 1)
            status, last, found = cases.read_in_a_process(numbers)
            if status:
                print(f"--seed {options.seed} --case {last}: the process ended with status {status}", file=sys.stderr)
                return 1
            counts += found + Counter(cases=len(numbers))
            first += CASES
            if options.case is not None or time.monotonic() - start > options.seconds:
                break
    print(json.dumps({"target": target, "seed": options.seed, **counts}), flush=True)
    return 0
