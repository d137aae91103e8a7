"""How much assessors agree beyond chance: kappa."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import one_of, sequence, unexpected
from tieaware.checks.arrays import Values
from tieaware.statistics.values import finite

_MARGINALS = ("pooled", "separate", "uniform")


class Kappa(NamedTuple):
    """How far assessors agree beyond chance.

    Attributes
    ----------
    value : float
        The mean over all pairs of assessors, at most 1.
    pairs : float64[n_assessors, n_assessors]
        Each pair's kappa; 1 on the diagonal.
    meaning : str
        The textbook's scale: "good" above 0.8, "fair" from 0.67, "dubious" below; "undefined" where the value is NaN.
    """

    value: float
    pairs: Values
    meaning: str


def kappa(*assessors: Sequence[Hashable], marginals: str = "pooled") -> Kappa:
    """Measure how far assessors agree beyond chance: (P(agree) - P(chance)) / (1 - P(chance)).

    Parameters
    ----------
    *assessors : sequences, each of n_documents
        The labels that each assessor gave to the same documents, of any hashable type; at least two assessors.
    marginals : str
        What chance is taken to be. "pooled": both assessors draw labels as often as they gave them together (Scott).
        "separate": each as often as they did alone (Cohen). "uniform": all labels that occur are equally likely.

    Returns
    -------
    Kappa
        Its values are at most 1, and 0 where they agree as often as by chance; NaN where chance alone would make them
        agree always.

    Raises
    ------
    InputError
        If there are fewer than two assessors, no document, or not the same number of them; or for other marginals.

    References
    ----------
    Manning, C. D., Raghavan, P. and Schütze, H. (2008). Introduction to Information Retrieval, section 8.5.
    Scott, W. A. (1955). Reliability of content analysis: the case of nominal scale coding. Public Opinion Quarterly 19.
    Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20.

    See Also
    --------
    kappa_of_table : from counts, with the textbook's example.

    Examples
    --------
    >>> outcome = kappa([2, 1, 1, 0], [2, 1, 0, 0], [2, 1, 1, 0])
    >>> outcome.pairs.round(4)
    array([[1.   , 0.619, 1.   ],
           [0.619, 1.   , 0.619],
           [1.   , 0.619, 1.   ]])
    >>> round(outcome.value, 4), outcome.meaning
    (0.746, 'fair')
    """
    one_of("marginals", marginals, _MARGINALS)
    if len(assessors) < 2:
        raise unexpected("assessors", "at least two", f"{len(assessors)}")
    assessors = tuple(sequence(f"assessors[{i}]", labels, "labels") for i, labels in enumerate(assessors))
    sizes = {len(labels) for labels in assessors}
    if len(sizes) > 1 or 0 in sizes:
        raise unexpected("assessors", "the same number of labels from each, at least one", f"{sorted(sizes)}")
    codes: dict[Hashable, int] = {}
    try:
        coded = np.array([[codes.setdefault(label, len(codes)) for label in labels] for labels in assessors])
    except TypeError as error:
        raise unexpected("assessors", "labels such as words and numbers", f"{error}") from None
    pairs = np.eye(len(assessors))
    shares = [np.bincount(labels, minlength=len(codes)) / len(labels) for labels in coded]
    for i, j in combinations(range(len(assessors)), 2):
        agree = float((coded[i] == coded[j]).mean())
        pairs[i, j] = pairs[j, i] = _beyond_chance(agree, shares[i], shares[j], marginals)
    value = float(pairs[np.triu_indices(len(assessors), 1)].mean())
    return Kappa(value, pairs, _meaning(value))


def kappa_of_table(table: npt.ArrayLike, marginals: str = "pooled") -> Kappa:
    """Measure how far two assessors agree beyond chance, from how often each pair of labels occurred.

    Parameters
    ----------
    table : array_like[n_labels, n_labels]
        In row i and column j: how many documents got label i from the first assessor and j from the second.
    marginals : str
        What chance is taken to be, as in `kappa`; "uniform": all labels of the table are equally likely.

    Returns
    -------
    Kappa
        As from `kappa`: of two assessors.

    Raises
    ------
    InputError
        If the table is not square, a count is negative or not finite, or all are 0; or for other marginals.

    References
    ----------
    Manning, C. D., Raghavan, P. and Schütze, H. (2008). Introduction to Information Retrieval, section 8.5, whose
    example is below; its last steps are rounded there.

    Examples
    --------
    >>> outcome = kappa_of_table([[300, 20], [10, 70]])
    >>> round(outcome.value, 6), outcome.meaning
    (0.77591, 'fair')
    >>> round(kappa_of_table([[300, 20], [10, 70]], "separate").value, 6)
    0.776119
    """
    one_of("marginals", marginals, _MARGINALS)
    counts = finite(table, "table")
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise unexpected("table", "a row and a column for each label", f"shape {counts.shape}")
    if (counts < 0.0).any() or not counts.any():
        found = f"{counts.min()}" if counts.size else "no labels"
        raise unexpected("table", "counts of at least 0, and one above", found)
    joint = counts / counts.sum()
    value = _beyond_chance(float(joint.trace()), joint.sum(axis=1), joint.sum(axis=0), marginals)
    return Kappa(value, np.array([[1.0, value], [value, 1.0]]), _meaning(value))


def _beyond_chance(agree: float, first: Values, second: Values, marginals: str) -> float:
    """(P(agree) - P(chance)) / (1 - P(chance)), from the shares of the labels of either assessor."""
    if marginals == "uniform":
        chance = 1.0 / len(first)
    elif marginals == "pooled":
        chance = float((((first + second) / 2.0) ** 2).sum())
    else:
        chance = float((first * second).sum())
    return (agree - chance) / (1.0 - chance) if chance < 1.0 else math.nan


def _meaning(value: float) -> str:
    if math.isnan(value):
        return "undefined"
    return "good" if value > 0.8 else "fair" if value >= 0.67 else "dubious"
