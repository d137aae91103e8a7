"""The time and the peak memory of a program, run as its user would run it.

The peak memory of a child includes the memory of the process that forked it, until the program replaces it. This file
therefore also runs as a script: a bare interpreter of a few megabytes, which starts the program.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """The output of a program, its seconds from start to end, and its peak resident memory in bytes."""

    output: str
    seconds: float
    peak: int


def run(*command: str | Path) -> Process:
    """Run a program and wait for its end. Raises RuntimeError if it fails."""
    starter = [sys.executable, "-I", "-S", __file__, *map(str, command)]
    finished = subprocess.run(starter, capture_output=True, text=True, check=False, timeout=120)
    if finished.returncode:
        raise RuntimeError(f"{command[0]} failed: {finished.stderr}")
    measured = json.loads(finished.stderr.splitlines()[-1])
    return Process(finished.stdout, measured["seconds"], measured["peak"])


def _start(command: list[str]) -> int:
    import os
    from time import perf_counter

    # Let Python keep bytecode: packages that pip installs are compiled, and so is a checkout after its first run.
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = perf_counter()
    pid = os.posix_spawnp(command[0], command, surroundings)
    _, status, usage = os.wait4(pid, 0)
    elapsed = perf_counter() - start
    # macOS reports bytes, other systems kilobytes.
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    sys.stderr.write(json.dumps({"seconds": elapsed, "peak": peak}) + "\n")
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(_start(sys.argv[1:]))
