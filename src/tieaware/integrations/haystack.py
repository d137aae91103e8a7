"""An evaluator of retrieved documents for Haystack: any measure, with its spread over orders of equal scores.

`RankingEvaluator` is a component. It is created on first use, because its creation imports Haystack. `RankingRun` has
its methods.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tieaware.errors import InputError
from tieaware.integrations.retrieved_contexts import evaluate
from tieaware.measures import parse_measures
from tieaware.runtime.extras import load
from tieaware.ties import TieRuleName, tie_rule

_PACKAGE = "haystack-ai"


class RankingRun:
    """The methods of `RankingEvaluator`, with the inputs and outputs of Haystack's own evaluators of documents.

    Parameters
    ----------
    measure : str
        The measure to compute.
    document_comparison_field : str
        What identifies a document: "content", "id" or "meta.<key>". Of several retrieved documents with the same one,
        the best counts.
    ties : str
        The tie rule, one of `tieaware.ties.RULES` that does not order by document identifier.

    Raises
    ------
    InputError
        If the measure, the field or the tie rule is unknown.

    Examples
    --------
    >>> from haystack import Document                                                       # doctest: +SKIP
    >>> found = [Document(content="a", score=0.5), Document(content="b", score=0.5)]        # doctest: +SKIP
    >>> RankingEvaluator("RR").run([[Document(content="b")]], [found])["score"]             # doctest: +SKIP
    0.75
    """

    def __init__(
        self, measure: str, document_comparison_field: str = "content", *, ties: TieRuleName = "average"
    ) -> None:
        tie_rule(ties)
        (self._measure,) = parse_measures([measure])
        if document_comparison_field not in ("content", "id") and not document_comparison_field.startswith("meta."):
            problem = f"must be 'content', 'id' or 'meta.<key>'; found {document_comparison_field!r}"
            raise InputError("document_comparison_field", problem)
        self._field, self._ties = document_comparison_field, ties

    def run(
        self, ground_truth_documents: Sequence[Sequence[Any]], retrieved_documents: Sequence[Sequence[Any]]
    ) -> dict[str, Any]:
        """Evaluate the documents that were retrieved for each question.

        Parameters
        ----------
        ground_truth_documents : list of list of Document
            The relevant documents of each question. Their scores, if they have any, are the labels of graded measures,
            such as nDCG.
        retrieved_documents : list of list of Document
            The retrieved documents of each question. Without scores, they rank in their order.

        Returns
        -------
        dict
            "score": the mean. "individual_scores": the value of each question. "individual_spreads": a dict for each
            question, "std", "min", "max" and "tied", over all orders of documents with equal scores.

        Raises
        ------
        InputError
            If the numbers of questions differ or are 0, or only some documents of a list have scores.
        """
        if len(ground_truth_documents) != len(retrieved_documents) or not ground_truth_documents:
            found = f"{len(ground_truth_documents)} and {len(retrieved_documents)}"
            problem = f"must have a list for each question, as ground_truth_documents; found {found}"
            raise InputError("retrieved_documents", problem)
        results = [
            evaluate(self._labels(relevant, i), *self._ranked(retrieved, i), self._measure, ties=self._ties)
            for i, (relevant, retrieved) in enumerate(zip(ground_truth_documents, retrieved_documents, strict=True))
        ]
        values = [each.value for each in results]
        return {
            "score": math.fsum(values) / len(values),
            "individual_scores": values,
            "individual_spreads": [each.spread() for each in results],
        }

    def _labels(self, documents: Sequence[Any], question: int) -> dict[Any, float]:
        """Return the labels of the relevant documents; a binary measure takes all of them as relevant."""
        parameters = self._measure.parameters
        is_graded = "rel" not in parameters or "gains" in parameters
        scores = _scores(documents, f"ground_truth_documents[{question}]") if is_graded else None
        scores = scores or [float(parameters.get("rel", 1))] * len(documents)
        keys = [self._key(document) for document in documents]
        return {key: label for key, label in zip(keys, scores, strict=True) if key is not None}

    def _ranked(self, documents: Sequence[Any], question: int) -> tuple[list[Any], list[float] | None]:
        return list(map(self._key, documents)), _scores(documents, f"retrieved_documents[{question}]")

    def _key(self, document: Any) -> Any:
        """Return what identifies a document; None if it lacks that."""
        if not self._field.startswith("meta."):
            return getattr(document, self._field)
        value = document.meta
        for part in self._field.split(".")[1:]:
            value = value.get(part) if isinstance(value, dict) else None
        return value


def _scores(documents: Sequence[Any], where: str) -> list[float] | None:
    """Return the scores of documents, all of which must have one; None if none of them has."""
    scores = [document.score for document in documents]
    if None not in scores:
        return scores
    if any(score is not None for score in scores):
        raise InputError(where, "some documents have scores, and others have none")
    return None


def __getattr__(name: str) -> Any:
    """Create the class `RankingEvaluator` on first use."""
    if name != "RankingEvaluator":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    haystack = load("haystack", _PACKAGE)
    documents = list[list[haystack.Document]]  # type: ignore[name-defined]

    class RankingEvaluator(RankingRun):
        __doc__ = RankingRun.__doc__

        def to_dict(self) -> dict[str, Any]:
            """Return the arguments of the component, for pipelines that are saved."""
            saved = load("haystack.core.serialization", _PACKAGE).default_to_dict(
                self, measure=str(self._measure), document_comparison_field=self._field, ties=self._ties
            )
            return dict(saved)

        @haystack.component.output_types(
            score=float, individual_scores=list[float], individual_spreads=list[dict[str, float]]
        )
        def run(self, ground_truth_documents, retrieved_documents):  # type: ignore[no-untyped-def]
            # Haystack makes another class of this one, so `super` does not work.
            return RankingRun.run(self, ground_truth_documents, retrieved_documents)

        # Haystack reads the types of the inputs from here.
        run.__annotations__ = dict.fromkeys(("ground_truth_documents", "retrieved_documents"), documents)

    RankingEvaluator.__qualname__ = name
    return globals().setdefault(name, haystack.component(RankingEvaluator))
