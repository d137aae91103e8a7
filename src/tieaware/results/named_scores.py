"""Results of named scores: each run is an array of scores, which an Evaluator evaluates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tieaware._version import __version__
from tieaware.checks.arguments import shown, unexpected
from tieaware.checks.arrays import Values
from tieaware.engine.views import View
from tieaware.errors import InputError
from tieaware.lists.identifiers import axis_names
from tieaware.measures import Measure
from tieaware.results._results import Results
from tieaware.results.provenance import Provenance

# Evaluates the scores of a run, and writes their values; the last argument is the name of the scores in messages.
Evaluate: TypeAlias = Callable[[npt.ArrayLike, Values, str], None]


def results_of_scores(
    scores: Mapping[str, npt.ArrayLike],
    queries: Iterable[str | int] | None,
    numbers: range,
    measures: tuple[tuple[Measure, ...], tuple[str, ...]],
    view: View,
    evaluate: Evaluate,
    chance: Values | None = None,
) -> Results:
    """Evaluate the scores of each run; return the values as Results.

    `queries` are the names of the queries, by default the `numbers`. `measures` has the measures, and the names that
    the caller gave them. `evaluate` writes the values, and with a spread its three other outputs. `chance`,
    float64[3, n_queries, n_measures], has the outputs of chance, the same for every run, if the view asks for them.
    """
    _check_named(scores)
    over: tuple[str | int, ...] = tuple(numbers)
    if queries is not None:
        over = tuple(axis_names(queries, len(numbers), "queries", "queries").to_list())
    values = np.empty((view.n_outputs - (0 if chance is None else len(chance)), len(numbers), len(measures[0])))
    cubes = np.empty((view.n_outputs, len(scores), len(numbers), len(measures[0])))
    for i, (run, of_run) in enumerate(scores.items()):
        evaluate(of_run, values, f"scores[{run!r}]")
        cubes[: len(values), i] = values
    if chance is not None:
        cubes[len(values) :] = chance[:, None]
    precision = None if view.precision is None else str(view.precision)
    made = Provenance(view.rule.name, precision, "judged", __version__, complete_lists=True)
    outputs: dict[str, Any] = dict(zip(view.outputs, cubes, strict=True))
    return Results(
        runs=tuple(scores), queries=over, measures=measures[0], names=measures[1], provenance=made,
        **outputs,
    )  # fmt: skip


def _check_named(scores: Any) -> None:
    """Raise InputError unless the argument is a dict of runs whose names are strings."""
    if not isinstance(scores, Mapping):
        several = isinstance(scores, list | tuple) and len(scores) > 1 and getattr(scores[0], "ndim", 0) > 1
        remedy = "give each matrix a name" if several else "pass {'run': scores}"
        problem = f"must be a dict {{name: scores}}, not {type(scores).__name__}: {remedy}"
        raise InputError("scores", problem)
    if not scores:
        raise InputError("scores", "there is no run: pass {name: scores}")
    for name in scores:
        if not isinstance(name, str):
            raise unexpected("scores", "names that are strings", shown(name))
