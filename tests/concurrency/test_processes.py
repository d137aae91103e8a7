"""Forks after the thread pool has started, processes inside threads, and interpreters that exit during calls."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import tieaware

LABELS = np.random.default_rng(8).integers(-1, 3, (100, 200))
SCORES = np.arange(20000).reshape(100, 200) % 11 / 2
EVALUATOR = tieaware.Evaluator(LABELS, ["AP", "nDCG"], threads=4)
RIGHT = EVALUATOR(SCORES).tobytes()
TIMEOUT = 60

# Python warns of forks in a process with several threads; these tests check that such forks work.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")


def is_right(_=None):
    return all(EVALUATOR(SCORES).tobytes() == RIGHT for _ in range(3))


def exit_status(pid):
    """Wait for a child, and return its exit status; kill a child that does not end within the timeout."""
    until = time.monotonic() + TIMEOUT
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "it did not end"


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_forks_after_the_thread_pool_has_started(busy):
    """If other threads are busy, the child inherits the locks that they hold."""
    assert is_right()
    stop = threading.Event()

    def work():
        while not stop.is_set():
            assert is_right()

    others = [threading.Thread(target=work) for _ in range(4 * busy)]
    for thread in others:
        thread.start()
    try:
        for _ in range(150):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if is_right() else 1)
            assert exit_status(pid) == 0
    finally:
        stop.set()
        for thread in others:
            thread.join()
    assert is_right()


def test_forks_of_forks():
    def child(depth):
        pid = os.fork()
        if pid == 0:
            good = is_right() and (depth == 0 or child(depth - 1) == 0)
            os._exit(0 if good else 1)
        return exit_status(pid)

    assert child(5) == 0


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_inside_threads(method):
    def outer(_):
        with ProcessPoolExecutor(2, multiprocessing.get_context(method)) as pool:
            return all(pool.map(is_right, range(4)))

    with ThreadPoolExecutor(1 if method == "fork" else 2) as pool:
        assert all(pool.map(outer, range(2)))


ENDING = """
import atexit, os, signal, sys, threading, time
import numpy as np
import tieaware
labels = np.random.default_rng(8).integers(-1, 3, (400, 500))
scores = np.arange(200000).reshape(400, 500) % 11 / 2
evaluator = tieaware.Evaluator(labels, ["AP", "nDCG", "AUC"], threads=4)
right = evaluator(scores).tobytes()
def work():
    while True:
        assert evaluator(scores).tobytes() == right
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
time.sleep(float(sys.argv[2]))
how = sys.argv[1]
if how == "exit with a call":
    atexit.register(lambda: evaluator(scores))
    sys.exit(0)
if how == "an error":
    raise SystemExit(3)
if how == "a signal":
    os.kill(os.getpid(), signal.SIGTERM)
if how == "at once":
    os._exit(4)
"""


@pytest.mark.parametrize(
    ("how", "status"),
    [("the end", 0), ("exit with a call", 0), ("an error", 3), ("a signal", -signal.SIGTERM), ("at once", 4)],
)
def test_the_interpreter_exits_during_calls(how, status):
    rng = random.Random(9)
    for _ in range(12):
        command = [sys.executable, "-X", "faulthandler", "-c", ENDING, how, str(rng.uniform(0, 0.05))]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (status, "", "")
