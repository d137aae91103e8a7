"""Random data for the benchmarks. The same arguments give the same data, because seeds are fixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tieaware import reference

Floats = npt.NDArray[np.floating[Any]]
Labels = npt.NDArray[np.int32]

WEB_SEARCH = ("AP", "RR@10", "nDCG@10", "R@1000")


def labels(n_lists: int, length: int, relevant: float, seed: int = 2008) -> Labels:
    """Give label 1 to `relevant` documents of each list. With 1.1, a tenth of the lists have two, the others one."""
    rng = np.random.default_rng(seed)
    chosen = np.zeros((n_lists, length), dtype=np.int32)
    each = int(relevant)
    if each * 4 > length:
        np.put_along_axis(chosen, rng.random(chosen.shape).argpartition(each, axis=1)[:, :each], 1, axis=1)
    else:
        for row in chosen:
            row[rng.choice(length, each, replace=False)] = 1
    for row in np.flatnonzero(rng.random(n_lists) < relevant - each):
        chosen[row, rng.choice(np.flatnonzero(chosen[row] == 0))] = 1
    return chosen


def distinct_scores(n_lists: int, length: int, seed: int = 2009) -> Floats:
    """Return scores between 0 and 1 that are distinct within a list, even in float32."""
    rng = np.random.default_rng(seed)
    scores = np.tile(np.arange(length, dtype=np.float64), (n_lists, 1))
    rng.permuted(scores, axis=1, out=scores)
    scores += 0.5 * rng.random(scores.shape)
    scores /= length
    return scores


def assert_reference(
    values: Floats, scores: Sequence[Floats], labels: Sequence[Labels], measures: Sequence[str], *,
    lists: Sequence[int], ties: str = "average",
) -> None:  # fmt: skip
    """Assert that the values of some lists equal those of the readable reference."""
    expected = [
        [reference.evaluate(measure, scores[i].tolist(), labels[i].tolist(), ties=ties) for measure in measures]
        for i in lists
    ]
    np.testing.assert_allclose(values[list(lists)], expected, rtol=1e-11, atol=1e-14)


def as_dicts(
    scores: Floats, labels: Labels, seed: int = 2010
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return judgments and a run, with identifiers like those of a passage collection.

    The documents of a query are in descending order of score. Every identifier is its own string object, as after
    reading a file.
    """
    rng = np.random.default_rng(seed)
    n_lists, length = scores.shape
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    order = np.argsort(-scores, axis=1)
    descending = np.take_along_axis(scores, order, axis=1)
    judged = np.take_along_axis(labels, order, axis=1)
    # Identifiers of seven digits, distinct within a query.
    step = max(1, 8_000_000 // length)
    for i in range(n_lists):
        numbers = 1_000_000 + np.cumsum(rng.integers(1, step, size=length, endpoint=True))
        rng.shuffle(numbers)
        names = [str(number) for number in numbers.tolist()]
        query = str(1_000_000 + 13 * i)
        run[query] = dict(zip(names, descending[i].tolist(), strict=True))
        qrels[query] = {names[j]: int(judged[i, j]) for j in np.flatnonzero(judged[i]).tolist()}
    return qrels, run
