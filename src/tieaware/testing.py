"""Assertions for test suites: a retrieval system must not be worse than before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tieaware.errors import InputError
from tieaware.inputs import QrelsLike
from tieaware.measures import Measure


def assert_not_worse(
    qrels: QrelsLike,
    run: Any,
    base: Any,
    measure: str | Measure | Sequence[str | Measure] | None = None,
    *,
    tolerance: float = 0.01,
    alpha: float = 0.05,
    allow_missing: bool = False,
    strict: bool = False,
) -> None:
    """Raise AssertionError if a run is worse than a base by more than a tolerance; see `tieaware.experiments.gate`.

    Parameters
    ----------
    qrels : judgments
        As for `tieaware.evaluate`.
    run, base : run, or sequence of runs
        The run and what it is compared with; several are repetitions of one system. The base may be the path of a file
        that ``tieaware gate --save`` wrote.
    measure : str or Measure, or several, optional
        By default those of a saved base, otherwise nDCG@10.
    tolerance, alpha, allow_missing
        As for `tieaware.experiments.gate`.
    strict : bool
        Whether too few queries to tell fail, too.

    Raises
    ------
    AssertionError
        If the run is worse. The message is the verdict.
    InputError
        As for `tieaware.experiments.gate`; also if the run lacks queries.

    Examples
    --------
    >>> qrels = {f"q{i}": {"d1": 1} for i in range(9)}
    >>> run = {query: {"d1": 2.0, "d2": 1.0} for query in qrels}
    >>> assert_not_worse(qrels, run, run, "RR")
    """
    from tieaware.experiments import gate

    __tracebackhide__ = True
    try:
        outcome = gate(qrels, run, base, measure, tolerance=tolerance, alpha=alpha, allow_missing=allow_missing)
    except InputError as error:
        # pytest would show the source of every function between here and the error.
        raise error.with_traceback(None) from None
    if not outcome.passed or (strict and outcome.decision == "cannot tell"):
        raise AssertionError(str(outcome))
