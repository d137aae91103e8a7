"""The thread pool of a process: its size, the order of results, errors, interruptions and forks."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from itertools import pairwise

import numpy as np
import pytest

from tieaware.runtime import threads
from tieaware.runtime.threads import even_chunks, over_chunks, over_items

EDGES = np.arange(41)


@pytest.fixture(autouse=True)
def pool(monkeypatch):
    """Replace the thread pool by a new one without threads."""
    monkeypatch.setattr(threads, "_pool", threads._Pool())
    return threads._pool


def names():
    return {thread.name for thread in threading.enumerate() if thread.name.startswith("tieaware")}


def output_of(program):
    """Return the output of a Python program, which must end within a minute, and print no errors."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore::DeprecationWarning"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_all_calls_share_one_pool():
    """The pool has one thread fewer than the largest number requested so far, because the calling thread works too."""
    program = """
import threading, numpy as np, tieaware
evaluators = [tieaware.Evaluator(np.tile([0, 1], (100, 1)), ["AP"], threads=n) for n in (2, 8, 3, 2, 1, 5)]
for evaluator in evaluators:
    evaluator(np.ones((100, 2)))
    evaluator.many(np.ones((200, 200)))
    tieaware.evaluate({"q": {"d": 1}}, {name: {"q": {"d": 1.0}} for name in "abcdefghi"}, ["AP"], threads=4)
    print(sum(thread.name.startswith("tieaware") for thread in threading.enumerate()), end=" ")
"""
    assert output_of(program) == "3 7 7 7 7 7 "


@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_results_are_in_the_order_of_the_items(n):
    assert over_chunks(lambda a, b: (a, b), EDGES, n) == list(pairwise(range(41)))
    assert over_items(str, iter(range(1000)), n) == [str(i) for i in range(1000)]
    assert over_items(str, [], n) == []
    assert over_chunks(lambda a, b: (a, b), np.array([0, 0, 3, 3]), n) == [(0, 3)]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_call_uses_exactly_its_number_of_threads(n):
    """A call uses no more threads than requested, even if the pool has more."""
    over_items(str, range(100), 8)
    together = threading.Barrier(n)
    over_items(lambda _: together.wait(10), range(n), n)
    at_work, most, lock = 0, 0, threading.Lock()

    def work(_):
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
        time.sleep(0.001)
        with lock:
            at_work -= 1

    over_items(work, range(50), n)
    assert most <= n


def test_items_are_taken_one_at_a_time_and_only_when_a_thread_is_free():
    taking = threading.Lock()
    taken, done = 0, 0

    def items():
        nonlocal taken
        for i in range(200):
            assert taking.acquire(blocking=False)
            assert taken - done <= 4
            taken += 1
            taking.release()
            yield i

    def work(_):
        nonlocal done
        with counting:
            done += 1

    counting = threading.Lock()
    assert len(over_items(work, items(), 4)) == 200


@pytest.mark.parametrize("sizes", [[], [0], [0, 0], [5], [0, 3, 0, 0], [1] * 50, [0, 0, 9, 1, 0, 7, 0]])
@pytest.mark.parametrize("n", [1, 2, 8])
def test_chunks_of_lists_contain_every_list(sizes, n):
    """Lists may be empty, also the first and the last ones."""
    edges = even_chunks(np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]), n).tolist()
    assert (edges[0], edges[-1]) == (0, len(sizes))
    assert edges == sorted(edges)


def test_a_call_within_a_call_stays_in_its_thread():
    def outer(_):
        here = threading.get_ident()
        return over_items(lambda _: threading.get_ident() == here, range(20), 8)

    assert all(all(inner) for inner in over_items(outer, range(20), 3))
    assert threads._pool._size == 2
    # After the nested call, the calling thread can use the pool again.
    together = threading.Barrier(2)
    over_items(lambda _: together.wait(10), range(2), 2)


@pytest.mark.parametrize("n", [1, 2, 8])
def test_the_first_error_in_the_order_of_the_items_is_raised(n):
    """The error is raised when all items in progress have ended. No further item is begun."""
    running, begun = 0, []
    lock = threading.Lock()

    def work(i):
        nonlocal running
        with lock:
            running += 1
            begun.append(i)
        time.sleep(0.02 if i == 3 else 0.001)
        with lock:
            running -= 1
        if i >= 3:
            raise ValueError(i)

    for _ in range(5):
        begun.clear()
        with pytest.raises(ValueError, match=r"^3$"):
            over_items(work, range(40), n)
        assert running == 0
        count = len(begun)
        assert count <= 3 + n
        time.sleep(0.01)
        assert len(begun) == count
    assert over_items(abs, range(40), n) == list(range(40))


@pytest.mark.parametrize("n", [1, 2, 8])
def test_an_error_of_the_iterator_is_raised(n):
    def items():
        yield from range(5)
        raise OSError("no more")

    done = []
    with pytest.raises(OSError, match="no more"):
        over_items(done.append, items(), n)
    assert sorted(done) == list(range(5))


def test_an_interruption_in_an_item_is_raised():
    def interrupted(i):
        if i == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        over_items(interrupted, range(10), 2)


@pytest.mark.parametrize("fails", [False, True])
def test_the_pool_keeps_no_reference_after_a_call(fails):
    """The work, its results and its errors are freed without the garbage collector."""

    class Work:
        def __call__(self, i):
            if fails and i == 7:
                raise ValueError
            return self

    gc.disable()
    try:
        work = Work()
        held = weakref.ref(work)
        with contextlib.suppress(ValueError):
            over_items(work, range(10), 2)
        del work
        for _ in range(100):
            # Wait: a thread of the pool may still be returning from the work, and hold a reference.
            if held() is None:
                break
            time.sleep(0.01)
        assert held() is None
    finally:
        gc.enable()


def test_calls_from_many_threads_share_the_pool():
    """The pool does not grow, and the calls do not wait for one another."""
    results = {}

    def caller(number):
        for _ in range(20):
            results[number] = over_chunks(lambda a, b: number * a, EDGES, 2 + number % 3)

    callers = [threading.Thread(target=caller, args=(number,)) for number in range(16)]
    before = names()
    for each in callers:
        each.start()
    for each in callers:
        each.join(60)
    assert results == {number: [number * a for a in range(40)] for number in range(16)}
    assert threads._pool._size == 3
    assert len(names() - before) <= 3


def test_a_call_ends_while_another_keeps_the_pool_busy():
    started, release = threading.Event(), threading.Event()

    def slow(_):
        started.set()
        assert release.wait(60)

    other = threading.Thread(target=lambda: over_items(slow, range(3), 3))
    other.start()
    started.wait(60)
    assert over_items(abs, range(100), 3) == list(range(100))
    release.set()
    other.join(60)
    assert not other.is_alive()


def test_the_calling_thread_does_the_work_if_no_thread_can_be_started(monkeypatch):
    class NoThread:
        def __init__(self, **_):
            pass

        def start(self):
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "Thread", NoThread)
    assert over_items(abs, range(100), 8) == list(range(100))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_forked_child_has_a_pool_of_its_own():
    """The child has its own pool even if it is forked while threads of the parent's pool work."""
    program = """
import os, threading, time
from tieaware.runtime.threads import over_items

def names():
    return sum(thread.name.startswith("tieaware") for thread in threading.enumerate())

def child(say):
    pid = os.fork()
    if not pid:
        print(names(), over_items(abs, range(100), 4) == list(range(100)), say, flush=True)
        os._exit(0)
    os.waitpid(pid, 0)

over_items(abs, range(100), 3)
child("after")
busy = threading.Thread(target=lambda: over_items(lambda _: time.sleep(0.2), range(6), 3))
busy.start()
time.sleep(0.1)
child("during")
busy.join()
print(names())
"""
    assert output_of(program) == "0 True after\n0 True during\n2\n"


def test_the_interpreter_exits_cleanly():
    """The program prints no error if threads of the pool wait or work at exit. An atexit function can use the pool."""
    program = """
import atexit, threading, time
import numpy as np
from tieaware.runtime.threads import over_items

atexit.register(lambda: print(len(over_items(abs, range(100), 8))))
over_items(abs, range(100), 4)
threading.Thread(target=lambda: over_items(lambda _: np.sort(np.ones(10**6)), range(200), 4), daemon=True).start()
time.sleep(0.05)
print("end")
"""
    for _ in range(5):
        assert output_of(program) == "end\n100\n"


@pytest.mark.parametrize("n", [1, 3])
def test_an_interruption_ends_any_kernel_within_half_a_second(n):
    """The pool and the evaluators can be used afterwards."""
    # Allow more time under the sanitizer, which makes the kernels slower.
    longest = 1.5 if "libasan" in os.environ.get("LD_PRELOAD", "") else 0.5
    program = f"""
import os, signal, threading, time
import numpy as np, tieaware
from tieaware.runtime import threads

labels = np.tile(np.arange(40_000) % 2, (6, 1))
slow = tieaware.Evaluator(labels, ["ERR(max_rel=30)"], threads={n})
pairs = tieaware.Evaluator(labels[:, :1900], ["ERR(max_rel=30)"] * 4, threads={n})
orders = tieaware.Evaluator(np.tile([4] * 10 + [0] * 14, (6, 1)), ["INST"], threads={n})
lattice = tieaware.Evaluator(labels[:, :316], ["IPrec@0.0"] * 8, threads={n})
grouped = tieaware.Evaluator((np.arange(6_000_000) % 7 == 0).astype(np.int8), ["AUC"], threads={n})
noise = np.random.default_rng(1).random(6_000_000)
some = (np.arange(3_000_000) % 7 == 0).astype(np.int8)
digits = tieaware.Evaluator(some, ["AP"], precision="significant:16", threads={n})
short = tieaware.Evaluator(np.tile([[1, 0, 0]], (5_000, 1)), ["AP"], threads={n})
patient = [f"RBP(p={{i / 1000}})" for i in range(1, 999)]
many = tieaware.Evaluator(np.tile([[1, 0, 0]], (5_000, 1)), patient, threads={n})

def sent():
    sent.at = time.process_time()
    os.kill(os.getpid(), signal.SIGINT)

def interrupt(name, call):
    timer = threading.Timer(0.25, sent)
    timer.start()
    try:
        call()
        print(name, "ended")
    except KeyboardInterrupt:
        late = (time.process_time() - sent.at) / {n}
        if late > {longest}:
            print(name, late)
    timer.join()

interrupt("average", lambda: slow(np.ones((6, 40_000))))
interrupt("mean", lambda: slow.many(np.ones((20, 6, 40_000))))
interrupt("spread", lambda: pairs.spread(np.ones((6, 1900))))
interrupt("orders", lambda: orders(np.ones((6, 24))))
interrupt("lattice", lambda: [lattice(np.ones((6, 316))) for _ in range(10)])
interrupt("groups", lambda: [grouped(noise) for _ in range(9)])
interrupt("digits", lambda: digits(noise[:3_000_000]))
interrupt("queries", lambda: many.many(np.ones((100, 5_000, 3))))
interrupt("bands", lambda: tieaware.worst_case("AP", "1.5", 100_000))
assert (short(np.ones((5_000, 3))).round(6) == 0.611111).all()
assert [thread.name for thread in threading.enumerate() if thread.name.startswith("tieaware")] == [
    f"tieaware-{{i}}" for i in range({n} - 1)
]
assert threads.over_items(abs, range(100), 3) == list(range(100))
print("end")
"""
    assert output_of(program) == "end\n"


def test_an_interruption_waits_only_for_items_in_progress():
    """A second interruption does not even wait for the items in progress."""
    program = """
import os, signal, threading, time
from tieaware.runtime.threads import over_items

begun = []

def work(i):
    begun.append(i)
    time.sleep(0.3)

def sent(n):
    for _ in range(n):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)

for n in (1, 2):
    begun.clear()
    threading.Timer(0.1, sent, (n,)).start()
    start = time.monotonic()
    try:
        over_items(work, range(1000), 3)
    except KeyboardInterrupt:
        print(len(begun), end=" ")
    time.sleep(0.5)
assert over_items(abs, range(100), 3) == list(range(100))
"""
    assert output_of(program) == "3 3 "


NESTED = """
import numpy as np, tieaware

LABELS = np.tile([0, 1, 0, 1], (40, 1))

class Evaluating:
    "A coarsening that evaluates with threads."
    def coarsen(self, scores, offsets):
        inner = tieaware.Evaluator(LABELS, ["AP"], threads=2)
        inner.mean(np.tile([1.0, 1.0, 0.0, 0.0], 40))
        inner.columns(np.random.default_rng(0).random((160, 40)))
        return np.round(scores)
    def __str__(self):
        return "evaluating"

qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(40)}
runs = {f"r{j}": {f"q{i}": {"a": 0.9, "b": 1.1} for i in range(40)} for j in range(6)}
print(tieaware.evaluate(qrels, runs, ["RR"], precision=Evaluating(), threads=2).mean().ravel().tolist())
outer = tieaware.Evaluator(LABELS, ["RR"], precision=Evaluating(), threads=2)
print(outer.columns(np.full((160, 40), 0.9)).shape, outer(np.ones(160)).shape)
"""

FORKED = """
import os, threading, time
import tieaware
from tieaware.inputs.judgments import qrels as module

building, build = threading.Event(), module._join.Index

class Slowly:
    def __init__(self, *columns):
        building.set()
        time.sleep(0.5)
        self.index = build(*columns)

class _Join:
    def __getattr__(self, name):
        return (lambda *columns: Slowly(*columns).index) if name == "Index" else getattr(original, name)

original, module._join = module._join, _Join()
judgments = tieaware.Qrels.from_dict({"q": {"a": 1}})
thread = threading.Thread(target=lambda: judgments.index)
thread.start()
building.wait()
child = os.fork()
if not child:
    print(tieaware.evaluate(judgments, {"q": {"a": 1.0, "b": 1.0}}, ["RR"]).mean().item(), flush=True)
    other = tieaware.Qrels.from_dict({"q": {"b": 1}})
    print(tieaware.evaluate(other, {"q": {"a": 1.0, "b": 1.0}}, ["RR"]).mean().item(), flush=True)
    os._exit(0)
thread.join()
os.waitpid(child, 0)
"""


def test_a_coarsening_can_evaluate_with_threads_inside_a_thread_of_the_pool():
    """A coarsening in Python may call tieaware again. A thread of the pool must then not wait for another one."""
    assert output_of(NESTED) == f"{[0.75] * 6}\n(40, 1) (40, 1)\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_child_forked_while_an_index_is_built_can_evaluate():
    """The fork copies a lock that a thread of the parent holds, but not the thread that would release it."""
    assert output_of(FORKED) == "0.75\n0.75\n"
