"""The overhead experiment: the time of exact averages over ties, against ignoring ties and against plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tieaware import reference
from tieaware.checks.arguments import whole_number
from tieaware.checks.arrays import Values
from tieaware.defaults import OVERHEAD_MEASURES
from tieaware.evaluator import Evaluator
from tieaware.experiments.experiment import Experiment
from tieaware.measures import Measure, parse_measures
from tieaware.output.plots import Axes, Drawing, display_name
from tieaware.output.tables import Cell, Table, significant
from tieaware.runtime.progress import progress
from tieaware.runtime.timing import ratio, take_turns
from tieaware.samples import DiscreteLists, discrete_lists
from tieaware.ties import TieRuleName

# Tie rules under which each tied document has its own rank: run order, and relevant documents first.
_OBLIVIOUS: tuple[TieRuleName, ...] = ("run_order", "optimistic")
_COMPARED: tuple[TieRuleName, ...] = ("average", *_OBLIVIOUS)

# The reference in plain Python evaluates only this many lists.
_PLAIN = 20


def overhead(
    measures: str | Measure | Sequence[str | Measure] = OVERHEAD_MEASURES,
    *,
    n_queries: int = 2_000,
    rounds: int = 15,
    seed: int = 2008,
) -> Overhead:
    """Time the average over ties against tie-oblivious kernels and against the reference in Python.

    The lists have power-law lengths and discrete scores, as in the paper by McSherry and Najork. First, the values of
    the kernels are checked against the reference. Then all contenders are timed in turns; each reported ratio is the
    median over the rounds.

    Parameters
    ----------
    measures : sequence of str or Measure
        The measures to time; the reference must have them.
    n_queries : int
        The number of lists, at least 20.
    rounds : int
        The number of rounds in which each contender is timed once, at least 1.
    seed : int
        The seed of the lists, at least 0.

    Returns
    -------
    Overhead
        The cost of exact averages, as ratios of times.

    Raises
    ------
    InputError
        If an argument is out of range.

    References
    ----------
    McSherry, F. and Najork, M. (2008). Computing information retrieval performance measures efficiently in the presence
    of tied scores. ECIR 2008.

    Examples
    --------
    >>> outcome = overhead(["AP"], n_queries=20, rounds=1)
    >>> outcome.ratios.shape, outcome.measures
    ((1, 3), (AP,))
    """
    parsed = parse_measures(measures)
    n_queries, rounds = whole_number("n_queries", n_queries, _PLAIN, 10**8), whole_number("rounds", rounds, 1)
    lists = discrete_lists(n_queries, seed, grades=3)
    ratios = [_ratios(measure, lists, rounds) for measure in progress(parsed, "measures")]
    return Overhead(parsed, np.array(ratios), n_queries, seed)


def _ratios(measure: Measure, lists: DiscreteLists, rounds: int) -> list[float]:
    """Return three ratios of times: average ÷ run order, average ÷ optimistic order, and plain Python ÷ average."""
    scores, labels, offsets = lists
    n_queries = len(offsets) - 1
    out = np.empty((n_queries, 1))
    evaluators = [Evaluator(labels, [measure], offsets=offsets, ties=ties) for ties in _COMPARED]
    end = int(offsets[_PLAIN])
    short = Evaluator(labels[:end], [measure], offsets=offsets[: _PLAIN + 1])
    some = [(scores[a:b].tolist(), labels[a:b].tolist()) for a, b in pairwise(offsets[: _PLAIN + 1].tolist())]

    def plain() -> list[float]:
        return [reference.evaluate(measure, *each) for each in some]

    for evaluator, ties in zip(evaluators, _COMPARED, strict=True):
        expected = [reference.evaluate(measure, *each, ties=ties) for each in some]
        np.testing.assert_allclose(evaluator(scores)[:_PLAIN, 0], expected, rtol=1e-9, atol=1e-12)
    contenders: list[Callable[[], object]] = [
        *(_call(evaluator, scores, out) for evaluator in evaluators),
        _call(short, scores[:end], np.empty((_PLAIN, 1))),
        plain,
    ]
    average, *oblivious, average_of_some, python = take_turns(contenders, rounds)
    return [*(ratio(average, each) for each in oblivious), ratio(python, average_of_some)]


def _call(evaluator: Evaluator, scores: Values, out: Values) -> Callable[[], object]:
    return lambda: evaluator(scores, out)


@dataclass(frozen=True, eq=False, repr=False)
class Overhead(Experiment):
    """The cost of exact averages over ties, as ratios of times that were measured in the same process.

    Attributes
    ----------
    measures : tuple of Measure
        The measures that were timed.
    ratios : float64[n_measures, 3]
        For each measure, three ratios of times: the average over ties ÷ run order; the average ÷ the optimistic order;
        and the reference in Python ÷ the average.
    n_queries, seed : int
        The number of lists, and the seed from which they were generated.
    """

    measures: tuple[Measure, ...]
    ratios: Values
    n_queries: int
    seed: int

    @property
    def title(self) -> str:  # type: ignore[override]
        """The title, which states the number of lists."""
        return f"The cost of exactness under ties: {self.n_queries} lists with discrete scores"

    heading = "What does it cost to be exact under ties?"

    def verdict(self) -> str:
        """Return how much longer the average takes than kernels that ignore ties, and plain Python than the average.

        Examples
        --------
        >>> overhead(["AP"], n_queries=20, rounds=1).verdict()          # doctest: +ELLIPSIS
        'The average over ties takes ... times the time of the same kernels in run order, by AP. The ...'
        """
        least, most = int(np.argmin(self.ratios[:, 0])), int(np.argmax(self.ratios[:, 0]))
        times = f"{significant(self.ratios[least, 0])} times the time"
        by = f"by {self.measures[least]}"
        if least != most:
            times = f"{significant(self.ratios[least, 0])} to {significant(self.ratios[most, 0])} times the time"
            by = f"by {self.measures[least]} and {self.measures[most]}"
        python = significant(float(self.ratios[:, 2].min()))
        return (
            f"The average over ties takes {times} of the same kernels in run order, {by}. The readable reference in "
            f"Python takes at least {python} times as long as the average."
        )

    def tables(self) -> dict[str, Table]:
        """Return the table of the ratios.

        Its name: "overhead".
        """
        rows: list[tuple[Cell, ...]] = [
            (str(measure), *row) for measure, row in zip(self.measures, self.ratios.tolist(), strict=True)
        ]
        columns = ("measure", "exact ÷ run order", "exact ÷ optimistic", "Python ÷ exact")
        notes = (
            "exact: the average over all orders of tied documents. run order, optimistic: the same kernels, with ties "
            f"in run order, or relevant documents first. Python: the readable reference, on the first {_PLAIN} lists. "
            f"Medians over rounds in turns, after the values were compared. Lists of seed {self.seed}.",
        )
        return {"overhead": Table(self.title, columns, rows, notes)}

    def drawings(self) -> dict[str, Drawing]:
        """Return the figure of the ratios to the two kernels that ignore ties.

        Its name: "overhead".
        """
        caption = "Time of the exact average ÷ time of tie-oblivious kernels; 1 is equal time."
        size = 7.0, 1.6 + 0.3 * len(self.measures)
        return {"overhead": Drawing(caption, self._draw, size, "The time of the exact average")}

    def _draw(self, ax: Axes) -> None:
        places = np.arange(len(self.measures))[::-1]
        for i, (name, colour, hatch) in enumerate((("run order", "#0072B2", ""), ("optimistic", "#E69F00", "///"))):
            ax.barh(
                places - 0.18 + 0.36 * (1 - i), self.ratios[:, i], height=0.34, color=colour, hatch=hatch,
                edgecolor="#ffffff", label=f"against {name}",
            )  # fmt: skip
        ax.axvline(1.0, color="#000000", linewidth=0.8)
        ax.set_yticks(places, [display_name(str(measure)) for measure in self.measures])
        ax.grid(visible=False, axis="y")
        ax.set_xlabel("time of the exact average ÷ time of the tie-oblivious kernel")
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
