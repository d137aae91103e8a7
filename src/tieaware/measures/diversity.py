"""The definitions of measures of diversity, from judgments of the subtopics of each query.

Without weights, all subtopics with a relevant document count alike, as in ndeval. Weights are scaled so that those of
these subtopics add up to 1.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tieaware.checks.arrays import Integers, Labels, Values
from tieaware.checks.rounding import ROUNDING
from tieaware.errors import InputError
from tieaware.kernels import _slots, _subtopics
from tieaware.lists.grades import Grades
from tieaware.lists.judgments import Judgments
from tieaware.lists.subtopics import SubtopicGrades, Subtopics
from tieaware.measures.definition import Definition, KernelInputs, Measure, Weighting, register
from tieaware.measures.formulas import (
    always,
    by_depth,
    by_total,
    check_some_relevant,
    logarithmic_slots,
    one,
    reciprocal_slots,
    slot_weights,
)
from tieaware.measures.parameters import BINARY, REL, Number, Parameters

_ALPHA: Parameters = {
    "alpha": Number(0.5, 0.0, 1.0, "how much a document loses of its gain for a subtopic with each one before it")
}
_BETA: Parameters = {
    "beta": Number(0.5, 0.0, 1.0, "the probability that the user goes on to the next document", ends=False)
}
_LIMIT = (
    "the exact value for this query takes too much time or memory, because too many documents tie; use a cut-off, "
    "another tie rule, or no spread"
)
# The ideal of measures with a cut-off above this is computed without that of further ranks.
_DEEPEST = 1_000_000


class _OfSubtopics(Weighting):
    """The weighting of all measures of diversity: one row for each subtopic, with 1 for documents relevant to it."""

    def weigh(self, measure: Measure, labels: Labels | Values, grades: Grades | None = None) -> Values:
        if not isinstance(grades, SubtopicGrades):
            # No document is listed, or there are no judgments of subtopics; then `_judged` raises the error.
            return super().weigh(measure, labels, grades)
        relevant = grades.relevant(float(measure["rel"]))
        unjudged = np.zeros((len(relevant), len(labels) - relevant.shape[1]))
        return np.concatenate((unjudged, relevant), axis=1)

    def joint(self, measure: Measure, labels: Labels | Values, grades: Grades | None = None) -> Values | None:
        """Return one row for each number of a combination, with 1 for documents that have it."""
        if not isinstance(grades, SubtopicGrades):
            return np.zeros((1, len(labels)))
        numbers = np.arange(grades.number.max(initial=0) + 1)[:, None]
        unjudged = np.zeros((len(numbers), len(labels) - len(grades.number)))
        return np.concatenate((unjudged, grades.number == numbers), axis=1)


def _relevance(labels: Labels | Values, rel: float) -> Values:
    return (labels >= rel).astype(np.float64)


RELEVANT_TO_SUBTOPICS = _OfSubtopics(_relevance, ("rel",))


def _judged(measure: Measure, judgments: Judgments) -> tuple[SubtopicGrades, Subtopics]:
    """Return the combinations and the subtopics of judgments; raise InputError if these have no subtopics."""
    if not isinstance(judgments.grades, SubtopicGrades) or judgments.subtopics is None:
        raise InputError(
            f"{measure}: judgments",
            "have no subtopics; pass {query: {subtopic: {document: label}}}, or set subtopics=True",
        )
    if judgments.grades.are_real:
        check_some_relevant(measure, judgments)
    return judgments.grades, judgments.subtopics


def _relevant_documents(measure: Measure, judgments: Judgments) -> Values:
    """Return how many documents are relevant to each subtopic of a query: float64[n_queries, most subtopics]."""
    grades, _ = _judged(measure, judgments)
    relevant, query = grades.relevant(float(measure["rel"])), judgments.query
    codes = np.maximum(judgments.labels, 0)
    counts = np.empty((judgments.n_queries, len(relevant)))
    for i, row in enumerate(relevant):
        counts[:, i] = np.bincount(query, weights=row[codes], minlength=judgments.n_queries)
    return counts


def _weights(measure: Measure, judgments: Judgments, counts: Values) -> Values:
    """Return the weight of each subtopic, which is 0 if no document is relevant to it: like `counts`."""
    _, subtopics = _judged(measure, judgments)
    weights = (counts > 0.0).astype(np.float64)
    if subtopics.weights is not None:
        query = np.repeat(np.arange(judgments.n_queries), np.diff(subtopics.offsets))
        weights[query, np.arange(len(query)) - subtopics.offsets[query]] *= subtopics.weights
    totals = weights.sum(axis=1, keepdims=True)
    shares: Values = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0.0)
    return shares


def _answerable(measure: Measure, judgments: Judgments) -> Values:
    """Return 1 for each query with a document that is relevant to a subtopic with a weight, and 0 for others."""
    weights = _weights(measure, judgments, _relevant_documents(measure, judgments))
    found: Values = np.ceil(weights.max(axis=1, initial=0.0))
    return found


def _numbers(measure: Measure, judgments: Judgments) -> tuple[Values, Integers]:
    """Return the numbers of all queries that the kernels read (see _subtopics.pxd), and where those of each start."""
    return _numbers_of(measure, judgments, _weights(measure, judgments, _relevant_documents(measure, judgments)))


def _numbers_by_document(measure: Measure, judgments: Judgments) -> tuple[Values, Integers]:
    """Return the same numbers, with each weight divided by the number of documents relevant to the subtopic."""
    counts = _relevant_documents(measure, judgments)
    return _numbers_of(measure, judgments, _weights(measure, judgments, counts) / np.maximum(counts, 1.0))


def _numbers_of(measure: Measure, judgments: Judgments, weights: Values) -> tuple[Values, Integers]:
    grades, subtopics = _judged(measure, judgments)
    sizes = np.diff(subtopics.offsets)
    # The combinations of each query in the order of their numbers.
    judged = judgments.labels > 0
    queries, codes = np.unique(np.stack([judgments.query[judged], judgments.labels[judged]]), axis=1)
    n_combinations = np.bincount(queries, minlength=judgments.n_queries)
    ends = np.cumsum(2 + sizes + 2 * n_combinations)
    starts = (ends - 2 - sizes - 2 * n_combinations).astype(np.int64)
    numbers = np.zeros(ends[-1] if len(ends) else 0)
    numbers[starts], numbers[starts + 1] = sizes, n_combinations
    query = np.repeat(np.arange(judgments.n_queries), sizes)
    subtopic = np.arange(len(query)) - subtopics.offsets[query]
    numbers[starts[query] + 2 + subtopic] = weights[query, subtopic]
    sets = _sets(grades.relevant(float(measure["rel"])))
    place = starts[queries] + 2 + sizes[queries] + 2 * grades.number[codes]
    numbers[place], numbers[place + 1] = sets[0, codes], sets[1, codes]
    return numbers, starts


def _sets(relevant: npt.NDArray[np.bool_]) -> Values:
    """Return the subtopics of each combination as bits of two numbers: float64[2, n_codes]."""
    sets = np.zeros((2, relevant.shape[1]))
    for i, row in enumerate(relevant):
        sets[i // 32] += row * 2.0 ** (i % 32)
    return sets


# Ideal rankings.


def _ideal(measure: Measure, judgments: Judgments) -> Values:
    """Return the sum of gain times slot weight over the ideal ranking of each query, which is that of ndeval."""
    grades, _ = _judged(measure, judgments)
    relevant = grades.relevant(float(measure["rel"]))
    codes, offsets = np.maximum(judgments.labels, 0).astype(np.int64), np.asarray(judgments.offsets, np.int64)
    if judgments.documents is not None:
        # In ndeval, the document with the highest identifier comes first.
        order = judgments.documents.order(judgments.offsets, descending=True)
        codes = codes[order + np.repeat(offsets[:-1], np.diff(offsets))]
    depth = judgments.deepest(measure.cutoff)
    weights = _weights(measure, judgments, _relevant_documents(measure, judgments))
    gains = _subtopics.greedy_gains(
        codes, offsets, np.ascontiguousarray(relevant.T), weights, float(measure["alpha"]), depth, ROUNDING
    )
    slots = measure.definition.inputs.slots
    assert slots is not None
    rank = np.arange(len(gains)) - np.repeat(offsets[:-1], np.diff(offsets))
    within = rank < depth
    prefix = slots(measure, max(depth, 1))
    slot = (prefix[1:] - prefix[:-1]).sum(axis=1)
    ideal = np.bincount(
        judgments.query[within], weights=gains[within] * slot[rank[within]], minlength=judgments.n_queries
    )
    return ideal.astype(np.float64, copy=False)


# Divisors that do not depend on the judgments: each document is relevant to all subtopics.


def _by_all_subtopics(measure: Measure, total: Values, retrieved: Integers) -> Values | float:
    """Return Σ (1 - α)^(j-1) d_j over the first k ranks; without a cut-off, over the ranks of the list."""
    if measure.cutoff is not None and measure.cutoff > _DEEPEST:
        raise InputError(f"cut-off of {measure}", f"must be at most {_DEEPEST:,}")
    depths = np.maximum(retrieved, 1) if measure.cutoff is None else np.array([measure.cutoff])
    depth = int(depths.max(initial=1))
    slots = measure.definition.inputs.slots
    assert slots is not None
    prefix = slots(measure, depth)
    # Powers by multiplication have the same bits everywhere.
    powers = np.multiply.accumulate(np.concatenate(([1.0], np.full(depth - 1, 1.0 - float(measure["alpha"])))))
    sums = np.cumsum(powers * (prefix[1 : depth + 1] - prefix[:depth]).sum(axis=1))[depths - 1]
    return sums if measure.cutoff is None else float(sums[0])


def _by_all_subtopics_of_nrbp(measure: Measure, total: Values, retrieved: Integers) -> float:
    """Return (1 - β) / (1 - (1 - α) β): Σ (1 - α)^(j-1) (1 - β) β^(j-1) over all ranks."""
    alpha, beta = float(measure["alpha"]), float(measure["beta"])
    return (1.0 - beta) / (1.0 - (1.0 - alpha) * beta)


def _geometric_slots(measure: Measure, depth: int) -> Values:
    """Return the prefix sums of (1 - β) β^(rank - 1)."""
    return slot_weights(_slots.geometric, depth, float(measure["beta"]))


# fmt: off
alpha_DCG: Measure = register(Definition(  # noqa: N816 - the field's name
    name="alpha_DCG", title="discounted gain of documents, which falls with each document before on the same subtopic",
    formula=(
        r"\sum_i w_i \sum_{j \in i} \frac{(1 - \alpha)^{c_{ij}}}{\log_2 (1 + j)} \Big/ \sum_{j \le k} \frac{(1 - "
        r"\alpha)^{j-1}}{\log_2 (1 + j)}"
    ),
    where=(
        r"$`j \in i`$ are the ranks of documents relevant to subtopic $`i`$ of weight $`w_i`$, and $`c_{ij}`$ such "
        "documents are above rank $`j`$; without $`k`$, $`n`$ in its place"
    ),
    source="Clarke and others (2008)",
    kernel="novelty", weighting=RELEVANT_TO_SUBTOPICS, total=_answerable, norm=_by_all_subtopics,
    inputs=KernelInputs(slots=logarithmic_slots, of_queries=_numbers, measure_number="alpha"), needs_subtopics=True,
    own_extremes=always, limit=_LIMIT,
    parameters={**_ALPHA, **BINARY}, aliases=("α_DCG",),
))
alpha_nDCG: Measure = register(replace(  # noqa: N816 - the field's name
    alpha_DCG.definition, name="alpha_nDCG", title="alpha_DCG, divided by that of the ideal ranking",
    formula=r"\text{alpha\_DCG} / \text{alpha\_DCG}^*",
    where=r"$`\text{alpha\_DCG}^*`$ is that of the [ideal ranking](diversity.md#the-ideal-ranking)",
    source="Clarke and others (2008)", range="≥ 0",
    total=_ideal, norm=by_total, aliases=("α_nDCG",),
))
ERR_IA: Measure = register(replace(
    alpha_DCG.definition, name="ERR_IA", title="intent-aware ERR", aliases=(),
    inputs=KernelInputs(slots=reciprocal_slots, of_queries=_numbers, measure_number="alpha"),
    formula=(
        r"\sum_i w_i \sum_{j \in i} \frac{(1 - \alpha)^{c_{ij}}}{j} \Big/ \sum_{j \le k} \frac{(1 - "
        r"\alpha)^{j-1}}{j}"
    ),
    where="the rest as in alpha_DCG",
    source="Clarke and others (2011)",
))
nERR_IA: Measure = register(replace(  # noqa: N816 - the field's name
    ERR_IA.definition, name="nERR_IA", title="ERR_IA, divided by that of the ideal ranking",
    formula=r"\text{ERR\_IA} / \text{ERR\_IA}^*",
    where=r"$`\text{ERR\_IA}^*`$ is that of the ideal ranking",
    source="Clarke and others (2011)", range="≥ 0",
    total=_ideal, norm=by_total,
))
NRBP: Measure = register(replace(
    alpha_DCG.definition, name="NRBP", title="novelty- and rank-biased precision",
    formula=r"\bigl(1 - (1 - \alpha) \beta\bigr) \sum_i w_i \sum_{j \in i} (1 - \alpha)^{c_{ij}} \beta^{j-1}",
    where="the rest as in alpha_DCG",
    source="Clarke, Kolla and Vechtomova (2009)",
    inputs=KernelInputs(slots=_geometric_slots, of_queries=_numbers, measure_number="alpha"),
    norm=_by_all_subtopics_of_nrbp, has_cutoff=False, aliases=(),
    parameters={**_ALPHA, **_BETA, **REL},
))
nNRBP: Measure = register(replace(  # noqa: N816 - the field's name
    NRBP.definition, name="nNRBP", title="NRBP, divided by that of the ideal ranking", total=_ideal, norm=by_total,
    formula=r"\text{NRBP} / \text{NRBP}^*",
    where=r"$`\text{NRBP}^*`$ is that of the ideal ranking",
    source="Clarke, Kolla and Vechtomova (2009)", range="≥ 0",
))
P_IA: Measure = register(replace(
    alpha_DCG.definition, name="P_IA", title="intent-aware precision",
    formula=r"\sum_i w_i\, \text{P}_i",
    where=r"$`\text{P}_i`$ is P with the labels for subtopic $`i`$ of weight $`w_i`$",
    source="Agrawal and others (2009)",
    kernel="intents_hits", norm=by_depth, inputs=KernelInputs(of_queries=_numbers), parameters=BINARY, aliases=(),
))
AP_IA: Measure = register(replace(
    P_IA.definition, name="AP_IA", title="intent-aware average precision",
    formula=r"\sum_i w_i\, \text{AP}_i",
    where=r"$`\text{AP}_i`$ is AP with the labels for subtopic $`i`$ of weight $`w_i`$",
    source="Agrawal and others (2009)",
    kernel="intents_precision", norm=one,
    inputs=KernelInputs(slots=reciprocal_slots, of_queries=_numbers_by_document),
    has_cutoff=False, aliases=("MAP_IA",),
))
StRecall: Measure = register(replace(
    P_IA.definition, name="StRecall", title="share of the subtopics that a retrieved document covers",
    formula=r"\sum_i w_i\, \text{Success}_i",
    where=r"$`\text{Success}_i`$ is Success with the labels for subtopic $`i`$ of weight $`w_i`$",
    source="Zhai, Cohen and Lafferty (2003)",
    kernel="intents_success", norm=one, parameters=REL,
))
# fmt: on
