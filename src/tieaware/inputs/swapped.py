"""Detection of judgments and runs that were passed in each other's place.

Judgments that are a run have different labels for nearly all documents of a query, because they are scores. A run that
is judgments has only a few small whole numbers as scores, because they are labels. One of these signs alone is normal:
listening counts or click probabilities as judgments, or the grades of a language model as scores. Only both together
are suspicious. If labels are real numbers, the run must also have fewer documents than the judgments.
"""

from __future__ import annotations

import numpy as np

from tieaware.checks.arrays import Scores
from tieaware.errors import InputError
from tieaware.inputs.qrels import Qrels
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


def look_like_a_run(qrels: Qrels) -> bool:
    """Return whether judgments look like a run.

    They do if the labels of a query have at least 12 different values on average, and some label exceeds 5 or is not a
    whole number; or if some label exceeds 5, and the labels of a query are all different (in at least 3 documents on
    average). The first 1,000 queries count.
    """
    if qrels.grades is None and _labels.highest(qrels.judgments.labels) <= _LARGEST_GRADE:
        return False
    are_usual = len(qrels.labels) == 0 or qrels.labels.max() <= _LARGEST_GRADE
    offsets = qrels.offsets[: _SAMPLE + 1]
    sizes = np.diff(offsets)
    queries, labels = np.repeat(np.arange(len(sizes)), sizes), qrels.labels[: offsets[-1]]
    order = np.lexsort((labels, queries))
    labels, queries = labels[order], queries[order]
    n_different = len(labels) - int(np.count_nonzero((labels[1:] == labels[:-1]) & (queries[1:] == queries[:-1])))
    all_different = n_different == len(labels) >= _LEAST_DOCUMENTS * len(sizes)
    return (all_different and not are_usual) or n_different >= _MANY_LABELS * max(len(sizes), 1)


def asking_for_run(error: InputError, qrels: Qrels) -> InputError:
    """Return an error about labels; if they are all too low, it asks whether these are the scores of a run."""
    if qrels.grades is None or not error.where.endswith(": labels") or not look_like_a_run(qrels):
        return error
    return InputError(error.where, f"{error.problem}; or are judgments and run swapped?")


def look_like_labels(scores: Scores) -> bool:
    """Return whether all scores are whole numbers from -2 to 4."""
    if len(scores) and (scores.min() < _LEAST_LABEL or scores.max() > _LARGEST_LABEL):
        return False
    return bool((scores == np.floor(scores)).all())
