"""The definitions of measures of the C/W/L framework, in which a user reads on to each rank with some probability.

The weight of a rank is the share of this rank among all documents that the user views. Gains are scaled to 0 … 1.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from tieaware.checks.arguments import unexpected
from tieaware.checks.arrays import Integers, Labels, Values
from tieaware.errors import InputError
from tieaware.kernels import _slots
from tieaware.lists.judgments import Judgments
from tieaware.measures.definition import Definition, KernelInputs, Measure, Weighting, register
from tieaware.measures.formulas import (
    GAIN,
    MOST_GRADES,
    always,
    gainful_documents,
    logarithmic_slots,
    one,
    patient_slots,
    reciprocal_slots,
    slot_weights,
    too_many_grades,
)
from tieaware.measures.parameters import GAIN_KIND, JUDGED_ONLY, TABLE, Lookup, Number, Parameters, WholeNumber

# The cut-off of SDCG may be this large: the weights of all ranks down to it are added up.
_DEEPEST = 1_000_000

_SCALE: Parameters = {
    "min_rel": WholeNumber(0, 0, 2**31 - 2, "the highest label without gain"),
    "max_rel": WholeNumber(4, 1, 2**31 - 1, "the highest label, whose gain is 1"),
}
# Each label between the two is a weighting of its own.
_GRADES: Parameters = {
    "min_rel": WholeNumber(0, 0, 49, "the highest label without gain"),
    "max_rel": WholeNumber(4, 1, 50, "the highest label, whose gain is 1"),
}
_LIMIT_OF_ORDERS = (
    "the exact value goes through all orders of tied documents, which are too many; use a smaller cut-off or another "
    "tie rule"
)
_LIMIT_OF_BPM = "the exact value of large tie groups takes too long; use a smaller T or another tie rule"
_WANTED_GAIN = "the gain that the user wants, where the highest label has the gain 1"


def _steps(labels: Labels | Values, min_rel: int, max_rel: int) -> Values:
    """Return the label minus `min_rel`, but at least 0: the gain times max_rel - min_rel."""
    if min_rel >= max_rel:
        raise InputError("min_rel", f"must be below max_rel; they are {min_rel} and {max_rel}")
    if labels.max(initial=0) > max_rel:
        raise unexpected("labels", f"at most max_rel={max_rel}", f"{labels.max()}")
    steps: Values = np.maximum(labels - float(min_rel), 0.0)
    return steps


def _gain_of_steps(labels: Labels | Values, dcg: str, gains: Lookup, min_rel: int, max_rel: int) -> Values:
    """Return s, the label minus `min_rel`, or 2^s - 1 if `dcg` is "exp-log2"; or the gain in the table."""
    if gains:
        if (min_rel, max_rel) != (0, 4):
            raise InputError("gains", "must not be given together with min_rel or max_rel, by which labels are scaled")
        return GAIN.rows(labels, dcg, gains)
    steps = _steps(labels, min_rel, max_rel)
    if dcg == "log2":
        return steps
    if max_rel - min_rel > 52:
        raise unexpected("max_rel", "at most 52 above min_rel, for the gain 2^label - 1", f"{max_rel}")
    return _slots.powers_minus_one(steps)


def _rows_of_steps(labels: Labels | Values, min_rel: int, max_rel: int) -> Values:
    """Return one row for each label from min_rel + 1 to max_rel, with 1 for documents with that label.

    If labels are real numbers, the rows are those of the labels above min_rel that occur, but one row if there is none.
    """
    if labels.dtype == np.int32:
        return _rows_of_whole_steps(labels, min_rel, max_rel)
    steps = _steps(labels, min_rel, max_rel)
    occurring = steps[steps > 0.0]
    if len(occurring) > MOST_GRADES:
        raise too_many_grades(len(occurring))
    rows: Values = (steps == (occurring if len(occurring) else np.array([np.inf]))[:, None]).astype(np.float64)
    return rows


def _rows_of_whole_steps(labels: Labels | Values, min_rel: int, max_rel: int) -> Values:
    """Return the rows as for whole labels; raise InputError if labels are real numbers."""
    steps = _steps(labels, min_rel, max_rel)
    if (steps != np.floor(steps)).any():
        raise InputError("labels", "must be whole numbers, since this measure counts the steps to the wanted gain")
    rows: Values = (steps == np.arange(1, max_rel - min_rel + 1)[:, None]).astype(np.float64)
    return rows


STEPS = Weighting(_steps, ("min_rel", "max_rel"))
ROWS_OF_STEPS = Weighting(_rows_of_steps, ("min_rel", "max_rel"))
ROWS_OF_WHOLE_STEPS = Weighting(_rows_of_whole_steps, ("min_rel", "max_rel"))
GAIN_OF_STEPS = Weighting(_gain_of_steps, ("dcg", "gains", "min_rel", "max_rel"))


def documents_with_gain(measure: Measure, judgments: Judgments) -> Values:
    """Return the number of documents with a label above `min_rel`, or a gain above 0 in the table, for each query."""
    if measure.parameters.get("gains"):
        return gainful_documents(measure, judgments)
    return judgments.count(float(np.nextafter(float(measure["min_rel"]), np.inf)))


def _largest(measure: Measure) -> float:
    """Return the weight of a document with the highest label or gain, by which weights are scaled to 0 … 1."""
    table = measure.parameters.get("gains")
    if isinstance(table, Lookup) and table:
        return max(table.gains.values())
    highest = np.array([measure["max_rel"]], dtype=np.int32)
    return float(measure.definition.weighting.weigh(measure, highest)[0, 0])


def _by_discounts(measure: Measure, total: Values, retrieved: Integers) -> Values | float:
    """Return the sum of the discounts of the first k ranks; without a cut-off, of the ranks of the list."""
    if measure.cutoff is None:
        depths = np.maximum(retrieved, 1)
        sums: Values = logarithmic_slots(measure, int(depths.max(initial=1)))[depths].sum(axis=1)
        return _largest(measure) * sums
    if measure.cutoff > _DEEPEST:
        raise InputError(f"cut-off of {measure}", f"must be at most {_DEEPEST:,}")
    return _largest(measure) * float(logarithmic_slots(measure, measure.cutoff)[measure.cutoff].sum())


def inverse_square_slots(measure: Measure, depth: int) -> Values:
    """Return the prefix sums of 1 / (rank - 1 + 2 T)²."""
    return slot_weights(_slots.inverse_squares, depth, 2.0 * float(measure["T"]))


def _by_inverse_squares(measure: Measure, total: Values, retrieved: Integers) -> float:
    """Return Σ 1 / (j - 1 + 2 T)² over the first k ranks; without a cut-off, over all ranks to infinity."""
    first = 2.0 * float(measure["T"])
    if measure.cutoff is None:
        return _largest(measure) * trigamma(first)
    if measure.cutoff > _DEEPEST:
        return _largest(measure) * (trigamma(first) - trigamma(first + measure.cutoff))
    return _largest(measure) * float(inverse_square_slots(measure, measure.cutoff)[measure.cutoff].sum())


def _gains_of_grades(measure: Measure, judgments: Judgments) -> tuple[Values, Integers] | None:
    """Return the gains, scaled to 0 … 1, of the labels above `min_rel`, if labels are real numbers; otherwise None."""
    if judgments.grades is None:
        return None
    min_rel, max_rel = int(measure["min_rel"]), int(measure["max_rel"])
    steps = _steps(judgments.grades.values, min_rel, max_rel)
    return steps[steps > 0.0] / (max_rel - min_rel), np.zeros(judgments.n_queries, dtype=np.int64)


def _equal_slots(measure: Measure, depth: int) -> Values:
    """Return the prefix sums of the weight 1 of every rank."""
    return slot_weights(_counted, depth)


def _counted(depth: int) -> Values:
    ranks: Values = np.zeros((depth + 1, 2))
    ranks[:, 0] = np.arange(depth + 1)
    return ranks


def _last_of_finite(measure: Measure) -> float:
    """Return the prefix sum of the weights of NERR8 or NERR9 at the cut-off; infinity if the list decides."""
    return np.inf if measure.cutoff is None else _at_cutoff(measure)


def _last_of_geometric(measure: Measure) -> float:
    """Return the prefix sum of the weights of NERR10 at the cut-off, or its limit. The sums begin with -1."""
    return 0.0 if measure.cutoff is None else _at_cutoff(measure)


def _last_of_inverse_squares(measure: Measure) -> float:
    """Return the prefix sum of the weights of NERR11 at the cut-off, or its limit."""
    return trigamma(2.0 * float(measure["T"])) if measure.cutoff is None else _at_cutoff(measure)


def _at_cutoff(measure: Measure) -> float:
    slots, cutoff = measure.definition.inputs.slots, measure.cutoff
    if cutoff is None or slots is None or cutoff > _DEEPEST:
        raise InputError(f"cut-off of {measure}", f"must be at most {_DEEPEST:,}")
    return float(slots(measure, cutoff)[cutoff].sum())


def _wanted_steps(measure: Measure, depth: int) -> Values:
    """Return the number of steps that reach the gain T, the decimal number as it is written; this is no prefix sum."""
    from fractions import Fraction  # Here, because it also imports decimal; few measures need it.

    steps = Fraction(repr(measure["T"])) * (int(measure["max_rel"]) - int(measure["min_rel"]))
    return np.array([float(ceil(steps))])


def trigamma(x: float) -> float:
    """Return Σ 1 / (x + i)² over all i from 0, for x > 0.

    The first terms are added up. The others are expanded in powers of 1/x (Euler and Maclaurin), with Bernoulli's
    numbers as coefficients.
    """
    total = 0.0
    while x < 20.0:
        total += 1.0 / (x * x)
        x += 1.0
    square = 1.0 / (x * x)
    series = 0.0
    for bernoulli in (-691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6):
        series = (series + bernoulli) * square
    return total + (1.0 + 0.5 / x + series) / x


# Fields that the four variants of NERR share.
_STOPPING: dict[str, Any] = {
    "kernel": "reading", "weighting": ROWS_OF_STEPS, "total": documents_with_gain, "norm": one,
    "own_extremes": always, "limit": _LIMIT_OF_ORDERS,
}  # fmt: skip

# fmt: off
SDCG: Measure = register(Definition(
    name="SDCG", title="scaled discounted cumulative gain",
    formula=r"\sum_j \frac{g_j}{\log_2 (1 + j)} \Big/ \sum_{j \le k} \frac{1}{\log_2 (1 + j)}",
    where="$`g_j`$: the gain, [scaled to 0 … 1](#measures-of-user-models); without $`k`$, $`n`$ in its place",
    source="Moffat and others (2017)",
    kernel="discounted", weighting=GAIN_OF_STEPS, total=documents_with_gain, norm=_by_discounts,
    inputs=KernelInputs(slots=logarithmic_slots), linear=True,
    parameters={**GAIN_KIND, **TABLE, **_SCALE, **JUDGED_ONLY},
))
INSQ: Measure = register(Definition(
    name="INSQ", title="gain per document of a user who stops less and less often",
    formula=r"\sum_j \frac{g_j}{(j - 1 + 2T)^2} \Big/ \sum_{j \le k} \frac{1}{(j - 1 + 2T)^2}",
    where="$`g_j`$ as in SDCG; without $`k`$, the second sum is over all ranks to infinity",
    source="Moffat, Scholer and Thomas (2012)",
    kernel="inverse_squares", weighting=STEPS, total=documents_with_gain, norm=_by_inverse_squares,
    inputs=KernelInputs(slots=inverse_square_slots, measure_number="T"), linear=True,
    parameters={"T": Number(1.0, 1e-9, 1e9, _WANTED_GAIN), **_SCALE, **JUDGED_ONLY},
))
INST: Measure = register(Definition(
    name="INST", title="gain per document of a user who stops sooner once gain is found",
    formula=(
        r"\frac{\sum_j V_j\, g_j}{\sum_{j \le k} V_j},\quad V_1 = 1,\quad V_{j+1} = V_j \Bigl(\frac{a_j - "
        r"1}{a_j}\Bigr)^2"
    ),
    where=(
        r"$`a_j = j + 2T - g_1 - \dots - g_j`$; $`g_j`$ as in SDCG; without $`k`$, the second sum is over all "
        "ranks to infinity"
    ),
    source="Bailey and others (2015)",
    kernel="reading", weighting=ROWS_OF_STEPS, total=documents_with_gain, norm=one,
    inputs=KernelInputs(of_queries=_gains_of_grades, measure_number="T"),
    own_extremes=always, limit=_LIMIT_OF_ORDERS,
    parameters={"T": Number(1.0, 0.5, 1e9, _WANTED_GAIN), **_GRADES, **JUDGED_ONLY},
))
NERR8: Measure = register(Definition(
    name="NERR8", title="gain per document of a user who stops at each document with the probability of its gain",
    formula=r"\frac{\sum_j V_j\, g_j}{\sum_{j \le k} V_j},\quad V_j = \prod_{i<j} (1 - g_i)",
    where="$`g_j`$ as in SDCG; without $`k`$, $`n`$ in its place",
    source="Azzopardi, Mackenzie and Moffat (2021), equation 8",
    inputs=KernelInputs(slots=_equal_slots, of_queries=_gains_of_grades, measure_number=_last_of_finite),
    parameters={**_GRADES, **JUDGED_ONLY}, **_STOPPING,
))
NERR9: Measure = register(Definition(
    name="NERR9", title="NERR8 of a user who also goes on from rank j with the probability j / (j + 1)",
    formula=r"\frac{\sum_j V_j\, g_j}{\sum_{j \le k} V_j},\quad V_j = \frac{1}{j} \prod_{i<j} (1 - g_i)",
    where="$`g_j`$ as in SDCG; without $`k`$, $`n`$ in its place",
    source="Azzopardi, Mackenzie and Moffat (2021), equation 9",
    inputs=KernelInputs(slots=reciprocal_slots, of_queries=_gains_of_grades, measure_number=_last_of_finite),
    parameters={**_GRADES, **JUDGED_ONLY}, **_STOPPING,
))
NERR10: Measure = register(Definition(
    name="NERR10", title="NERR8 of a user who also goes on from each rank with the probability p",
    formula=r"\frac{\sum_j V_j\, g_j}{\sum_{j \le k} V_j},\quad V_j = p^{j-1} \prod_{i<j} (1 - g_i)",
    where="$`g_j`$ as in SDCG; without $`k`$, the second sum is over all ranks to infinity",
    source="Azzopardi, Mackenzie and Moffat (2021), equation 10",
    inputs=KernelInputs(slots=patient_slots, of_queries=_gains_of_grades, measure_number=_last_of_geometric),
    parameters={
        "p": Number(0.9, 0.0, 1.0, "the probability that a user who found no gain goes on", ends=False),
        **_GRADES, **JUDGED_ONLY,
    },
    **_STOPPING,
))
NERR11: Measure = register(Definition(
    name="NERR11", title="NERR8 of a user who also stops less and less often",
    formula=r"\frac{\sum_j V_j\, g_j}{\sum_{j \le k} V_j},\quad V_j = \frac{1}{(j - 1 + 2T)^2} \prod_{i<j} (1 - g_i)",
    where="$`g_j`$ as in SDCG; without $`k`$, the second sum is over all ranks to infinity",
    source="Azzopardi, Mackenzie and Moffat (2021), equation 11",
    inputs=KernelInputs(
        slots=inverse_square_slots, of_queries=_gains_of_grades, measure_number=_last_of_inverse_squares
    ),
    parameters={"T": Number(1.0, 1e-9, 1e9, _WANTED_GAIN), **_GRADES, **JUDGED_ONLY}, **_STOPPING,
))
BPM: Measure = register(Definition(
    name="BPM", title="gain per document of a user who stops as soon as enough gain is found",
    formula=r"(g_1 + \dots + g_s) / s",
    where=(
        r"$`s`$ is the first rank with $`g_1 + \dots + g_s \ge T`$, but at most $`k`$; $`g_j`$ as in SDCG; without "
        "$`k`$, $`n`$ in its place"
    ),
    source="Zhang and others (2017)",
    kernel="gain_reached", weighting=ROWS_OF_WHOLE_STEPS, total=documents_with_gain, norm=one,
    inputs=KernelInputs(slots=_wanted_steps),
    own_extremes=always, limit=_LIMIT_OF_BPM,
    parameters={"T": Number(1.0, 1e-9, 1e9, _WANTED_GAIN), **_GRADES, **JUDGED_ONLY},
))
# fmt: on
