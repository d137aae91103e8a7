"""Lines in parts: the same values for any number of parts and threads, and `best` in little memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tieaware import Evaluator
from tieaware.lines import crossings, line

MEASURES = ["nDCG@10", "AP", "RR", "ESL"]


def lists(rng, shape=(40, 60)):
    """Draw labels and the scores of two systems, half of them rounded so that crossings coincide."""
    a, b = rng.random(shape), rng.random(shape)
    a[::2], b[::2] = a[::2].round(1), b[::2].round(1)
    return rng.integers(0, 2, shape), a, b


@pytest.fixture
def many_parts(monkeypatch):
    """Divide even short lines."""
    monkeypatch.setattr(crossings, "_FEW", 100)
    monkeypatch.setattr(crossings, "_LEAST_CROSSINGS", 500)
    monkeypatch.setattr(crossings, "_FEW_PARTS", 10**6)


@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (0.0, 1.0), (0.25, np.inf)])
def test_parts_give_the_values_of_the_whole(many_parts, monkeypatch, bounds):
    labels, a, b = lists(np.random.default_rng(1))
    evaluators = [Evaluator(labels, MEASURES, threads=threads) for threads in (1, 2, 5)]
    lines = [evaluator.along(a, b - a, bounds) for evaluator in evaluators]
    centre = np.full((len(labels), len(MEASURES)), 0.5)
    sums = lines[0]._pencil.steps(centre=centre).sums
    assert len(lines[0]._pencil._edges()) > 20
    monkeypatch.setattr(crossings, "_FEW", 10**9)
    whole = evaluators[0].along(a, b - a, bounds)
    assert len(whole._pencil._edges()) == 2
    for divided in lines:
        np.testing.assert_array_equal(divided.steps.breaks, lines[0].steps.breaks)
        np.testing.assert_array_equal(divided.steps.means, whole.steps.means)
        np.testing.assert_array_equal(divided.steps.breaks, whole.steps.breaks)
    # Each part adds up its differences from the centre anew, so their last bits differ.
    np.testing.assert_allclose(sums, whole._pencil.steps(centre=centre).sums, rtol=1e-9, atol=1e-9)


def test_the_best_is_found_without_the_means_of_the_whole_line(many_parts, monkeypatch):
    labels, a, b = lists(np.random.default_rng(2))
    evaluator = Evaluator(labels, MEASURES, threads=2)
    whole = evaluator.between(a, b)
    monkeypatch.setattr(line, "_SHORT", 0)
    lean = evaluator.between(a, b)
    for measure in MEASURES:
        assert lean.best(measure) == whole.best(measure)
        assert lean.cross_validated(measure, folds=3).values.tolist() == (
            whole.cross_validated(measure, folds=3).values.tolist()
        )
    assert lean._steps is None
    np.testing.assert_array_equal(lean.values, whole.values)


def test_an_interval_that_spans_parts_is_one(many_parts, monkeypatch):
    """RR changes only at the first and the last crossing; parts end in between."""
    monkeypatch.setattr(line, "_SHORT", 0)
    n = 3000
    inner = np.linspace(1.0, 2.0, n)
    # Document 0 is relevant. Document 1 is above it until t = 0, document 2 from t = 3 on, and the others, which fall
    # behind document 1, never matter.
    labels = np.array([1] + [0] * (n + 2))
    a = np.concatenate(([0.0, 0.0, -3.0], inner - 1e6))
    d = np.concatenate(([0.0, -1.0, 1.0], np.full(n, -1.0)))
    found = Evaluator(labels, ["RR@1"]).along(a, d, (-10.0, 10.0)).best()
    assert (found.interval, found.value) == ((0.0, 3.0), 1.0)


def test_a_measure_that_no_query_defines_is_flat_in_parts(many_parts, monkeypatch):
    """The judged documents are crossed, but none is relevant."""
    monkeypatch.setattr(line, "_SHORT", 0)
    rng = np.random.default_rng(5)
    labels, a, b = np.zeros((40, 60), int), rng.random((40, 60)), rng.random((40, 60))
    labels[:, :30] = -1
    found = Evaluator(labels, ["AP", "Judged@5"], undefined=np.nan).between(a, b)
    assert len(found._pencil._edges()) > 20
    with pytest.warns(UserWarning, match=r"^AP is the same for every t from 0 to 1$"):
        best = found.best("AP")
    assert (best.interval, np.isnan(best.value)) == ((0.0, 1.0), True)


def test_crossings_are_sorted_however_close_they_are():
    """Crossings that differ in the last bits only, others that coincide, and some that are far away.

    Without a least width, the interval between any two of them counts.
    """
    rng = np.random.default_rng(3)
    close = 1.0 + rng.integers(0, 5000, 3000) * 2.0**-52
    t = rng.permutation(np.concatenate((close, np.full(500, 0.5), rng.random(500), 1e-300 * rng.random(50), [1e99])))
    # Document 0 is relevant and stays at 0; document i falls below it at t[i].
    found = Evaluator([1] + [0] * len(t), ["RR"]).along(np.append(0.0, t), np.append(0.0, np.full(len(t), -1.0)))
    steps = found._pencil._replace(least_width=(0.0, 0.0)).steps()
    expected, counts = np.unique(t, return_counts=True)
    np.testing.assert_array_equal(steps.breaks, expected)
    np.testing.assert_allclose(steps.means[1:, 0], 1.0 / (1.0 + len(t) - np.cumsum(counts)), rtol=1e-15)


MEMORY = """
import sys
import numpy as np
from tieaware import Evaluator
from tieaware.lines import line

def peak():
    # In MB, of this program only: ru_maxrss includes the peak of the program that started it.
    with open("/proc/self/status") as status:
        return next(int(row.split()[1]) for row in status if row.startswith("VmHWM")) // 1024

shape = (int(sys.argv[1]), 1000)
rng = np.random.default_rng(4)
labels, a, b = np.zeros(shape, np.int8), rng.random(shape), rng.random(shape)
labels[:, : int(sys.argv[2])] = 1
evaluator = Evaluator(labels, ["nDCG@10", "RR"])
Evaluator(labels[:1], ["RR"]).between(a[0], b[0]).best()
before = peak()
found = evaluator.between(a, b)
best = found.best("nDCG@10")
assert best.value == evaluator.mean(a + best.t * (b - a))[0]
print(peak() - before)
"""


def megabytes(n_queries, relevant):
    """Return by how much the peak of memory grows for the best t of lists of 1,000 documents."""
    if not Path("/proc/self/status").exists():
        pytest.skip("the peak of the memory is read from /proc")
    if "libasan" in os.environ.get("LD_PRELOAD", ""):
        pytest.skip("the sanitizer takes memory of its own")
    arguments = [sys.executable, "-c", MEMORY, str(n_queries), str(relevant)]
    return int(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)


def test_the_best_of_many_crossings_takes_little_memory():
    """About 5 million crossings would take 60 MB, and their means 160 MB."""
    assert megabytes(100, 100) < 120


@pytest.mark.slow
def test_the_best_of_36_million_crossings_takes_150_mb():
    """There are more than 2^26 pairs of documents; their crossings would take half a gigabyte."""
    assert megabytes(800, 100) < 150
