"""Evaluation of retrieved contexts, one question at a time, for evaluators of retrieval-augmented generation.

The modules for llama_index, Haystack, ragas and deepeval use it, and a metric of any other tool can. The value depends
on no order of equal scores, and its spread says how much such an order could change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import as_scores, check_no_nan
from tieaware.errors import InputError
from tieaware.evaluator import Evaluator
from tieaware.measures import Measure, parse_measures
from tieaware.ties import TieRuleName

# Returns the label of each context, given the question and the contexts.
Grader: TypeAlias = Callable[[str, Sequence[str]], Sequence[float]]


class ContextValue(NamedTuple):
    """The value of a measure for the contexts of one question.

    Attributes
    ----------
    value : float
        The value under the tie rule.
    std, min, max : float
        Its standard deviation and its range over all orders of contexts with equal scores.
    tied : int
        How many contexts have a score that another one has.

    Examples
    --------
    >>> from tieaware.integrations import retrieved_contexts
    >>> retrieved_contexts.evaluate({"b"}, ["a", "b"], [0.5, 0.5], "RR")
    ContextValue(value=0.75, std=0.25, min=0.5, max=1.0, tied=2)
    """

    value: float
    std: float
    min: float
    max: float
    tied: int

    def spread(self) -> dict[str, float]:
        """Return everything but the value, as a dict.

        Returns
        -------
        dict
            "std", "min", "max" and "tied".

        Examples
        --------
        >>> from tieaware.integrations import retrieved_contexts
        >>> retrieved_contexts.evaluate({"b"}, ["a", "b"], [0.5, 0.5], "RR").spread()
        {'std': 0.25, 'min': 0.5, 'max': 1.0, 'tied': 2}
        """
        return {"std": self.std, "min": self.min, "max": self.max, "tied": self.tied}

    def reason(self) -> str:
        """Return a sentence on the ties.

        Returns
        -------
        str

        Examples
        --------
        >>> from tieaware.integrations import retrieved_contexts
        >>> retrieved_contexts.evaluate({"b"}, ["a", "b"], [0.5, 0.5], "RR").reason()
        '2 contexts tie: from 0.5000 to 1.0000'
        >>> retrieved_contexts.evaluate({"b"}, ["a", "b"], [0.5, 0.4], "RR").reason()
        'no contexts tie'
        """
        return f"{self.tied} contexts tie: from {self.min:.4f} to {self.max:.4f}" if self.tied else "no contexts tie"


def evaluate(
    relevant: Mapping[Any, float] | Collection[Hashable],
    retrieved: Sequence[Hashable],
    scores: npt.ArrayLike | None = None,
    measure: str | Measure = "nDCG",
    *,
    ties: TieRuleName = "average",
) -> ContextValue:
    """Evaluate the contexts that were retrieved for one question.

    Parameters
    ----------
    relevant : mapping of context to label, or collection of contexts
        All relevant contexts, retrieved or not: identifiers or texts. Those of a collection have the label 1.
    retrieved : sequence
        The retrieved contexts. Of several entries for one context, such as passages of a document, the best counts.
        None is a context that is not judged.
    scores : real numbers, one for each retrieved context, optional
        The scores of the retriever, or of a grader or reranker. Without them, contexts rank in their order.
    measure : str or Measure
        The measure.
    ties : str
        The tie rule, one of `tieaware.ties.RULES` that does not order by document identifier.

    Returns
    -------
    ContextValue
        All zero if nothing was retrieved, or nothing is relevant.

    Raises
    ------
    InputError
        If the numbers of contexts and scores differ, a score is NaN, a context cannot be the key of a dict, or the
        measure is unknown.

    Examples
    --------
    The second and the third context tie, and one of the two relevant contexts was not retrieved.

    >>> from tieaware.integrations import retrieved_contexts
    >>> found = retrieved_contexts.evaluate({"b": 2, "x": 1}, ["a", "b", "c"], [0.9, 0.4, 0.4], "nDCG@10")
    >>> round(found.value, 4), round(found.min, 4), round(found.max, 4)
    (0.4299, 0.3801, 0.4796)
    """
    measures = parse_measures(measure)
    if len(measures) != 1:
        raise InputError("measure", f"must be one measure; found {shown(measure)}")
    _check_names(relevant, "relevant")
    _check_names(retrieved, "retrieved")
    labels = relevant if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1)
    kept = _best_scores(retrieved, scores)
    judgments = np.array([*labels.values()]), [0, len(labels)]
    listed = [labels.get(context, -1) for context in kept]
    ranked = np.fromiter(kept.values(), np.float64, len(kept))
    values = Evaluator(listed, measures, judgments=judgments, ties=ties)(ranked)
    spread = Evaluator(listed, measures, judgments=judgments).spread(ranked)
    tied = np.unique(ranked, return_counts=True)[1]
    value, std, least, most = (float(each[0, 0]) for each in (values, spread.std, spread.min, spread.max))
    return ContextValue(value, std, least, most, int(tied[tied > 1].sum()))


def graded(grader: Grader, question: str, contexts: Sequence[str]) -> dict[str, float]:
    """Return the labels that a grader, such as a language model, gives to the contexts of a question.

    Parameters
    ----------
    grader : callable
        Called with the question and the contexts; returns a label for each.
    question : str
        The question.
    contexts : sequence of str
        The contexts. Repeated ones are graded once.

    Returns
    -------
    dict of str to float
        `relevant` for `evaluate`. Contexts that were not retrieved are not known to be relevant.

    Raises
    ------
    InputError
        If the grader does not return a number for each context.

    Examples
    --------
    >>> from tieaware.integrations import retrieved_contexts
    >>> retrieved_contexts.graded(lambda question, texts: [question in text for text in texts], "tie", ["a tie", "b"])
    {'a tie': 1.0, 'b': 0.0}
    """
    different = list(dict.fromkeys(contexts))
    labels = as_scores(grader(question, different), "grader", flat=True)
    check_no_nan(labels, "grader")
    if len(labels) != len(different):
        raise InputError("grader", f"must return a label for each of {len(different)} contexts; found {len(labels)}")
    return dict(zip(different, labels.tolist(), strict=True))


def _check_names(contexts: Any, where: str) -> None:
    """Check that contexts are a collection, but not one text, and that each can be the key of a dict."""
    try:
        if isinstance(contexts, str | bytes):
            raise TypeError
        for context in contexts:
            hash(context)
    except TypeError:
        raise unexpected(where, "a collection of identifiers or texts", shown(contexts)) from None


def _best_scores(retrieved: Sequence[Hashable], scores: npt.ArrayLike | None) -> dict[Hashable, float]:
    """Return the different contexts with the best score of each; without scores, the first ranks first."""
    if scores is None:
        numbers: list[float] = list(range(len(retrieved), 0, -1))
    else:
        given = as_scores(scores, "scores", flat=True)
        check_no_nan(given, "scores")
        numbers = given.tolist()
        if len(numbers) != len(retrieved):
            raise InputError("scores", f"must be one for each of {len(retrieved)} contexts; found {len(numbers)}")
    best: dict[Hashable, float] = {}
    for context, score in zip(retrieved, numbers, strict=True):
        # An object equals only itself, so a context without a name is a context of its own.
        key = object() if context is None else context
        best[key] = max(best.get(key, score), score)
    return best
