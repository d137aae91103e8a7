"""tieaware among the providers of ir_measures: ``install()`` once, and everything that calls ir_measures runs on it.

PyTerrier's ``pt.Experiment`` does. What tieaware does not have goes to the other providers, as before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from tieaware.checks.arguments import one_of
from tieaware.checks.arrays import Values
from tieaware.inputs import Qrels, Run, match
from tieaware.measures import Measure, parse_measure
from tieaware.measures.definitions import Success
from tieaware.runtime.extras import load
from tieaware.ties import RULES
from tieaware.trec_eval import measured

__all__ = ["install", "provider", "uninstall"]

_EXTRA = "ir-measures"
_NAME = "tieaware"


def install(ties: str = "average") -> None:
    """Put tieaware first among the providers that ir_measures asks; put there again, it takes the other rule.

    Parameters
    ----------
    ties : str
        The tie rule, one of `tieaware.ties.RULES`.

    Raises
    ------
    MissingExtraError
        An ImportError, if ir_measures is not installed.
    InputError
        If there is no such rule.

    Examples
    --------
    >>> import ir_measures
    >>> qrels, run = {"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}}
    >>> before = ir_measures.calc_aggregate([ir_measures.RR], qrels, run)
    >>> install()
    >>> before, ir_measures.calc_aggregate([ir_measures.RR], qrels, run)
    ({RR: 0.5}, {RR: 0.75})
    >>> uninstall()
    """
    added = provider(ties)
    uninstall()
    load("ir_measures", _EXTRA).DefaultPipeline.providers.insert(0, added)


def uninstall() -> None:
    """Take tieaware out of the providers that ir_measures asks, if it is there.

    Raises
    ------
    MissingExtraError
        An ImportError, if ir_measures is not installed.

    Examples
    --------
    >>> import ir_measures
    >>> install(ties="pessimistic")
    >>> uninstall()
    >>> "tieaware" in [each.NAME for each in ir_measures.DefaultPipeline.providers]
    False
    """
    providers = load("ir_measures", _EXTRA).DefaultPipeline.providers
    providers[:] = [each for each in providers if each.NAME != _NAME]


@lru_cache
def provider(ties: str = "average") -> Any:
    """Return a provider, to be asked itself.

    Parameters
    ----------
    ties : str
        The tie rule, one of `tieaware.ties.RULES`.

    Returns
    -------
    ir_measures.Provider

    Raises
    ------
    MissingExtraError
        An ImportError, if ir_measures is not installed.
    InputError
        If there is no such rule.

    Examples
    --------
    >>> import ir_measures
    >>> best = provider("optimistic")
    >>> best.calc_aggregate([ir_measures.RR], {"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}})
    {RR: 1.0}
    """
    one_of("ties", ties, RULES)
    tool = load("ir_measures", _EXTRA)
    base = load("ir_measures.providers.base", _EXTRA)

    class Provider(tool.providers.Provider):  # type: ignore[misc, name-defined]
        """Evaluates with tieaware."""

        NAME = _NAME
        SUPPORTED_MEASURES = _supported(tool.measures, base.Any)

        def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Any:
            return Evaluator(measures, qrels)

    class Evaluator(tool.providers.Evaluator):  # type: ignore[misc, name-defined]
        """Measures and judgments, for several runs."""

        def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
            judged = _as_dicts(qrels, "relevance", tool.util.QrelsConverter)
            super().__init__(list(measures), set(judged))
            self._tasks = _tasks(self.measures, judged)
            # As in ir_measures, Accuracy alone has no value for a query without a relevant document.
            self._defaults = any(measure.NAME != "Accuracy" for measure in self.measures)

        def iter_calc(self, run: Any) -> Iterator[Any]:
            return super().iter_calc(run) if self._defaults else self._iter_calc(run)

        def _iter_calc(self, run: Any) -> Iterator[Any]:
            scores = _as_dicts(run, "score", tool.util.RunConverter)
            columns = Run.from_dict({query: found for query, found in scores.items() if query in self.qrel_qids})
            if len(columns) > 0:
                for task in self._tasks:
                    for query, measure, value in task.values(columns, ties):
                        yield tool.Metric(query_id=query, measure=measure, value=value)

    return Provider()


def _supported(measures: Any, anything: Any) -> list[Any]:
    """Return the measures that tieaware has, with the parameters that any value may be given to."""
    required = {"rel": anything(required=True)}
    return [
        family(**{name: anything() for name in family.SUPPORTED_PARAMS} | (required if family is measures._RBP else {}))
        for family in (
            measures._P, measures._R, measures._AP, measures._RR, measures._nDCG, measures._RBP, measures._ERR,
            measures._Success, measures._Rprec, measures._Bpref, measures._infAP, measures._IPrec, measures._Judged,
            measures._Accuracy, measures._SetP, measures._SetR, measures._SetF, measures._SetAP, measures._NumQ,
            measures._NumRel, measures._NumRet,
        )
    ]  # fmt: skip


class _Task(NamedTuple):
    """Measures of the same judgments.

    Parameters
    ----------
    queries : list
        As they were given.
    qrels : Qrels
    measures : dict
        tieaware's, by ir_measures' measure.
    """

    queries: list[Any]
    qrels: Qrels
    measures: dict[Any, Measure]

    def values(self, run: Run, ties: str) -> Iterator[tuple[Any, Any, float]]:
        """Yield query, measure and value for the queries that a run answers."""
        answered = match(self.qrels, run).rows.tolist()
        found = {each: _found(each) for measure, each in self.measures.items() if measure.NAME == "Accuracy"}
        wanted = list(dict.fromkeys([*self.measures.values(), *found.values()]))
        columns = measured(self.qrels, run, wanted, ties, recalls_up=True)
        for measure, each in self.measures.items():
            defined = columns[found[each]] > 0 if each in found else None
            yield from self._of_measure(measure, columns[each], answered, defined)

    def _of_measure(
        self, measure: Any, column: Values, rows: list[int], defined: Any
    ) -> Iterator[tuple[Any, Any, float]]:
        values = column.tolist()
        for row in rows:
            if defined is None or defined[row]:
                yield self.queries[row], measure, values[row]


def _found(accuracy: Measure) -> Measure:
    """Return what tells whether a relevant document is among those that Accuracy looks at."""
    return Success(rel=int(accuracy["rel"]), cutoff=accuracy.cutoff)


def _tasks(measures: Iterable[Any], judged: Mapping[Any, Mapping[Any, int]]) -> list[_Task]:
    """Sort measures by the judgments that they take: as they are, or with other gains."""
    by_gains: dict[Any, dict[Any, Measure]] = defaultdict(dict)
    for measure in measures:
        parameters = dict(measure.params)
        gains = parameters.pop("gains", None) or {}
        plain = parse_measure(type(measure)(**parameters))
        # In ir_measures, documents under a negative label were judged.
        by_gains[tuple(sorted(gains.items()))][measure] = plain(pool=True) if measure.NAME == "Judged" else plain
    queries = list(judged)
    return [_Task(queries, Qrels.from_dict(_relabelled(judged, dict(key))), each) for key, each in by_gains.items()]


def _relabelled(judged: Mapping[Any, Mapping[Any, int]], gains: Mapping[int, int]) -> Mapping[Any, Mapping[Any, int]]:
    """Return judgments with other gains."""
    if not gains:
        return judged
    return {
        query: {document: gains.get(label, label) for document, label in labels.items()}
        for query, labels in judged.items()
    }


def _as_dicts(given: Any, value: str, converter: Any) -> Any:
    """Return judgments or a run as dicts, whatever ir_measures takes; of a frame by its columns."""
    if not hasattr(given, "itertuples"):
        return converter(given).as_dict_of_dict()
    converted = converter(given)
    kind, error = converted.predict_type()
    if kind != "pd_dataframe":
        raise ValueError(error)
    lists: dict[Any, dict[Any, Any]] = {}
    columns = (given[name].tolist() for name in ("query_id", "doc_id", value))
    for query, document, number in zip(*columns, strict=True):
        lists.setdefault(query, {})[document] = number
    return lists
