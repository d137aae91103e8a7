"""Fusion with many weights: runs are aligned, normalised and matched only once; and the search for the best weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tieaware.checks.arrays import Integers, Offsets, Values
from tieaware.engine.views import View
from tieaware.errors import Hinted
from tieaware.evaluator import Evaluator
from tieaware.inputs import QrelsLike, Run, RunLike, as_qrels, check_numbers, match_whole
from tieaware.lines import Line
from tieaware.lists.identifiers import Identifiers, frozen
from tieaware.lists.query_lists import Lists, rows_of
from tieaware.measures import Measure, parse_measures
from tieaware.optimise.ascent import chosen_on_folds, coordinate_ascent, line_of_weight
from tieaware.optimise.fusion import (
    Minimum,
    Missing,
    aligned_sources,
    checked_minimum,
    checked_scale,
    checked_weights,
    normalised_scores,
    sources_to_fuse,
)
from tieaware.optimise.normalisation import NormalisationName
from tieaware.optimise.trial import HeldOut
from tieaware.output.tables import counted
from tieaware.precision import Coarsening
from tieaware.ties import TieRuleName


class WeightedFusion(Hinted):
    """The weighted sum of several runs, for any number of weights, which may be chosen by their values.

    The runs are read, normalised and matched with the judgments once. A call then evaluates weights; its values have
    the same bits as those of ``evaluate(qrels, fuse(runs, weights=weights), measures)``.

    Parameters
    ----------
    qrels, runs
        As for `evaluate`; at least two runs.
    measures : sequence of str or Measure, or one string
        For example "nDCG@10" or ``["AP", "nDCG@10"]``.
    normalise, missing, minimum
        As for `fuse`.
    ties, precision, threads, undefined
        As for `Evaluator`.

    Attributes
    ----------
    evaluator : Evaluator
        Its lists are the documents that any of the runs has, for each judged query in the order of the judgments. A
        query that no run answers has an empty list. Queries that are not judged are left out.
    features : float64[n_docs, n_runs]
        The normalised score of each document in each run, read-only.
    queries : tuple of str or of int
        The judged queries, one for each row of the values: the same as in the results of `evaluate`. (With
        ``undefined=nan``, `evaluate` leaves out queries without relevant documents; here, their rows are NaN.)
    runs : tuple of str
        The names of the runs, in the order of the weights.
    documents : Identifiers
        The document of each row of `features`.

    Warns
    -----
    UserWarning
        If the runs share queries with the judgments, but no document.

    Examples
    --------
    No run answers q2, and q3 is not judged.

    >>> import tieaware
    >>> qrels = {"q2": {"d1": 1}, "q1": {"d1": 1, "d3": 1}}
    >>> bm25 = {"q1": {"d1": 7.0, "d2": 7.0}, "q3": {"d1": 1.0}}
    >>> dense = {"q1": {"d2": 0.9, "d3": 0.5}}
    >>> fusion = tieaware.WeightedFusion(qrels, {"bm25": bm25, "dense": dense}, "AP")
    >>> fusion.queries, fusion.features.tolist()
    (('q2', 'q1'), [[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    >>> [fusion([1 - weight, weight]).mean().round(3).item() for weight in (0.0, 0.5, 1.0)]
    [0.354, 0.292, 0.292]
    """

    def __init__(
        self,
        qrels: QrelsLike,
        runs: Mapping[str, RunLike] | Sequence[RunLike],
        measures: str | Measure | Sequence[str | Measure],
        *,
        normalise: NormalisationName = "min-max",
        missing: Missing = "least",
        ties: TieRuleName = "average",
        precision: str | Coarsening | None = None,
        threads: int | None = 1,
        undefined: float = 0.0,
        minimum: Minimum | None = None,
    ) -> None:
        parse_measures(measures)
        missing = checked_scale(normalise, missing)
        judged, sources = as_qrels(qrels), sources_to_fuse(runs)
        for name, source in sources.items():
            check_numbers(judged, source, name)
        self.runs: tuple[str, ...] = tuple(sources)
        minima = checked_minimum(minimum, normalise, self.runs)
        aligned = aligned_sources(sources, minima)
        name = "+".join(self.runs)
        lists = Lists(aligned.queries, aligned.offsets, aligned.documents, aligned.scores[0])
        matched = match_whole(judged, Run.of(lists, name), name)
        rows, offsets = rows_by_judgments(matched.rows, aligned.offsets, len(judged))
        self.queries: tuple[str | int, ...] = tuple(judged.queries.to_list())
        self.documents: Identifiers = aligned.documents.take(rows)
        docids = None if View(ties, precision).rule.by_document is None else list(self.documents)
        # One run after the other, because `scores` adds whole runs.
        self._by_run: Values = frozen(normalised_scores(aligned, normalise, missing, minima)[:, rows])
        self.features: Values = self._by_run.T
        self.evaluator: Evaluator = Evaluator(
            matched.labels[rows], measures, offsets=offsets, judgments=(judged.labels, judged.offsets), docids=docids,
            ties=ties, precision=precision, threads=threads, undefined=undefined,
        )  # fmt: skip

    def scores(self, weights: Mapping[str, float] | Sequence[float] | Values) -> Values:
        """Return the fused score of each document.

        The scores have the same bits as those of `fuse`. The product ``features @ weights`` may differ from them in the
        last bits, even for two documents with equal features, which then do not tie.

        Parameters
        ----------
        weights : {name: float} or sequence of float
            The weight of each run.

        Returns
        -------
        float64[n_docs]
            Scores for `evaluator`.

        Raises
        ------
        InputError
            The weights do not fit the runs.
        """
        first, *others = zip(self._by_run, checked_weights(weights, self.runs), strict=True)
        scores: Values = first[0] * first[1]
        for values, weight in others:
            scores += values * weight
        return scores

    def __call__(self, weights: Mapping[str, float] | Sequence[float] | Values) -> Values:
        """Evaluate the fusion with these weights; parameters and errors as for `scores`.

        Returns
        -------
        float64[n_queries, n_measures]
            Rows in the order of `queries`, columns in the order of the measures.
        """
        return self.evaluator(self.scores(weights))

    def __repr__(self) -> str:
        n_docs = counted(len(self.documents), "document")
        sizes = f"{counted(len(self.queries), 'query', 'queries')}, {n_docs}"
        return f"WeightedFusion({' + '.join(self.runs)}, {sizes})"


def rows_by_judgments(judged: Integers, offsets: Offsets, n_judged: int) -> tuple[Integers, Offsets]:
    """Return the rows of each judged query, in the order of the judgments, and the offsets of these lists.

    `judged` has, for each query of the runs, its index in the judgments, or -1; `offsets` has the rows of each of them.
    """
    lists = np.full(n_judged, -1)
    lists[judged[judged >= 0]] = np.flatnonzero(judged >= 0)
    return rows_of(offsets, lists)


class WeightSearch:
    """The best weights of runs by one measure: for two runs on an exact line, for more by coordinate ascent.

    `weights`, float64[n_runs], are the best that were found: not negative, with the sum 1. Along each of `lines`, the
    weight of a run goes from 0 to 1, while the others keep their proportions. For two runs, this is only the line of
    the second, because that of the first is its mirror image. `restarts` and `seed` are as for `coordinate_ascent`; the
    seed is also that of the folds.
    """

    def __init__(self, fusion: WeightedFusion, restarts: int, seed: int) -> None:
        self._fusion, self._restarts, self._seed = fusion, restarts, seed
        if len(fusion.runs) == 2:
            line = fusion.evaluator.between(fusion.features[:, 0], fusion.features[:, 1])
            with _no_warnings():
                self.weights: Values = _shares(line.best().t)
            self.lines: tuple[Line, ...] = (line,)
        else:
            options: dict[str, Any] = {"nonnegative": True, "restarts": restarts}
            self.weights = coordinate_ascent(fusion.evaluator, fusion.features, seed=seed, **options).weights
            self.lines = tuple(
                line_of_weight(fusion.evaluator, fusion.features, self.weights, i) for i in range(len(self.weights))
            )

    def held_out(self, folds: int) -> HeldOut:
        """Choose weights on all folds but one, and evaluate them on that one, for each fold."""
        if len(self.weights) == 2:
            with _no_warnings():
                crossed = self.lines[0].cross_validated(folds=folds, seed=self._seed)
            return HeldOut(np.array([_shares(t) for t in crossed.t.tolist()]), crossed.values)
        fusion, options = self._fusion, {"nonnegative": True, "restarts": self._restarts}
        return chosen_on_folds(fusion.evaluator, fusion.features, None, folds, self._seed, **options)


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Suppress the warning that a line is the same everywhere: the experiment says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def _shares(t: float) -> Values:
    return np.array([1.0 - t, t])
