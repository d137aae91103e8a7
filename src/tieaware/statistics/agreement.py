"""Agreement of assessors beyond chance: kappa."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import one_of, sequence, unexpected
from tieaware.checks.arrays import Values
from tieaware.checks.rounding import ROUNDING
from tieaware.errors import InputError
from tieaware.statistics.values import finite

Marginals: TypeAlias = Literal["pooled", "separate", "uniform"]
_MARGINALS: tuple[Marginals, ...] = get_args(Marginals)


class Kappa(NamedTuple):
    """The agreement of assessors beyond chance.

    Attributes
    ----------
    value : float
        The mean over all pairs of assessors, at most 1.
    pairs : float64[n_assessors, n_assessors]
        The kappa of each pair of assessors; 1 on the diagonal.
    meaning : str
        A word for the value: "good" above 0.8, "fair" from 0.67, "dubious" below, and "undefined" if it is NaN.
    """

    value: float
    pairs: Values
    meaning: str


def kappa(*assessors: Sequence[Hashable], marginals: Marginals = "pooled") -> Kappa:
    """Measure the agreement of assessors beyond chance: (P(agree) - P(chance)) / (1 - P(chance)).

    Parameters
    ----------
    *assessors : sequences, each of n_documents
        The labels that each assessor gave to the same documents, of any hashable type; at least two assessors.
    marginals : str
        The model of chance. "pooled": both assessors draw each label with its share among the labels of both (Scott).
        "separate": each assessor draws each label with its share among the assessor's own labels (Cohen). "uniform":
        all labels that occur are equally likely.

    Returns
    -------
    Kappa
        The values are at most 1, and 0 if the assessors agree as often as by chance. They are NaN if the model of
        chance makes the assessors always agree.

    Raises
    ------
    InputError
        If there are fewer than two assessors or no documents, the assessors differ in the number of documents, a label
        is not hashable, or the marginals are unknown.

    References
    ----------
    Manning, C. D., Raghavan, P. and Schütze, H. (2008). Introduction to Information Retrieval, section 8.5.
    Scott, W. A. (1955). Reliability of content analysis: the case of nominal scale coding. Public Opinion Quarterly 19.
    Cohen, J. (1960). A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20.

    See Also
    --------
    kappa_of_table : the kappa of two assessors from a table of counts.

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
        raise InputError("assessors", f"must each give the same number of labels, at least one; found {sorted(sizes)}")
    codes: dict[Hashable, int] = {}
    try:
        coded = np.array([[codes.setdefault(label, len(codes)) for label in labels] for labels in assessors])
    except TypeError as error:
        raise InputError("assessors", f"must give hashable labels, such as words and numbers: {error}") from None
    pairs = np.eye(len(assessors))
    shares = [np.bincount(labels, minlength=len(codes)) / len(labels) for labels in coded]
    for i, j in combinations(range(len(assessors)), 2):
        agree = float((coded[i] == coded[j]).mean())
        pairs[i, j] = pairs[j, i] = _beyond_chance(agree, shares[i], shares[j], marginals)
    value = float(pairs[np.triu_indices(len(assessors), 1)].mean())
    return Kappa(value, pairs, _meaning(value))


def kappa_of_table(table: npt.ArrayLike, marginals: Marginals = "pooled") -> Kappa:
    """Measure the agreement of two assessors beyond chance, from the number of documents with each pair of labels.

    Results and errors as for `kappa`.

    Parameters
    ----------
    table : array_like[n_labels, n_labels]
        Row i, column j: the number of documents with label i from the first assessor and label j from the second. With
        the marginals "uniform", all labels of the table are equally likely.

    References
    ----------
    As for `kappa`. The example is from Manning's book, which rounds the last steps.

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
        raise InputError("table", f"must have one row and one column for each label; its shape is {counts.shape}")
    if (counts < 0.0).any() or not counts.any():
        raise InputError("table", "must hold counts of at least 0, and one of them must be above 0")
    joint = counts / counts.sum()
    value = _beyond_chance(float(joint.trace()), joint.sum(axis=1), joint.sum(axis=0), marginals)
    return Kappa(value, np.array([[1.0, value], [value, 1.0]]), _meaning(value))


def _beyond_chance(agree: float, first: Values, second: Values, marginals: str) -> float:
    """Return (P(agree) - P(chance)) / (1 - P(chance)), from each assessor's shares of the labels."""
    if marginals == "uniform":
        chance = 1.0 / len(first)
    elif marginals == "pooled":
        chance = float((((first + second) / 2.0) ** 2).sum())
    else:
        chance = float((first * second).sum())
    # Without rounding: chance is 1 if and only if a label has all documents, and its share is then n / n.
    return (agree - chance) / (1.0 - chance) if chance < 1.0 else math.nan


def _meaning(value: float) -> str:
    if math.isnan(value):
        return "undefined"
    return "good" if value - 0.8 > ROUNDING else "fair" if value - 0.67 >= -ROUNDING else "dubious"
