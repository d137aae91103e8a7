"""A program in a process of its own: what it prints, how long it takes, and how much memory at most."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import textwrap
import time
from typing import Any, NamedTuple

# How much memory a program may have, and for how many seconds all of them may run.
LIMIT, LONGEST = 20 << 30, 1800
BEGUN = time.monotonic()

BEFORE = """
import json, resource, sys
import numpy as np
import tieaware
"""
AFTER = """
print(json.dumps([result, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20]))
"""


class Measured(NamedTuple):
    """What came of a program."""

    result: Any
    gigabytes: float
    seconds: float


def measured(what: str, program: str, *arguments: object) -> Measured:
    """Run a program that sets `result`, with its arguments in sys.argv; say what it took."""
    text = BEFORE + textwrap.dedent(program) + AFTER
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", text, *map(str, arguments)],
        capture_output=True, text=True, timeout=max(1.0, BEGUN + LONGEST - time.monotonic()), check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)),
        env={**os.environ, "PYTHONPATH": os.path.dirname(__file__)},
    )  # fmt: skip
    seconds = time.perf_counter() - start
    assert done.returncode == 0, done.stderr[-2000:]
    result, gigabytes = json.loads(done.stdout)
    print(f"\n{what}: {gigabytes:.2f} GiB, {seconds:.0f} s", end="", flush=True)
    return Measured(result, gigabytes, seconds)
