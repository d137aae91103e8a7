"""The overhead experiment: the time of exact averages over ties, against ignoring ties and against plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from tieaware import reference
from tieaware.checks.arguments import whole_number
from tieaware.checks.arrays import Values
from tieaware.defaults import OVERHEAD_MEASURES
from tieaware.errors import InputError
from tieaware.evaluator import Evaluator
from tieaware.experiments.evaluating import JudgedRun
from tieaware.experiments.experiment import Experiment
from tieaware.inputs import QrelsLike, as_qrels, as_sources
from tieaware.lists.grades import Missing
from tieaware.measures import Measure, parse_measures
from tieaware.output.plots import Axes, Drawing, display_name
from tieaware.output.tables import Table, counted, significant, table_by
from tieaware.runtime.progress import progress
from tieaware.runtime.timing import ratio, take_turns
from tieaware.samples.discrete import DENSE_SCORES, dense_lists, discrete_lists
from tieaware.statistics import Ties, count_ties
from tieaware.ties import TieRuleName

# Tie rules under which each tied document has its own rank: run order, and relevant documents first.
_OBLIVIOUS: tuple[TieRuleName, ...] = ("run_order", "optimistic")
_COMPARED: tuple[TieRuleName, ...] = ("average", *_OBLIVIOUS)

# The reference in plain Python evaluates at most this many lists.
_PLAIN = 20
# The largest number of dense lists, the number of documents of each, and how many of these are labelled.
_DENSE = (500, 120, 60)


def overhead(
    measures: str | Measure | Sequence[str | Measure] = OVERHEAD_MEASURES,
    *,
    n_queries: int = 2_000,
    rounds: int = 15,
    seed: int = 2008,
    qrels: QrelsLike | None = None,
    run: Any = None,
    missing: Missing | None = None,
) -> Overhead:
    """Time the average over ties against tie-oblivious kernels and against the reference in Python.

    Two shapes of lists are generated. The first have power-law lengths, few relevant documents and discrete scores, as
    in the paper by McSherry and Najork. The others are dense, as in learning to rank: 120 documents, half of them
    labelled, with scores that are all distinct, of one decimal, whole numbers or all equal. With `qrels` and `run`, the
    lists of a run that are judged are timed instead, against the tie-oblivious kernels.

    First, the values of the kernels are checked against the reference. Then all contenders are timed in turns, in
    memory, and in one thread; each reported ratio is the median over the rounds.

    Parameters
    ----------
    measures : sequence of str or Measure
        The measures to time; the reference must have them.
    n_queries : int
        The number of lists to generate, at least 20; of each kind of dense lists, at most 500.
    rounds : int
        The number of rounds in which each contender is timed once, at least 1.
    seed : int
        The seed of the generated lists, at least 0.
    qrels, missing
        As for `tieaware.evaluate`; only with `run`.
    run
        One run, as for `tieaware.evaluate`; only with `qrels`.

    Returns
    -------
    Overhead
        The cost of exact averages, as ratios of times.

    Raises
    ------
    InputError
        If an argument is out of range, only one of `qrels` and `run` is given, or no query of the run is judged.

    Warns
    -----
    UserWarning
        If the run shares queries with the judgments, but no document.

    References
    ----------
    McSherry, F. and Najork, M. (2008). Computing information retrieval performance measures efficiently in the presence
    of tied scores. ECIR 2008.

    Examples
    --------
    >>> outcome = overhead(["AP"], n_queries=20, rounds=1)
    >>> outcome.ratios.shape, outcome.measures, outcome.together.shape, outcome.lists[0]
    ((1, 3), (AP,), (4, 3), 'all distinct')
    >>> run = {"q1": {"d1": 2.0, "d2": 2.0, "d3": 1.0}}
    >>> outcome = overhead(["AP", "RR"], qrels={"q1": {"d1": 1}}, run=run, rounds=1)
    >>> outcome.ratios.shape, outcome.together.shape, outcome.ties
    ((2, 2), (1, 2), Ties(1 of 1 list and 2 of 3 documents tied, 1 tie group, the largest of 2))
    """
    parsed = parse_measures(measures)
    n_queries, rounds = whole_number("n_queries", n_queries, _PLAIN, 10**8), whole_number("rounds", rounds, 1)
    if run is not None and qrels is not None:
        name, lists = _lists_of(qrels, run, missing)
        together, ties = {name: lists}, count_ties(lists.scores, lists.offsets)
    elif run is None and qrels is None:
        scores, labels, offsets = discrete_lists(n_queries, seed, grades=3)
        lists, together, ties = JudgedRun(scores, labels, offsets, labels, offsets), _dense(n_queries, seed), None
    else:
        given, other = ("qrels", "run") if run is None else ("run", "qrels")
        raise InputError(other, f"{given} is given without {other}; pass both or neither")
    rows = [((measure,), lists) for measure in parsed] + [(parsed, each) for each in together.values()]
    if ties is not None and len(parsed) == 1:
        rows.pop()  # its only measure was timed already
    ratios = np.array([_ratios(*row, rounds, plain=ties is None) for row in progress(rows, "rows")])
    of_all = ratios[-len(together) :]
    return Overhead(parsed, ratios[: len(parsed)], len(lists.offsets) - 1, seed, tuple(together), of_all, ties)


def _lists_of(qrels: QrelsLike, run: Any, missing: Missing | None) -> tuple[str, JudgedRun]:
    """Return the name of the run, and those of its lists whose queries are judged."""
    judged, sources = as_qrels(qrels, missing), as_sources(run)
    if len(sources) != 1:
        raise InputError("run", f"must be one run; found {len(sources)}")
    ((name, source),) = sources.items()
    return name, JudgedRun.of(judged, name, source)[1]


def _dense(n_queries: int, seed: int) -> dict[str, JudgedRun]:
    """Return the dense lists by the kind of their scores."""
    most, n_docs, n_labelled = _DENSE
    distinct, grades = dense_lists(min(n_queries, most), n_docs, n_labelled, seed)
    labels, offsets = grades.ravel(), np.arange(len(grades) + 1) * n_docs
    judged = labels, offsets
    return {kind: JudgedRun(of(distinct).ravel(), *judged, *judged) for kind, of in DENSE_SCORES.items()}


def _ratios(measures: tuple[Measure, ...], lists: JudgedRun, rounds: int, plain: bool) -> list[float]:
    """Return ratios of times: average ÷ run order, average ÷ optimistic order, and if `plain`, plain Python ÷ average.

    All measures are computed together.
    """
    scores, labels, offsets, judged, judged_offsets = lists
    out = np.empty((len(offsets) - 1, len(measures)))
    evaluators = [
        Evaluator(labels, measures, offsets=offsets, judgments=(judged, judged_offsets), ties=ties)
        for ties in _COMPARED
    ]
    short = evaluators[0].rows(0, _PLAIN)
    some = [
        (scores[a:b].tolist(), labels[a:b].tolist(), judged[c:d].tolist())
        for (a, b), (c, d) in zip(pairwise(offsets[: _PLAIN + 1]), pairwise(judged_offsets), strict=False)
    ]

    def by_reference(ties: TieRuleName = "average") -> list[list[float]]:
        return [[reference.evaluate(measure, *each, ties=ties) for measure in measures] for each in some]

    for evaluator, ties in zip(evaluators, _COMPARED, strict=True):
        np.testing.assert_allclose(evaluator(scores)[:_PLAIN], by_reference(ties), rtol=1e-9, atol=1e-12)
    kernels = [partial(evaluator, scores, out) for evaluator in evaluators]
    average, *oblivious = take_turns(kernels, rounds)
    ratios = [ratio(average, each) for each in oblivious]
    if plain:
        exact = partial(short, scores[: short.n_docs], np.empty((len(some), len(measures))))
        # Python slows the call that follows it, so that this one is neither compared with another kernel nor counted.
        _, of_some, python = take_turns([kernels[0], exact, by_reference], rounds)
        ratios.append(ratio(python, of_some))
    return ratios


@dataclass(frozen=True, eq=False, repr=False)
class Overhead(Experiment):
    """The cost of exact averages over ties, as ratios of times that were measured in the same process.

    Attributes
    ----------
    measures : tuple of Measure
        The measures that were timed.
    ratios : float64[n_measures, 3]
        For each measure, three ratios of times: the average over ties ÷ run order; the average ÷ the optimistic order;
        and the reference in Python ÷ the average. For the lists of a run, only the first two.
    n_queries, seed : int
        The number of lists in `ratios`, and the seed of those that are generated.
    lists : tuple of str
        The scores of the dense lists; or the name of the run.
    together : float64[len(lists), 3]
        The same ratios for all measures together: for each kind of dense lists, or for the lists of the run.
    ties : Ties or None
        The ties of the run; None for generated lists.
    """

    measures: tuple[Measure, ...]
    ratios: Values
    n_queries: int
    seed: int
    lists: tuple[str, ...]
    together: Values
    ties: Ties | None = None

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the number of lists, and for those of a run, how many of their documents tie."""
        of = "with discrete scores"
        if self.ties is not None:
            documents = counted(self.ties.documents, "document")
            of = f"of {self.lists[0]}, {self.ties.tied_documents:,} of {documents} tied"
        return f"The cost of exactness under ties: {counted(self.n_queries, 'list')} {of}"

    heading = "What does it cost to be exact under ties?"

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of all tables."""
        return tuple(self.tables())

    def verdict(self) -> str:
        """Return how much longer the average takes than breaking ties in run order, and what else was found.

        Examples
        --------
        >>> overhead(["AP"], n_queries=20, rounds=1).verdict()          # doctest: +ELLIPSIS
        'Averaging over ties costs ... times breaking them in run order (AP); in dense lists, ... The readable ...'
        """
        alone = _range(self.ratios[:, 0], self.measures)
        if self.ties is None:
            python = significant(float(self.ratios[:, 2].min()))
            return (
                f"Averaging over ties costs {alone[0]} times breaking them in run order ({alone[1]}); in dense lists, "
                "{} times ({}). The readable reference in Python takes at least {} times as long as the average."
            ).format(*_range(self.together[:, 0], self.lists), python)
        times = significant(self.together[0, 0])
        one = f" One measure alone: {alone[0]} times ({alone[1]})." if len(self.measures) > 1 else ""
        return f"Averaging over ties costs {times} times breaking them in run order on your lists.{one}"

    def tables(self) -> dict[str, Table]:
        """Return the tables of the ratios.

        Their names: "overhead"; and for generated lists "dense".
        """
        notes = [
            "exact: the average over all orders of tied documents. run order, optimistic: the same kernels, with ties "
            "in run order, or relevant documents first.",
            f"Medians over rounds in turns, after the values of the first {_PLAIN} lists were compared with those of "
            "the readable reference in Python.",
        ]
        if self.ties is None:
            notes.append(f"Python: this reference, on the same {_PLAIN} lists. Lists of seed {self.seed}.")
        columns = ("exact ÷ run order", "exact ÷ optimistic", "Python ÷ exact")[: self.ratios.shape[1]]
        tables: dict[str, Table] = {}
        for name, (title, of, names, ratios) in self._shown().items():
            named = dict(zip(columns, ratios.T, strict=True))
            tables[name] = table_by(title, {of: names}, named, () if tables else (" ".join(notes),))
        return tables

    def _shown(self) -> dict[str, tuple[str, str, Sequence[str], Values]]:
        """Return the title, the kind and the names of the rows, and the ratios, of each table and its figure."""
        names, n = [str(measure) for measure in self.measures], len(self.measures)
        together = names[0] if n == 1 else f"all {n} together"
        shown: dict[str, tuple[str, str, Sequence[str], Values]] = {
            "overhead": (self.title, "measure", names, self.ratios)
        }  # fmt: skip
        if self.ties is None:
            most, n_docs, n_labelled = _DENSE
            title = f"Dense lists, {min(self.n_queries, most)} × {n_docs}, {n_labelled} labelled: {together}"
            shown["dense"] = title, "scores", self.lists, self.together
        elif n > 1:
            of_all = np.vstack((self.ratios, self.together))
            shown["overhead"] = self.title, "measure", [*names, together], of_all
        return shown

    def drawings(self) -> dict[str, Drawing]:
        """Return a figure for each table, of the ratios to the two kernels that ignore ties; names as in `tables`."""
        caption = "Time of the exact average ÷ time of tie-oblivious kernels; 1 is equal time."
        return {
            name: Drawing(caption, partial(_draw, names, ratios), (7.0, 1.6 + 0.3 * len(names)), title)
            for name, (title, _, names, ratios) in self._shown().items()
        }


def _range(ratios: Values, names: Sequence[object]) -> tuple[str, str]:
    """Return the least and the greatest ratio, and their names."""
    ends = dict.fromkeys((int(np.argmin(ratios)), int(np.argmax(ratios))))
    return " to ".join(significant(ratios[i]) for i in ends), " to ".join(str(names[i]) for i in ends)


def _draw(names: Sequence[str], ratios: Values, ax: Axes) -> None:
    places = np.arange(len(names))[::-1]
    for i, (name, colour, hatch) in enumerate((("run order", "#0072B2", ""), ("optimistic", "#E69F00", "///"))):
        ax.barh(
            places - 0.18 + 0.36 * (1 - i), ratios[:, i], height=0.34, color=colour, hatch=hatch,
            edgecolor="#ffffff", label=f"against {name}",
        )  # fmt: skip
    ax.axvline(1.0, color="#000000", linewidth=0.8)
    ax.set_yticks(places, [display_name(name) for name in names])
    ax.grid(visible=False, axis="y")
    ax.set_xlabel("time of the exact average ÷ time of the tie-oblivious kernel")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
