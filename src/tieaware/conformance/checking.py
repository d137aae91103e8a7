"""Comparison of an evaluator with the conformance set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from tieaware.checks.arguments import number, one_of, sequence, shown, unexpected
from tieaware.conformance.exact_values import Case, cases
from tieaware.errors import InputError
from tieaware.output.tables import Cell, Table
from tieaware.ties import RULES, TieRuleName

# Takes judgments and a run, as nested dicts, and returns the value of one measure, or those of several.
Evaluation: TypeAlias = Callable[[dict[str, dict[str, Any]], dict[str, dict[str, Any]]], Any]


class Difference(NamedTuple):
    """A case whose value follows none of the rules.

    Parameters
    ----------
    case : Case
        The case.
    measure : str
        The measure.
    value : float or None
        The value that the function returned; None if it raised an error.
    error : str
        The error that the function raised, or "".
    """

    case: Case
    measure: str
    value: float | None
    error: str

    def __str__(self) -> str:
        exact = self.case.values[self.measure]
        found = self.error or f"{self.value:.6g}"
        return (
            f"{self.case.id}, {self.measure}: {found}; the mean is {float(exact.average):.6g}, "
            f"the range {float(exact.minimum):.6g} to {float(exact.maximum):.6g}"
        )


@dataclass(frozen=True)
class Report:
    """The agreement of an evaluator with the conformance set.

    Parameters
    ----------
    measures, rules : tuple of str
        The measures and the tie rules that were compared.
    compared : dict of str to int
        For each measure, the number of cases that have it.
    agreeing : dict of tuple to int
        For each measure and rule, the number of cases in which the value agrees with the rule's.
    differences : tuple of Difference
        The cases whose value agrees with none of the rules, and those in which the function raised an error.
    tolerance : float
        The greatest absolute difference between values that agree.
    """

    measures: tuple[str, ...]
    rules: tuple[TieRuleName, ...]
    compared: dict[str, int]
    agreeing: dict[tuple[str, str], int]
    differences: tuple[Difference, ...]
    tolerance: float

    def followed(self, measure: str | None = None) -> tuple[TieRuleName, ...]:
        """Return the rules that the evaluator follows in every case.

        Parameters
        ----------
        measure : str, optional
            The measure. Default: all measures that were compared.

        Returns
        -------
        tuple of str
            Usually one rule or none. If no case tells two rules apart, both.

        Raises
        ------
        InputError
            If the measure was not compared.
        """
        among = self.measures if measure is None else (one_of("measure", measure, dict.fromkeys(self.measures)),)
        return tuple(
            rule for rule in self.rules if all(self.agreeing[each, rule] == self.compared[each] for each in among)
        )

    def table(self) -> Table:
        """Return the number of agreeing cases for each measure and rule.

        Returns
        -------
        Table
        """
        unlike = {each: sum(found.measure == each for found in self.differences) for each in self.measures}
        rows: list[tuple[Cell, ...]] = [
            (each, self.compared[each], *(self.agreeing[each, rule] for rule in self.rules), unlike[each])
            for each in self.measures
        ]
        return Table("Cases that agree with each tie rule", ("measure", "cases", *self.rules, "none"), rows)

    def __str__(self) -> str:
        return str(self.table())


def check(
    function: Evaluation,
    measures: str | Sequence[str],
    *,
    rules: Sequence[TieRuleName] | None = None,
    tolerance: float = 1e-9,
    among: Iterable[Case] | None = None,
) -> Report:
    """Compare an evaluator with the exact values of the conformance set.

    Parameters
    ----------
    function : callable
        Takes judgments and a run, ``{query: {document: label}}`` and ``{query: {document: score}}``, of one query.
        Returns the value of the measure, or a sequence with the values of all measures, in their order. An error that
        it raises is recorded as a difference.
    measures : str or sequence of str
        Measures of the set, such as "AP" or "nDCG@3".
    rules : sequence of str, optional
        The tie rules to compare with. Default: all of them.
    tolerance : float
        The greatest absolute difference between values that agree.
    among : iterable of Case, optional
        The cases to use. Default: all of them. Cases without one of the measures are left out.

    Returns
    -------
    Report

    Raises
    ------
    InputError
        If a measure or rule is not in the set, if no case is left, or if the function does not return numbers.

    Examples
    --------
    A function that sorts by score, and keeps the order of the run in ties:

    >>> from tieaware import conformance
    >>> def reciprocal_rank(qrels, run):
    ...     ((query, scores),) = run.items()
    ...     ranked = sorted(scores, key=scores.get, reverse=True)
    ...     ranks = [i for i, document in enumerate(ranked, 1) if qrels[query].get(document, 0) >= 1]
    ...     return 1 / ranks[0] if ranks else 0.0
    >>> report = conformance.check(reciprocal_rank, "RR", rules=["average", "run_order", "trec_eval"])
    >>> print(report)
    Cases that agree with each tie rule
    <BLANKLINE>
    measure  cases  average  run_order  trec_eval  none
    RR         230       45        230        136     0
    >>> report.followed()
    ('run_order',)
    """
    names = (measures,) if isinstance(measures, str) else sequence("measures", measures, "names of measures")
    tolerance = number("tolerance", tolerance, 0.0, 1.0)
    chosen = cases() if among is None else tuple(among)
    known = {measure: None for case in cases() for measure in case.values}
    names = tuple(one_of("measures", name, known) for name in names)
    compared_rules: tuple[TieRuleName, ...] = tuple(one_of("rules", rule, RULES) for rule in rules or RULES)
    chosen = tuple(case for case in chosen if all(name in case.values for name in names))
    if not chosen or not names:
        raise InputError("among", "no case is left that has the measures")
    agreeing: dict[tuple[str, str], int] = {(name, rule): 0 for name in names for rule in compared_rules}
    differences = []
    for case in chosen:
        error, values = _values_of(function, case, names, isinstance(measures, str))
        for name, value in zip(names, values, strict=True):
            followed = _followed(case, name, value, compared_rules, tolerance)
            for rule in followed:
                agreeing[name, rule] += 1
            if not followed:
                differences.append(Difference(case, name, value, error))
    compared = dict.fromkeys(names, len(chosen))
    return Report(names, compared_rules, compared, agreeing, tuple(differences), tolerance)


def _values_of(
    function: Evaluation, case: Case, names: tuple[str, ...], is_one: bool
) -> tuple[str, Sequence[float | None]]:
    """Return the error that the function raised, or "", and its values."""
    qrels = {query: dict(labels) for query, labels in case.qrels.items()}
    run = {query: dict(scores) for query, scores in case.run.items()}
    try:
        found = function(qrels, run)
    except Exception as error:
        # Evaluators of others may raise any error, which the report shows.
        return f"{type(error).__name__}: {' '.join(str(error).split())}", [None] * len(names)
    try:
        values = [float(value) for value in ([found] if is_one else found)]
    except (TypeError, ValueError):
        values = []
    if len(values) != len(names):
        expected = "a number" if is_one else f"{len(names)} numbers"
        raise unexpected("function", f"{expected} as its result", shown(found))
    return "", values


def _followed(
    case: Case, measure: str, value: float | None, rules: tuple[TieRuleName, ...], tolerance: float
) -> list[TieRuleName]:
    """Return the rules with which a value agrees. NaN agrees with none."""
    if value is None:
        return []
    exact = case.values[measure]
    return [rule for rule in rules if abs(value - float(getattr(exact, rule))) <= tolerance]
