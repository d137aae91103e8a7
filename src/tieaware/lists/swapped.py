"""Signs that labels and scores were passed in each other's place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tieaware.checks.arrays import Offsets, Scores
from tieaware.kernels import _labels

# Whole labels up to this number are usual grades.
_LARGEST_GRADE = 5
# The smallest mean number of documents of a query that says something about their labels.
_LEAST_DOCUMENTS = 3
# Labels of real judgments have fewer different values per query than this on average.
_MANY_LABELS = 12
# Scores in this range may be labels.
_LEAST_LABEL, _LARGEST_LABEL = -2, 4
# The number of queries whose labels are counted.
_SAMPLE = 1000


def look_like_scores(labels: NDArray[Any], offsets: Offsets) -> bool:
    """Return whether labels look like the scores of a run, which may have been passed in their place.

    Labels that are scores are different for nearly all documents of a query. Scores that are labels are only a few
    small whole numbers. One of these signs alone is normal: listening counts or click probabilities as labels, or the
    grades of a language model as scores. Only both together are suspicious. If labels are real numbers, the run must
    also have fewer documents than the judgments.

    They do if the labels of a query have at least 12 different values on average, and some label exceeds 5 or is not a
    whole number; or if some label exceeds 5, and the labels of a query are all different (in at least 3 documents on
    average). The first 1,000 queries count.

    Parameters
    ----------
    labels : int32[n_rows] or float64[n_rows]
    offsets : int64[n_queries + 1]
        The labels of query ``q`` are ``offsets[q]`` to ``offsets[q + 1]``.
    """
    if labels.dtype == np.int32 and _labels.highest(labels) <= _LARGEST_GRADE:
        return False
    are_usual = len(labels) == 0 or labels.max() <= _LARGEST_GRADE
    offsets = offsets[: _SAMPLE + 1]
    sizes = np.diff(offsets)
    queries, labels = np.repeat(np.arange(len(sizes)), sizes), labels[: offsets[-1]]
    order = np.lexsort((labels, queries))
    labels, queries = labels[order], queries[order]
    n_different = len(labels) - int(np.count_nonzero((labels[1:] == labels[:-1]) & (queries[1:] == queries[:-1])))
    all_different = n_different == len(labels) >= _LEAST_DOCUMENTS * len(sizes)
    return (all_different and not are_usual) or n_different >= _MANY_LABELS * max(len(sizes), 1)


def look_like_labels(scores: Scores) -> bool:
    """Return whether all scores are whole numbers from -2 to 4."""
    if len(scores) and (scores.min() < _LEAST_LABEL or scores.max() > _LARGEST_LABEL):
        return False
    return bool((scores == np.floor(scores)).all())
