"""Runs of programs in processes of their own: their results, durations and peak memory."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import textwrap
import time
from typing import Any, NamedTuple

# The address space of a program in bytes, and the total time of all programs in seconds.
LIMIT, TOTAL_SECONDS = 20 << 30, 1800
STARTED = time.monotonic()

BEFORE = """
import json, resource, sys
import numpy as np
import tieaware
"""
AFTER = """
print(json.dumps([result, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20]))
"""


class Measured(NamedTuple):
    """The result of a program, its peak memory in GiB, and its duration."""

    result: Any
    gigabytes: float
    seconds: float


def measured(title: str, program: str, *arguments: object) -> Measured:
    """Run a program that sets the variable `result`, with arguments in sys.argv; print and return what it used."""
    text = BEFORE + textwrap.dedent(program) + AFTER
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", text, *map(str, arguments)],
        capture_output=True, text=True, timeout=max(1.0, STARTED + TOTAL_SECONDS - time.monotonic()), check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)),
        env={**os.environ, "PYTHONPATH": os.path.dirname(__file__)},
    )  # fmt: skip
    seconds = time.perf_counter() - start
    assert done.returncode == 0, done.stderr[-2000:]
    result, gigabytes = json.loads(done.stdout)
    print(f"\n{title}: {gigabytes:.2f} GiB, {seconds:.0f} s", end="", flush=True)
    return Measured(result, gigabytes, seconds)
