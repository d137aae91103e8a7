"""Run a program as its user would, and say how long it took and how much memory it had.

A child's peak memory includes that of the process that started it, up to the moment when the program replaced it. So a
bare interpreter of a few megabytes starts it, not the one that holds the benchmarks: this file, run as a script.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """What a program wrote, its seconds from start to end, and the bytes of its largest resident memory."""

    output: str
    seconds: float
    peak: int


def run(*command: str | Path) -> Process:
    """Run a program to its end; an error if it fails."""
    starter = [sys.executable, "-I", "-S", __file__, *map(str, command)]
    finished = subprocess.run(starter, capture_output=True, text=True, check=False, timeout=120)
    if finished.returncode:
        raise RuntimeError(f"{command[0]} failed: {finished.stderr}")
    measured = json.loads(finished.stderr.splitlines()[-1])
    return Process(finished.stdout, measured["seconds"], measured["peak"])


def _start(command: list[str]) -> int:
    import os
    from time import perf_counter

    # As a package that pip has installed, and a checkout after its first run, the modules are compiled already.
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = perf_counter()
    pid = os.posix_spawnp(command[0], command, surroundings)
    _, status, usage = os.wait4(pid, 0)
    elapsed = perf_counter() - start
    # Kilobytes everywhere but on macOS.
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    sys.stderr.write(json.dumps({"seconds": elapsed, "peak": peak}) + "\n")
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(_start(sys.argv[1:]))
