"""The definition of compatibility: the rank-biased overlap of a ranking with its best ideal ranking."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Labels, Values
from tieaware.errors import InputError
from tieaware.lists.judgments import Judgments
from tieaware.measures.definition import Definition, Measure, Weighting
from tieaware.measures.formulas import MOST_GRADES, positive_documents
from tieaware.measures.parameters import Flag, Number
from tieaware.measures.registry import register

# Depths at which the weight of a depth is below this share of the first one's do not count.
_NEGLIGIBLE = 1e-20


def _grades(labels: Labels | Values) -> Values:
    """Return one row for each grade, with 1 for documents of the grade and 0 for all others.

    Grades are the labels from 1 to the highest. If labels are real numbers, they are the labels above 0 that occur.
    """
    if labels.dtype != np.int32:
        grades: Labels | Values = labels[labels > 0.0]
    elif labels.max(initial=0) > MOST_GRADES:
        raise unexpected("labels", f"at most {MOST_GRADES}", f"{labels.max()}")
    else:
        grades = np.arange(1, max(labels.max(initial=0), 1) + 1)
    if len(grades) > MOST_GRADES:
        raise InputError(
            "labels", f"have {len(grades)} different values, but at most {MOST_GRADES} are possible; round the labels"
        )
    # A kernel needs a row, even if no document has a grade.
    rows: Values = (labels == (grades if len(grades) else np.ones(1))[:, None]).astype(np.float64)
    return rows


def _ideal_counts(measure: Measure, judgments: Judgments) -> tuple[Values, Integers]:
    """Return, for each query, the number h of grades, and how many documents have at least grade number 1, 2 … h.

    Also returns int64[n_queries], the position at which the numbers of each query start.
    """
    if judgments.grades is None:
        grades = np.arange(1.0, min(max(int(judgments.labels.max(initial=0)), 0), MOST_GRADES) + 1)
    else:
        grades = judgments.grades.values[1 : MOST_GRADES + 1]
    rows = np.empty((judgments.n_queries, len(grades) + 1))
    rows[:, 0] = len(grades)
    for number, grade in enumerate(grades.tolist(), 1):
        rows[:, number] = judgments.count(grade)
    return rows.ravel(), np.arange(judgments.n_queries, dtype=np.int64) * (len(grades) + 1)


def _by_ideal(measure: Measure, total: Values, retrieved: Integers) -> Values:
    """Return Σ_d p^(d-1) min(d, N)/d, the ideal's overlap with itself; without `normalize`, Σ_d p^(d-1).

    Both sums go to the greater of N, the number of ideal documents, and the number of retrieved documents.
    """
    ends = np.maximum(total, retrieved).astype(np.int64)
    weights, by_rank = _sums(float(measure["p"]), int(ends.max(initial=0)))
    last = len(weights) - 1
    ends, N = np.minimum(ends, last), total.astype(np.int64)
    if not measure["normalize"]:
        return weights[ends]
    within = np.minimum(N, last)
    norms: Values = weights[within] + N * (by_rank[ends] - by_rank[within])
    return norms


@lru_cache(maxsize=16)
def _sums(p: float, depth: int) -> tuple[Values, Values]:
    """Return the prefix sums, from 0, of p^(d-1) and of p^(d-1)/d for the depths that count, up to a depth."""
    reach = depth if p**depth > _NEGLIGIBLE else min(depth, int(np.ceil(np.log(_NEGLIGIBLE) / np.log(p))))
    powers = np.concatenate(([1.0], np.multiply.accumulate(np.full(max(reach - 1, 0), p))))[:reach]
    return tuple(  # type: ignore[return-value]
        np.concatenate(([0.0], np.cumsum(values))) for values in (powers, powers / np.arange(1, reach + 1))
    )


# fmt: off
Compat: Measure = register(Definition(
    name="Compat", title="compatibility: rank-biased overlap with the best ideal ranking",
    formula=r"\sum_d \frac{p^{d-1}}{d}\, o_d \Big/ \sum_d \frac{p^{d-1}}{d} \min(d, N)",
    where=(
        "$`o_d`$: the documents that the list and its [best ideal ranking](#compatibility), of the $`N`$ "
        r"documents with a label above 0, share down to rank $`d`$; both sums go to $`\max(n, N)`$. Without "
        r"`normalize`, the divisor is $`\sum_d p^{d-1}`$"
    ),
    source="Clarke, Vtyurina and Smucker (2021)",
    kernel="compatibility", weighting=Weighting(_grades), total=positive_documents, norm=_by_ideal,
    query_lookup=_ideal_counts, measure_number="p",
    parameters={
        "p": Number(0.95, 0.0, 1.0, "the probability that the user goes on to the next document", ends=False),
        "normalize": Flag(True, "divide by the overlap of the ideal ranking with itself"),
    },
    has_cutoff=False,
    limit="the exact value or spread of large tie groups takes too long; use another tie rule",
))
# fmt: on
