"""tieaware as a provider of ir_measures.

After `install`, every program that calls ir_measures uses tieaware, including PyTerrier's ``pt.Experiment``. Measures
that tieaware does not have are still computed by the other providers.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from tieaware.checks.arguments import one_of
from tieaware.errors import InputError
from tieaware.inputs import Qrels, Run, match
from tieaware.measures import Measure, parse_measure
from tieaware.measures.definitions import Success
from tieaware.runtime.extras import load
from tieaware.ties import RULES, TieRuleName
from tieaware.trec_eval import measured

_PACKAGE = "ir-measures"
_NAME = "tieaware"

# Measures that tieaware computes only with the parameter rel. Without rel, ir_measures computes them from gains.
_WITH_REL = ("RBP",)

# The measures that cwl_eval computes from scaled labels. It looks at this many ranks, and cuts the weights off there.
_SCALED = ("SDCG", "INSQ", "INST", "BPM", "NERR8", "NERR9", "NERR10", "NERR11")
_RANKS_OF_CWL_EVAL = 1000

# The measures of diversity, which need judgments with subtopics.
_DIVERSE = ("alpha_DCG", "alpha_nDCG", "ERR_IA", "nERR_IA", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall")


def install(ties: TieRuleName = "average") -> None:
    """Make tieaware the first provider of ir_measures. Calling it again changes the tie rule.

    Parameters
    ----------
    ties : str
        The tie rule, one of `tieaware.ties.RULES`.

    Raises
    ------
    MissingExtraError
        If ir_measures is not installed. It is a subclass of ImportError.
    InputError
        If the tie rule is unknown.

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
    load("ir_measures", _PACKAGE).DefaultPipeline.providers.insert(0, added)


def uninstall() -> None:
    """Remove tieaware from the providers of ir_measures, if it is installed; errors as for `install`.

    Examples
    --------
    >>> import ir_measures
    >>> install(ties="pessimistic")
    >>> uninstall()
    >>> "tieaware" in [each.NAME for each in ir_measures.DefaultPipeline.providers]
    False
    """
    providers = load("ir_measures", _PACKAGE).DefaultPipeline.providers
    providers[:] = [each for each in providers if each.NAME != _NAME]


@lru_cache
def provider(ties: TieRuleName = "average") -> Any:
    """Return tieaware's provider without installing it; parameters and errors as for `install`.

    Returns
    -------
    ir_measures.Provider

    Examples
    --------
    >>> import ir_measures
    >>> best = provider("optimistic")
    >>> best.calc_aggregate([ir_measures.RR], {"q1": {"d1": 1}}, {"q1": {"d1": 2.0, "d2": 2.0}})
    {RR: 1.0}
    """
    one_of("ties", ties, RULES)
    tool = load("ir_measures", _PACKAGE)
    base = load("ir_measures.providers.base", _PACKAGE)

    class Provider(tool.providers.Provider):  # type: ignore[misc, name-defined]
        """A provider that evaluates with tieaware."""

        NAME = _NAME
        SUPPORTED_MEASURES = _supported(tool.measures, base.Any)

        def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Any:
            return Evaluator(measures, qrels)

    class Evaluator(tool.providers.Evaluator):  # type: ignore[misc, name-defined]
        """An evaluator of ir_measures: it holds measures and judgments, and evaluates any number of runs."""

        def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
            measures = list(measures)
            diverse = [measure for measure in measures if measure.NAME in _DIVERSE]
            converter = tool.util.QrelsConverter(qrels)
            rows = list(converter.as_namedtuple_iter()) if diverse else []
            judged = _as_dicts(rows if diverse else qrels, "relevance", tool.util.QrelsConverter)
            super().__init__(measures, set(judged))
            self._tasks = _tasks((measure for measure in measures if measure.NAME not in _DIVERSE), judged)
            if diverse:
                self._tasks.append(_task_of_subtopics(diverse, rows))
            conditions = [each.condition for task in self._tasks for each in task.computed]
            self._fills_in = any(condition is None for condition in conditions)

        def iter_calc(self, run: Any) -> Iterator[Any]:
            # The method of the base class gives a default value to each query without a value. As in ir_measures, no
            # query gets a default value if every measure has a condition (see `_Computed`).
            return super().iter_calc(run) if self._fills_in else self._iter_calc(run)

        def _iter_calc(self, run: Any) -> Iterator[Any]:
            scores = _as_dicts(run, "score", tool.util.RunConverter)
            judged_only = {query: found for query, found in scores.items() if query in self.qrel_qids}
            if judged_only:
                run = Run.from_dict(judged_only)
                for task in self._tasks:
                    for query, measure, value in task.values(run, ties):
                        yield tool.Metric(query_id=query, measure=measure, value=value)

    return Provider()


def as_measure(value: Any) -> Measure | None:
    """Convert a measure object of ir_measures. `tieaware.parse_measure` calls this for objects of the tool's package.

    Parameters
    ----------
    value : object
        A measure of ir_measures, or any other object.

    Returns
    -------
    Measure or None
        None if the object is not a measure of ir_measures.

    Raises
    ------
    InputError
        If tieaware has no such measure, or if ir_measures or tieaware requires a parameter that is missing.

    Examples
    --------
    >>> import ir_measures
    >>> as_measure(ir_measures.AP(rel=2) @ 100), as_measure("AP")
    (AP(rel=2)@100, None)
    """
    if not isinstance(value, load("ir_measures", _PACKAGE).measures.Measure):
        return None
    name, parameters = value.NAME, dict(value.params)
    for required, info in value.SUPPORTED_PARAMS.items():
        if info.required and required not in parameters:
            raise InputError(f"measure {value}", f"ir_measures requires the parameter {required}")
    if name in _WITH_REL and "rel" not in parameters:
        problem = f"requires rel, as in {name}(rel=1); for gains, write '{name}(gains=label)'"
        raise InputError(f"measure {value}", problem)
    if name == "NumRet" and "rel" in parameters:
        name = "NumRelRet"
    if name == "SetF" and "beta" in parameters:
        # As in trec_eval, their beta is not squared.
        name, parameters["beta"] = "F", math.sqrt(max(parameters["beta"], 0.0))
    if name == "Accuracy":
        # The text "Accuracy" is another measure, the share of documents that are classified correctly.
        name = "AUC"
    try:
        family = parse_measure(name)
    except InputError:
        raise InputError("measure", f"tieaware does not have the measure {value} of ir_measures") from None
    return family(**parameters)


def _supported(measures: Any, anything: Any) -> list[Any]:
    """Return the measures of ir_measures that tieaware supports; `anything` stands for any value of a parameter."""
    return [
        family(**{
            name: anything(required=name == "max_rel" or (name == "rel" and family.NAME in _WITH_REL))
            for name in family.SUPPORTED_PARAMS
        })
        for family in (
            measures._P, measures._R, measures._AP, measures._RR, measures._nDCG, measures._RBP, measures._ERR,
            measures._Success, measures._Rprec, measures._Bpref, measures._infAP, measures._IPrec, measures._Judged,
            measures._Accuracy, measures._SetP, measures._SetR, measures._SetF, measures._SetAP, measures._NumQ,
            measures._NumRel, measures._NumRet, measures._Compat, measures._SDCG, measures._INSQ,
            measures._INST, measures._BPM, measures._NERR8, measures._NERR9, measures._NERR10, measures._NERR11,
            *(getattr(measures, f"_{name}") for name in _DIVERSE),
        )
    ]  # fmt: skip


class _Computed(NamedTuple):
    """A measure of ir_measures, and the measure of tieaware that computes it.

    If there is a condition, only queries for which this second measure is above 0 have a value of the first one.
    """

    theirs: Any
    ours: Measure
    condition: Measure | None


class _Task(NamedTuple):
    """A group of measures that use the same labels, the judgments with these labels, and the ids of their queries."""

    queries: list[Any]
    qrels: Qrels
    computed: list[_Computed]

    def values(self, run: Run, ties: TieRuleName) -> Iterator[tuple[Any, Any, float]]:
        """Yield query, measure and value, for each measure and each query that the run answers."""
        answered = match(self.qrels, run).rows.tolist()
        needed = [measure for each in self.computed for measure in (each.ours, each.condition) if measure is not None]
        columns = measured(self.qrels, run, list(dict.fromkeys(needed)), ties, recalls_up=True)
        for theirs, ours, condition in self.computed:
            values = columns[ours].tolist()
            for row in answered:
                if condition is None or columns[condition][row] > 0:
                    yield self.queries[row], theirs, values[row]


def _tasks(measures: Iterable[Any], judged: Mapping[Any, Mapping[Any, int]]) -> list[_Task]:
    """Group measures by their parameters `gains` and `max_rel`, which need judgments with other labels.

    In ir_measures, labels above `max_rel` count as `max_rel`.
    """
    by_labels: dict[Any, list[_Computed]] = defaultdict(list)
    for measure in measures:
        parameters = dict(measure.params)
        gains = parameters.pop("gains", None) or {}
        key = tuple(sorted(gains.items())), parameters.get("max_rel")
        by_labels[key].append(_computed(measure, parse_measure(type(measure)(**parameters))))
    queries = list(judged)
    return [
        _Task(queries, Qrels.from_dict(_relabelled(judged, dict(gains), highest)), each)
        for (gains, highest), each in by_labels.items()
    ]


def _task_of_subtopics(measures: Iterable[Any], rows: Iterable[Any]) -> _Task:
    """Return the task of measures of diversity. The subtopic of a judgment is its iteration, as for pyndeval."""
    judged: dict[Any, dict[Any, dict[Any, int]]] = {}
    for row in rows:
        of_query = judged.setdefault(row.query_id, {})
        of_query.setdefault(getattr(row, "iteration", "0"), {})[row.doc_id] = row.relevance
    computed = [_computed(measure, parse_measure(measure)) for measure in measures]
    return _Task(list(judged), Qrels.from_dict(judged), computed)


def _computed(theirs: Any, ours: Measure) -> _Computed:
    """Return how to compute a measure of ir_measures, which may differ from tieaware's measure of the same name."""
    if theirs.NAME == "Judged":
        # In ir_measures, documents with a negative label count as judged.
        return _Computed(theirs, ours(pool=True), None)
    if theirs.NAME == "Accuracy":
        # In ir_measures, Accuracy has no value if there is no relevant document within the cut-off.
        return _Computed(theirs, ours, Success(rel=int(ours["rel"]), cutoff=ours.cutoff))
    if theirs.NAME in _SCALED:
        return _Computed(theirs, ours(cutoff=min(ours.cutoff or _RANKS_OF_CWL_EVAL, _RANKS_OF_CWL_EVAL)), None)
    return _Computed(theirs, ours, None)


def _relabelled(
    judged: Mapping[Any, Mapping[Any, int]], gains: Mapping[int, int], highest: int | None
) -> Mapping[Any, Mapping[Any, int]]:
    """Return judgments in which each label is replaced by its gain, if `gains` has one, and is at most `highest`."""
    if highest is not None:
        gains = {label: highest for labels in judged.values() for label in labels.values() if label > highest}
    if not gains:
        return judged
    return {
        query: {document: gains.get(label, label) for document, label in labels.items()}
        for query, labels in judged.items()
    }


def _as_dicts(given: Any, value: str, converter: Any) -> Any:
    """Return judgments or a run as dicts, from any form that ir_measures takes.

    A data frame is read here, column by column, because the converter of ir_measures reads it row by row, which takes
    longer.
    """
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
