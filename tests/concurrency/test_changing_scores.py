"""Scores that change during a call give arbitrary values of measures, or an error, but never a wrong access to memory.

`make concurrency` also runs this with the address sanitizer. Without it, the ranges of the values show that the groups,
which were made from contradicting reads, are still those of some list.
"""

from __future__ import annotations

import mmap
import os
import signal
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from support import c_functions as c
from support.matrices import sparse

from tieaware import Evaluator, InputError, exposure
from tieaware.engine import device_counts, engine_choice
from tieaware.engine.engine_choice import COUNTING_LIMIT, EngineChoice
from tieaware.engine.sampled_ranks import sampled_moments
from tieaware.optimise.lambdas import Lambdas
from tieaware.precision import parse_precision
from tieaware.ties import RULES

EACH = (None, "decimals:0", "decimals:17", "significant:1", "float16", "float32")
WHOLE_LISTS = ("levels:3", "bands:3", "gap:0.3", "top:2 gap:0.3")
# Python computes the thresholds, so compiled code cannot evaluate with them.
ALL = (*EACH, *WHOLE_LISTS, "thresholds:0.5,2")
pytestmark = [
    # Python warns of forks in a process with several threads; the children here call only NumPy.
    pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning"),
    # NumPy warns of signalling NaNs, which the bytes of two scores can be together.
    pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning"),
]

# Together, these measures need every group; alone, RR needs only the first one.
MEASURES = (["AP", "nDCG@5", "ERR", "Q", "Bpref", "AUC", "RBP", "R@3", "P(judged_only=True)@2"], ["RR"])
# The length of lists, how many of their documents are judged, and how they are grouped: the limit of counting, and
# whether to sort. Counting looks at a long list only down to the cut-offs, and a hash table numbers one of 768 scores.
KINDS = {
    "counted": (2100, 9, None, False),
    "located": (300, 30, 5, False),
    "sorted": (800, 30, None, True),
    "excluded": (300, 20, None, False),
}
N_LISTS = 2


def made(kind, measures, **options):
    if options["precision"] in WHOLE_LISTS:
        measures = [measure for measure in measures if "judged_only" not in measure]
    rng = np.random.default_rng(1)
    length, n_judged, limit, is_sorted = KINDS[kind]
    labels = np.full((N_LISTS, length), -1)
    for row in labels:
        row[rng.permutation(length)[:n_judged]] = rng.integers(0, 4, n_judged)
    if RULES[options["ties"]].by_document is not None:
        options["docids"] = [f"{7919 * i % 1000003:x}" for i in range(length if kind == "excluded" else labels.size)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine_choice, "CHOICE", EngineChoice(limit or COUNTING_LIMIT, is_sorted))
        if kind == "excluded":
            options["exclude"] = sparse((labels < 0) & (rng.random(labels.shape) < 0.4), labels)
            evaluator = Evaluator.from_sparse(sparse(labels >= 0, labels), measures, **options)
        else:
            evaluator = Evaluator(labels, measures, **options)
        # The first call of a method prepares its engine.
        evaluate_all(evaluator, versions(kind)[0])
    return evaluator


def versions(kind, dtype=np.float64):
    """Return scores that contradict each other: all different in both orders, tied, nearly so, infinite, with a NaN."""
    different = np.arange(N_LISTS * KINDS[kind][0], dtype=dtype).reshape(N_LISTS, -1) / 8
    some = different.copy()
    some[:, ::7] = np.nan
    nearly, infinite = np.nextafter(np.ones_like(different), different % 2), np.full_like(different, np.inf)
    return [different, np.zeros_like(different), -different, infinite, different % 5, nearly, some]


class Tensor:
    """A tensor on a device whose scores change before each read."""

    device = "cpu"

    def __init__(self, reads):
        self.reads, self.n_reads = reads, 0
        self.shape, self.dtype, self.ndim = reads[0].shape, reads[0].dtype, reads[0].ndim

    def __array_namespace__(self, **_):
        return np

    def __dlpack_device__(self):
        return 2, 0

    def __array__(self, dtype=None, copy=None):
        return self[:]

    def __getitem__(self, key):
        if isinstance(key, tuple) and key[-1] is Ellipsis:
            return Tensor([each[key] for each in self.reads])
        self.n_reads += 1
        return self.reads[self.n_reads % len(self.reads)][key].copy()


@contextmanager
def changing(*arrays):
    """Return arrays in shared memory, into which another process writes the versions of each, again and again."""
    shared = [np.frombuffer(mmap.mmap(-1, each[0].nbytes), each[0].dtype).reshape(each[0].shape) for each in arrays]
    parent, pid = os.getpid(), os.fork()
    # Without its parent, the child ends too.
    while pid == 0 and os.getppid() == parent:
        for array, versions_of_array in zip(shared, arrays, strict=True):
            for each in versions_of_array:
                np.copyto(array, each)
    if pid == 0:
        os._exit(0)
    try:
        yield shared
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def attempt(call):
    """Return the result of a call; None if it found a NaN or only infinities."""
    try:
        return call()
    except InputError:
        return None


def assert_values(values):
    """Assert that the values are those of some scores: each of these measures is from 0 to 1."""
    if values is not None:
        assert ((values >= 0) & (values <= 1 + 1e-12)).all()


def evaluate_all(evaluator, scores):
    """Call every method of an evaluator, except those that only other forms of scores allow."""
    assert_values(attempt(lambda: evaluator(scores)))
    assert_values(attempt(lambda: evaluator.mean(scores)))
    attempt(lambda: evaluator.results({"a": scores}))
    if "ties: average" in repr(evaluator):
        spread = attempt(lambda: evaluator.spread(scores))
        if spread is not None:
            for each in spread.mean, spread.min, spread.max:
                assert_values(each)
            assert (spread.min <= spread.max).all()
            assert (spread.std >= 0).all()


@pytest.mark.parametrize("precision", ALL)
@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_tensor_that_changes_between_two_reads(monkeypatch, kind, ties, precision):
    monkeypatch.setattr(device_counts, "_LEAST_DOCUMENTS", 0)
    monkeypatch.setattr(device_counts, "_MOST_WEIGHTED", 1000)
    reads = versions(kind)
    for measures in MEASURES:
        evaluator = made(kind, measures, ties=ties, precision=precision)
        evaluate_all(evaluator, Tensor(reads))
        candidates = Tensor([np.stack([each, each]) for each in reads[:3]])
        assert_values(attempt(lambda e=evaluator, s=candidates: e.many(s)))
        if device_counts.countable(evaluator._prepared):
            for first, second in pairwise(reads[:6]):
                for pair in [first, second], [second, first]:
                    evaluate_all(evaluator, Tensor(pair))


@pytest.mark.parametrize("precision", ALL)
@pytest.mark.parametrize("ties", RULES)
@pytest.mark.parametrize("kind", KINDS)
def test_an_array_that_another_process_writes(kind, ties, precision):
    for dtype, measures in zip((np.float64, np.float32), MEASURES, strict=True):
        reads = versions(kind, dtype)[:6]
        features = [np.repeat(each.reshape(-1, 1), 2, axis=1) for each in reads]
        evaluator = made(kind, measures, ties=ties, precision=precision)
        with changing(reads, [np.stack([each, each]) for each in reads], features) as (scores, candidates, columns):
            for _ in range(3):
                evaluate_all(evaluator, scores)
                assert_values(attempt(lambda e=evaluator, s=candidates: e.many(s)))
                assert_values(attempt(lambda e=evaluator, s=columns: e.columns(s)))


@pytest.mark.parametrize("precision", [*EACH, "levels:3"])
@pytest.mark.parametrize("ties", RULES)
def test_an_array_that_another_process_writes_during_calls_from_compiled_code(ties, precision):
    averages = RULES[ties].averages
    for kind in ("counted", "located", "sorted"):
        reads = [each.reshape(-1) for each in versions(kind)]
        evaluator = made(kind, MEASURES[0], ties=ties, precision=precision)
        handle, shape = c.FUNCTIONS.prepare(evaluator, int(averages)), (N_LISTS, len(evaluator.measures))
        with changing(reads) as (scores,):
            for _ in range(3):
                for name, wanted in (("evaluate", shape), ("mean", shape[1:]), ("spread", (4, *shape)))[: 2 + averages]:
                    code, values = c.called(name, handle, scores, wanted)
                    assert code in (c.OK, c.NAN, c.REFUSED)
                    if code == c.OK:
                        assert_values(values[:1] if name == "spread" else values)
        assert c.FUNCTIONS.release(handle) == c.OK


@pytest.mark.parametrize("precision", [each for each in ALL if each is not None])
def test_an_array_that_another_process_writes_while_it_is_coarsened(precision):
    coarsening, offsets = parse_precision(precision), np.arange(0, 4201, 2100)
    for dtype in np.float64, np.float32:
        with changing([each.reshape(-1) for each in versions("counted", dtype)[:6]]) as (scores,):
            for _ in range(100):
                coarse = attempt(lambda s=scores: coarsening.coarsen(s, offsets))
                assert coarse is None or coarse.shape == scores.shape


@pytest.mark.filterwarnings("ignore:scores of .* differ by little more than rounding:UserWarning")
def test_arrays_that_another_process_writes_during_other_calls():
    """Lines, gradients, exposures, and the ranks of positives among sampled negatives."""
    labels = np.arange(4200).reshape(2, 2100) % 97 == 0
    evaluator, lambdas = Evaluator(labels, ["AP"]), Lambdas(labels, "nDCG")
    finite = [each for each in versions("counted") if np.isfinite(each).all()]
    huge = [1e300 * each for each in finite]
    counts = [np.full(9, each) for each in (0, 3, -(10**6), 2**31 - 1)]
    with changing(finite + huge, counts) as (scores, above):
        for _ in range(10):
            line = attempt(lambda: evaluator.along(scores, finite[3]))
            if line is not None:
                assert_values(line.values)
            gradient, hessian = lambdas(scores)
            assert not np.isnan(gradient).any()
            assert not np.isnan(hessian).any()
            assert np.isfinite(exposure(scores)).all()
            attempt(lambda: sampled_moments(above, np.zeros(9, np.int64), np.full(9, 9), np.ones((1, 6)), False))
