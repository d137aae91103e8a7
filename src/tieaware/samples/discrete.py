"""Generated lists of any number and length, with discrete scores or many labelled documents, for benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.random import PCG64, Generator

from tieaware.checks.arguments import checked_seed, number, whole_number
from tieaware.checks.arrays import Integers, Labels, Offsets, Values
from tieaware.output.tables import counted

# The largest mean length that is accepted. Lists of this length fit into no memory.
_LONGEST = 1e15
_LARGEST = 2**31 - 1


class DiscreteLists(NamedTuple):
    """Many scored lists as flat arrays: list ``i`` holds the rows ``offsets[i]`` to ``offsets[i + 1]``."""

    scores: Values
    labels: Labels
    offsets: Offsets

    def __repr__(self) -> str:
        return f"DiscreteLists({counted(len(self.offsets) - 1, 'list')}, {counted(len(self.labels), 'document')})"


def discrete_lists(
    n_queries: int = 28_043,
    seed: int = 2008,
    *,
    mean_length: float = 300,
    relevant: float = 0.02,
    grades: int = 1,
) -> DiscreteLists:
    """Generate lists whose scores are a discrete feature, for benchmarks.

    The lists mirror those of McSherry and Najork (ECIR 2008), who evaluated features such as a page's in-degree for
    28,043 queries with about 2,400 documents each. The lengths follow a power law with exponent 3. A score is
    distributed like an in-degree: it is k or more with probability 1 / (k + 1), so half of the documents tie at 0 and a
    sixth at 1, while high scores are rare. The score of a relevant document is the larger of two draws.

    Parameters
    ----------
    n_queries, seed : int, default 28,043 and 2008
        The number of lists, and the seed of NumPy's PCG64.
    mean_length : float, default 300
        The approximate mean number of documents per list, at least 1. No list is shorter than half of it, or empty.
    relevant : float, default 0.02
        The approximate share of relevant documents, 0 to 1. Each list has at least one relevant document.
    grades : int, default 1
        The largest label. Relevant documents have labels from 1 to `grades`; higher labels are rarer.

    Returns
    -------
    DiscreteLists
        ``scores``, float64[n_docs], unsorted; ``labels``, int32[n_docs]; ``offsets``, int64[n_queries + 1].

    Raises
    ------
    InputError
        If a parameter is out of its range.

    Examples
    --------
    >>> scores, labels, offsets = discrete_lists(1000)
    >>> float((scores == 0).mean().round(1))
    0.5
    """
    n_queries, grades = whole_number("n_queries", n_queries, 1, _LARGEST), whole_number("grades", grades, 1, _LARGEST)
    seed = checked_seed(seed)
    mean_length, relevant = number("mean_length", mean_length, 1, _LONGEST), number("relevant", relevant, 0, 1)
    rng = Generator(PCG64(seed))
    # The number `1 - rng.random(n)` is in (0, 1]. The inverse of this number follows a power law with exponent 2, and
    # the inverse of its square root follows a power law with exponent 3.
    lengths = np.maximum(1, mean_length / 2 / np.sqrt(1 - rng.random(n_queries))).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    n_docs = int(offsets[-1])

    one_each = offsets[:-1] + rng.integers(lengths)
    others = rng.integers(n_docs, size=max(0, round(relevant * n_docs) - n_queries))
    chosen = np.concatenate([one_each, others])
    labels = np.zeros(n_docs, dtype=np.int32)
    labels[chosen] = np.minimum(grades, np.floor(1 / (1 - rng.random(len(chosen))))).astype(np.int32)

    # Compute in place to save memory: a data set as large as that of McSherry and Najork has 67 million scores.
    scores = rng.random(n_docs)
    np.subtract(1, scores, out=scores)
    scores[chosen] = np.minimum(scores[chosen], 1 - rng.random(len(chosen)))
    np.divide(1, scores, out=scores)
    np.floor(scores, out=scores)
    scores -= 1
    return DiscreteLists(scores, labels, offsets)


# Ways to make the scores of `dense_lists` tie, by name.
DENSE_SCORES: dict[str, Callable[[Values], Values]] = {
    "all distinct": lambda scores: scores, "one decimal": lambda scores: scores.round(1),
    "whole numbers": np.round, "all equal": np.zeros_like,
}  # fmt: skip


def dense_lists(n_queries: int, n_docs: int, n_labelled: int, seed: int = 2008) -> tuple[Values, Integers]:
    """Return distinct scores and grades of lists in which many documents have one of the grades 1 to 4.

    Both have the shape (n_queries, n_docs). As in learning to rank, documents without a grade have the label 0.
    """
    rng = Generator(PCG64(seed))
    labels = np.zeros((n_queries, n_docs), dtype=int)
    some = rng.permuted(np.tile(np.arange(n_docs), (n_queries, 1)), axis=1)[:, :n_labelled]
    np.put_along_axis(labels, some, rng.integers(1, 5, some.shape), axis=1)
    return rng.standard_normal(labels.shape), labels
