"""Limits on the address space: a command reports a lack of memory in one line, or gives the right result."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest
from inputs import texts

MB = 1 << 20
# Python and NumPy need this much to start; with less, they cannot report anything.
LEAST, MOST, STEP = 100 * MB, 1000 * MB, 100 * MB

# The limit is set after all imports.
PROGRAM = """
import resource, sys, tieaware.cli, tieaware.results.paper_table, tieaware.results.storage
arguments = sys.argv[2:]
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
sys.exit(tieaware.cli.main(arguments))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Give a folder with a run of 4 MB."""
    path = tmp_path_factory.mktemp("run")
    qrels, run = texts(150, 1000)
    (path / "qrels").write_bytes(qrels)
    (path / "run").write_bytes(run)
    return path


def limited(size, command, program=PROGRAM):
    done = subprocess.run(
        [sys.executable, "-c", program, str(size), *command], capture_output=True, text=True, check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONMALLOC": "pymalloc", "LD_PRELOAD": ""},
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_command_with_less_and_less_memory(folder, threads):
    command = ["eval", str(folder / "qrels"), str(folder / "run"), "--threads", threads, "-m", "AP", "-m", "nDCG@10"]
    right = limited(resource.RLIM_INFINITY, command)
    assert right[0] == 0
    outcomes = set()
    for size in range(LEAST, MOST, STEP):
        status, output, errors = limited(size, command)
        if status == 0:
            assert output == right[1]
        else:
            assert (status, output, errors.count("\n")) == (2, "", 1), (size, status, errors)
            assert "memory" in errors.lower(), errors
        outcomes.add(status)
    assert outcomes == {0, 2}


CALLS = """
import resource, sys
import numpy as np
import tieaware
n = 2_000_000
labels = np.zeros(n, np.int32)
labels[::7] = 1
scores = np.arange(n) % 1000 / 7
def call():
    evaluator = tieaware.Evaluator(labels, ["AP", "nDCG", "AUC", "Q"], threads=1)
    return evaluator(scores).tobytes(), np.stack(evaluator.spread(scores)).tobytes()
right = call()
def taken():
    return int(open("/proc/self/statm").read().split()[0]) * 4096
outcomes = []
for more in range(0, 400, 8):
    resource.setrlimit(resource.RLIMIT_AS, (taken() + more * 2**20, resource.RLIM_INFINITY))
    try:
        assert call() == right
        outcomes.append("right")
    except MemoryError:
        outcomes.append("MemoryError")
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
assert call() == right
print(*sorted(set(outcomes)), outcomes.count("MemoryError") > 3)
"""


def test_calls_with_less_and_less_memory():
    assert limited(0, [], CALLS) == (0, "MemoryError right True\n", "")


@pytest.mark.parametrize("size", [100, *range(200, 500, 50)])
def test_a_command_that_starts_with_little_memory(size):
    """Below about 120 MB, OpenBLAS aborts the process.

    From there up to about 150 MB, an import fails before the command can report the error: this range is not tested.
    """
    program = "import resource, sys; from tieaware.cli import main; sys.exit(main(['demo']))"
    done = subprocess.run(
        ["bash", "-c", f'ulimit -v {size * 1024} && exec "$@"', "bash", sys.executable, "-c", program],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONMALLOC": "pymalloc", "LD_PRELOAD": ""},
    )  # fmt: skip
    if done.returncode == 0:
        assert done.stderr == ""
    else:
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1 or "OpenBLAS" in done.stderr
        assert "memory" in done.stderr.lower()
        assert done.returncode in (1, 2)
    assert done.returncode == 0 or size < 400
